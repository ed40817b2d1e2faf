//! A session that is opened behind its screen: what is sent meanwhile, and what is said when it fails.

use windlass::api::access::Mode;
use windlass::base::SessionId;
use windlass::engine::Which;

use crate::session::{Place, Running, transcript};

#[test]
fn a_session_opened_behind_its_screen_takes_what_was_sent_meanwhile() {
    let place = Place::new();
    let mut session = place.open(r#"{"turns": [{"say": "one"}]}"#, Mode::Ask, Which::New);
    let id = session.id();
    session.send("first");
    session.turn_end(1);
    session.close();
    let options = place.options(r#"{"turns": [{"say": "two"}]}"#, Mode::Ask, Which::Newest);
    let mut session = Running::open_behind(options);
    session.send("second");
    session.turn_end(2);
    assert_eq!(session.id(), id);
    let told = transcript(&session.path());
    assert!(told.contains("first") && told.contains("two"), "{told}");
}

#[test]
fn a_session_that_cannot_be_opened_behind_its_screen_says_why() {
    let place = Place::new();
    let options = place.options(r#"{"turns": []}"#, Mode::Ask, Which::Id(SessionId::new("none")));
    let why = Running::open_behind(options).failed();
    assert!(why.to_string().contains("none"), "{why}");
}
