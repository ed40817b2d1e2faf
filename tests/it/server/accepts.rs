//! What strict servers demand of a request, for each wire: alternation, a result for each call, no blank
//! text, arguments that are JSON. Shared with the unit tests of the wires.

use serde_json::Value;

/// What a strict server demands of a request. Says what is wrong.
pub fn accepts(wire: &str, body: &str) -> Result<(), String> {
    let value: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    match wire {
        "anthropic" => accepts_anthropic(&value),
        "openai-responses" => accepts_responses(&value),
        "openai-chat" => accepts_chat(&value),
        "gemini" => accepts_gemini(&value),
        other => Err(format!("no wire {other}")),
    }
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, String> {
    value[key].as_array().filter(|all| !all.is_empty()).ok_or(format!("{key} is empty in {value}"))
}

fn accepts_anthropic(value: &Value) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut marks = value.to_string().matches("cache_control").count();
    for (at, message) in list(value, "messages")?.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != role {
            return Err(format!("message {at} is not of the {role}"));
        }
        let content = list(message, "content")?;
        for block in content {
            match block["type"].as_str().unwrap_or("") {
                "text" if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {
                    return Err(format!("blank text in message {at}"));
                }
                "tool_result" => {
                    let id = block["tool_use_id"].as_str().unwrap_or("");
                    let place =
                        open.iter().position(|o| *o == id).ok_or(format!("result {id} without a call"))?;
                    open.remove(place);
                }
                "tool_use" => {
                    if !block["input"].is_object() {
                        return Err(format!("input is no object: {block}"));
                    }
                    open.push(block["id"].as_str().ok_or("no id")?);
                }
                "thinking" if block["signature"].as_str().is_none() => return Err("unsigned thinking".into()),
                "" => return Err("block without type".into()),
                _ => {}
            }
        }
        if role == "user" && !open.is_empty() {
            return Err(format!("calls without results: {open:?}"));
        }
    }
    marks = marks.saturating_sub(4);
    if marks == 0 { Ok(()) } else { Err("more than 4 cache marks".into()) }
}

fn accepts_responses(value: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let items = list(value, "input")?;
    for (at, item) in items.iter().enumerate() {
        match item["type"].as_str().unwrap_or("") {
            "message" => {
                list(item, "content")?;
                if item["role"] == "user" && !open.is_empty() {
                    return Err(format!("calls without results: {open:?}"));
                }
            }
            "function_call" => {
                let text = item["arguments"].as_str().ok_or("arguments is no string")?;
                serde_json::from_str::<Value>(text).map_err(|error| error.to_string())?;
                open.push(item["call_id"].to_string());
            }
            "function_call_output" => {
                let id = item["call_id"].to_string();
                let place =
                    open.iter().position(|o| *o == id).ok_or(format!("result {id} without a call"))?;
                open.remove(place);
            }
            "reasoning" => {
                let next = items.get(at + 1).ok_or("reasoning is last")?;
                if next["id"].is_null() {
                    return Err(format!("reasoning without its item, before {next}"));
                }
            }
            "" => return Err("item without type".into()),
            _ => {}
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls without results: {open:?}")) }
}

fn accepts_chat(value: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut before = "";
    for message in list(value, "messages")? {
        let role = message["role"].as_str().ok_or("no role")?;
        if role != "tool" && !open.is_empty() {
            return Err(format!("calls without results: {open:?}"));
        }
        if role == before && role != "tool" {
            return Err(format!("two messages of the {role} in a row"));
        }
        match role {
            "assistant" => {
                for call in message["tool_calls"].as_array().unwrap_or(&Vec::new()) {
                    let text = call["function"]["arguments"].as_str().ok_or("arguments is no string")?;
                    serde_json::from_str::<Value>(text).map_err(|error| error.to_string())?;
                    open.push(call["id"].to_string());
                }
                if message["content"].is_null() && open.is_empty() {
                    return Err("an empty answer".into());
                }
            }
            "tool" => {
                let id = message["tool_call_id"].to_string();
                let place =
                    open.iter().position(|o| *o == id).ok_or(format!("result {id} without a call"))?;
                open.remove(place);
            }
            _ => {}
        }
        before = role;
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls without results: {open:?}")) }
}

fn accepts_gemini(value: &Value) -> Result<(), String> {
    let mut open = 0;
    for (at, content) in list(value, "contents")?.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "model" };
        if content["role"] != role {
            return Err(format!("content {at} is not of the {role}"));
        }
        let parts = list(content, "parts")?;
        let count = |key: &str| parts.iter().filter(|part| part[key].is_object()).count();
        if role == "model" {
            open = count("functionCall");
        } else if count("functionResponse") != open {
            return Err(format!("{open} calls, {} results", count("functionResponse")));
        }
        for part in parts {
            let keys = part.as_object().map_or(0, |object| object.len());
            if keys == 0 {
                return Err("an empty part".into());
            }
        }
    }
    Ok(())
}
