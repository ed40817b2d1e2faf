//! Answers from the network: events and decoding, as fast as they come.

use divan::Bencher;
use divan::counter::ItemsCount;
use windlass::api::provider::Wire;
use windlass::provider::Live;
use windlass::provider::sse::Sse;
use windlass::provider::wire::{Step, decoder};

const TOKENS: usize = 100_000;

/// An answer of 100 000 tokens in the form of a chat completion.
fn chat() -> Vec<u8> {
    let mut out = String::new();
    for n in 0..TOKENS {
        let word = if n % 12 == 11 { "word.\\n" } else { " word" };
        out.push_str(&format!(
            "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}},\"finish_reason\":null}}]}}\n\n"
        ));
    }
    out.push_str(
        "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    );
    out.push_str("data: [DONE]\n\n");
    out.into_bytes()
}

/// The same in the form of Messages.
fn messages() -> Vec<u8> {
    let mut out = String::from(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\
         \"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n\
         event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
         \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    );
    for _ in 0..TOKENS {
        out.push_str(
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
             \"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n",
        );
    }
    out.push_str(
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
         event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\
         \"usage\":{\"output_tokens\":100000}}\n\n\
         event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    out.into_bytes()
}

fn decode(wire: Wire, bytes: &[u8], piece: usize) -> usize {
    let (mut sse, mut live, mut decoder, mut told) = (Sse::default(), Live::default(), decoder(wire, 1), 0);
    let mut step = Step::More;
    for piece in bytes.chunks(piece) {
        sse.push(piece, |event| {
            if step == Step::More {
                step = decoder.event(event.name, event.data, &mut live);
            }
        })
        .unwrap();
        told += live.drain().count();
    }
    assert!(decoder.complete() || step == Step::Finished);
    told + decoder.take().blocks.len()
}

#[divan::bench(sample_count = 5, args = [200, 16_384])]
fn decode_100000_tokens_of_chat(bencher: Bencher<'_, '_>, piece: usize) {
    let bytes = chat();
    bencher.counter(ItemsCount::new(TOKENS)).bench(|| decode(Wire::OpenaiChat, &bytes, piece));
}

#[divan::bench(sample_count = 5, args = [200, 16_384])]
fn decode_100000_tokens_of_messages(bencher: Bencher<'_, '_>, piece: usize) {
    let bytes = messages();
    bencher.counter(ItemsCount::new(TOKENS)).bench(|| decode(Wire::Anthropic, &bytes, piece));
}
