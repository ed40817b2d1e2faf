//! What `exec` tells of an agent's end. Real runs of it: `tests/it/agents_crash.rs`, `tests/it/agent_turns.rs`.
#![allow(clippy::unwrap_used)]

use super::{AgentEnd, AgentNode, agent_ended, line};
use crate::api::agent::Workspace;
use crate::api::message::Usage;
use crate::base::{Millis, SessionId};
use crate::law::children::End;

#[test]
fn what_was_not_handed_back_is_said_with_its_reason() {
    let node = AgentNode {
        name: "lexer".into(),
        session: SessionId::new("s"),
        workspace: Workspace::Isolated,
        room: Some("/srv/room".into()),
        model: None,
        tools: None,
        budget: None,
        run: 1,
        after: None,
        asked: Millis(0),
        told: Millis(0),
    };
    let end = AgentEnd {
        node,
        end: End::Answered,
        answer: String::new(),
        calls: 1,
        usage: Usage::default(),
        cost: None,
        hand_back: None,
        trouble: Some("what it changed was not handed back: the disk is full".into()),
        again: false,
        ended: Millis(2),
        duration: Millis(1),
    };
    let mut events = Vec::new();
    agent_ended(&end, &mut events);
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!((&events[0]["type"], &events[0]["level"]), (&"notice".into(), &"error".into()));
    let told = line(&events[0]).unwrap();
    assert_eq!(told, "error: agent lexer: what it changed was not handed back: the disk is full");
    assert_eq!(events[1]["type"], "child.ended");
}
