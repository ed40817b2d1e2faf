//! One answer, told over each of the four wires as its provider tells it.

use serde_json::{Value, json};

/// What a model answers.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Pieces of thinking.
    pub think: Vec<String>,
    /// Pieces of text.
    pub say: Vec<String>,
    /// Calls: tool and arguments.
    pub calls: Vec<(String, Value)>,
}

impl Scene {
    /// Thinks a little, says a little, calls two tools.
    pub fn full() -> Self {
        Scene {
            think: vec!["h".into(), "m\n".into()],
            say: vec!["Gr\u{fc}".into(), "\u{df}e \"\u{1f600}\"".into()],
            calls: vec![
                ("bash".into(), json!({"command": "ls -l"})),
                ("read".into(), json!({"path": "a\nb"})),
            ],
        }
    }
    /// Says only this.
    pub fn say(text: &str) -> Self {
        Scene { say: vec![text.into()], ..Scene::default() }
    }
    /// The text that it says.
    pub fn text(&self) -> String {
        self.say.concat()
    }
    /// The bytes of its stream on a wire.
    pub fn stream(&self, wire: &str) -> String {
        match wire {
            "anthropic" => self.anthropic(),
            "openai-responses" => self.responses(),
            "openai-chat" => self.chat(),
            "gemini" => self.gemini(),
            other => panic!("no wire {other}"),
        }
    }

    fn anthropic(&self) -> String {
        let mut out = String::new();
        let mut put = |value: Value| {
            out.push_str(&format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()));
        };
        put(
            json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 1}}}),
        );
        let mut index = 0;
        let mut block = |put: &mut dyn FnMut(Value), start: Value, deltas: Vec<Value>| {
            put(json!({"type": "content_block_start", "index": index, "content_block": start}));
            for delta in deltas {
                put(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            put(json!({"type": "content_block_stop", "index": index}));
            index += 1;
        };
        if !self.think.is_empty() {
            let mut deltas: Vec<Value> =
                self.think.iter().map(|t| json!({"type": "thinking_delta", "thinking": t})).collect();
            deltas.push(json!({"type": "signature_delta", "signature": "c2ln"}));
            block(&mut put, json!({"type": "thinking", "thinking": "", "signature": ""}), deltas);
        }
        if !self.say.is_empty() {
            let deltas = self.say.iter().map(|t| json!({"type": "text_delta", "text": t})).collect();
            block(&mut put, json!({"type": "text", "text": ""}), deltas);
        }
        for (n, (name, input)) in self.calls.iter().enumerate() {
            let (a, b) = halves(input);
            let delta = |part: &str| json!({"type": "input_json_delta", "partial_json": part});
            let start = json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": name, "input": {}});
            block(&mut put, start, vec![delta(&a), delta(&b)]);
        }
        put(json!({"type": "ping"}));
        let reason = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
        put(
            json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}}),
        );
        put(json!({"type": "message_stop"}));
        out
    }

    fn responses(&self) -> String {
        let mut out = String::new();
        let mut put = |value: Value| {
            out.push_str(&format!("event: {}\r\ndata: {value}\r\n\r\n", value["type"].as_str().unwrap()));
        };
        put(json!({"type": "response.created", "response": {"id": "r"}}));
        let mut index = 0;
        let mut item =
            |put: &mut dyn FnMut(Value), start: Value, kind: &str, deltas: &[String], done: Value| {
                put(json!({"type": "response.output_item.added", "output_index": index, "item": start}));
                for delta in deltas {
                    put(json!({"type": kind, "output_index": index, "summary_index": 0, "delta": delta}));
                }
                put(json!({"type": "response.output_item.done", "output_index": index, "item": done}));
                index += 1;
            };
        if !self.think.is_empty() {
            let done = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA", "summary": [{"type": "summary_text", "text": self.think.concat()}]});
            let start = json!({"id": "rs_1", "type": "reasoning", "summary": []});
            item(&mut put, start, "response.reasoning_summary_text.delta", &self.think, done);
        }
        if !self.say.is_empty() {
            let done = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": self.text(), "annotations": []}]});
            let start = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
            item(&mut put, start, "response.output_text.delta", &self.say, done);
        }
        for (n, (name, input)) in self.calls.iter().enumerate() {
            let (a, b) = halves(input);
            let of = |arguments: String| json!({"id": format!("fc_{n}"), "type": "function_call", "call_id": format!("call_{n}"), "name": name, "arguments": arguments});
            item(
                &mut put,
                of(String::new()),
                "response.function_call_arguments.delta",
                &[a, b],
                of(input.to_string()),
            );
        }
        put(
            json!({"type": "response.completed", "response": {"usage": {"input_tokens": 13, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 7}}}),
        );
        out
    }

    fn chat(&self) -> String {
        let mut out = String::from(": hello\n\n");
        let mut put = |delta: Value, reason: Value| {
            let value = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
            out.push_str(&format!("data: {value}\n\n"));
        };
        put(json!({"role": "assistant"}), Value::Null);
        for think in &self.think {
            put(json!({"reasoning_content": think}), Value::Null);
        }
        for say in &self.say {
            put(json!({"content": say}), Value::Null);
        }
        for (n, (name, input)) in self.calls.iter().enumerate() {
            let (a, b) = halves(input);
            put(
                json!({"tool_calls": [{"index": n, "id": format!("call_{n}"), "type": "function", "function": {"name": name, "arguments": a}}]}),
                Value::Null,
            );
            put(json!({"tool_calls": [{"index": n, "function": {"arguments": b}}]}), Value::Null);
        }
        put(json!({}), json!(if self.calls.is_empty() { "stop" } else { "tool_calls" }));
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 13, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}}});
        out.push_str(&format!("data: {usage}\n\ndata: [DONE]\n\n"));
        out
    }

    fn gemini(&self) -> String {
        let mut out = String::new();
        let mut put = |parts: Value, more: Value| {
            let mut value =
                json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}]});
            if let Value::Object(more) = more {
                value["candidates"][0]["finishReason"] = json!("STOP");
                value.as_object_mut().unwrap().extend(more);
            }
            out.push_str(&format!("data: {value}\r\n\r\n"));
        };
        for think in &self.think {
            put(json!([{"text": think, "thought": true}]), Value::Null);
        }
        for say in &self.say {
            put(json!([{"text": say}]), Value::Null);
        }
        let calls: Vec<Value> =
            self.calls.iter().map(|(name, input)| json!({"functionCall": {"name": name, "args": input}, "thoughtSignature": "c2ln"})).collect();
        if !calls.is_empty() {
            put(Value::Array(calls), Value::Null);
        }
        put(
            json!([{"text": ""}]),
            json!({"usageMetadata": {"promptTokenCount": 13, "cachedContentTokenCount": 4, "candidatesTokenCount": 7}}),
        );
        out
    }
}

/// Arguments in two pieces, cut on a character.
fn halves(input: &Value) -> (String, String) {
    let text = input.to_string();
    let at = text.floor_char_boundary(text.len() / 2);
    (text[..at].to_string(), text[at..].to_string())
}
