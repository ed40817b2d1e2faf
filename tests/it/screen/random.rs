//! Whatever happens in whatever order: the interpreted screen equals a clean redraw.

use super::{Screen, record};
use proptest::prelude::*;
use windlass::ui::Msg;
use windlass::ui::input::Input;

#[derive(Clone, Debug)]
enum Step {
    Resize(u16, u16),
    Keys(&'static str),
    Type(String),
    Paste(String),
    Stream(String),
    Answer,
    Run,
    Job,
    JobEnd(u32),
    Ask,
    Later(u64),
    Draw,
}

fn step() -> impl Strategy<Value = Step> {
    let keys = vec![
        "pageup",
        "pagedown",
        "ctrl-home",
        "ctrl-end",
        "ctrl-up",
        "ctrl-down",
        "up",
        "down",
        "tab",
        "enter",
        "esc",
        "ctrl-p",
        "?",
        "ctrl-x c",
        "ctrl-u",
        "alt-enter",
        "ctrl-o",
        "a",
        "y",
        "n",
        "backspace",
        "ctrl-x l",
        "alt-a",
        "ctrl-x j",
        "j",
        "G",
        "x",
        "s",
        "/",
        "ctrl-d",
        "q",
        "g",
        "ctrl-]",
        "n",
    ];
    prop_oneof![
        1 => (1..130u16, 1..42u16).prop_map(|(c, r)| Step::Resize(c, r)),
        4 => proptest::sample::select(keys).prop_map(Step::Keys),
        2 => "[a-z 日é/@]{1,10}".prop_map(Step::Type),
        1 => "[a-z\n]{1,40}".prop_map(Step::Paste),
        4 => "[a-z `*|#\n文-]{1,40}".prop_map(Step::Stream),
        1 => Just(Step::Answer),
        1 => Just(Step::Run),
        1 => Just(Step::Job),
        1 => (0..40u32).prop_map(Step::JobEnd),
        1 => Just(Step::Ask),
        1 => (1..3000u64).prop_map(Step::Later),
        3 => Just(Step::Draw),
    ]
}

fn apply(screen: &mut Screen, step: Step, number: usize) {
    match step {
        Step::Resize(columns, rows) => screen.resize(columns, rows),
        Step::Keys(names) => drop(screen.keys(names)),
        Step::Type(text) => drop(screen.write(&text)),
        Step::Paste(text) => drop(screen.tell(Msg::Input(Input::Paste(text)))),
        Step::Stream(text) => screen.change(|r| record::stream(r, &text)),
        Step::Answer => screen.change(|r| {
            let text = r.live.parts.first().map(|p| p.text.clone()).unwrap_or_default();
            r.live.parts.clear();
            record::answer(r, &text);
        }),
        Step::Run => screen.change(|r| record::running(r, &format!("r{number}"), "make", "a\nb\n")),
        Step::Job => screen.change(|r| {
            super::jobs::job(r, number as u32, "npm run dev");
            r.jobs.report(&windlass::base::JobId(number as u32), |row| {
                row.node.terminal = number.is_multiple_of(2);
                row.screen = row.node.terminal.then(|| std::sync::Arc::new(super::job_view::picture(40, 10)));
            });
        }),
        Step::JobEnd(id) => {
            screen.change(|r| super::jobs::end(r, id, windlass::law::job::End::Exited { code: 0 }));
        }
        Step::Ask => screen.change(|r| record::ask(r, &format!("q{number}"), "rm x")),
        Step::Later(ms) => screen.now += ms,
        Step::Draw => {
            screen.draw();
            screen.tell(Msg::Flushed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases(300),
        max_shrink_iters: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_screen_equals_a_clean_redraw(steps in proptest::collection::vec(step(), 1..40)) {
        let mut screen = Screen::new(80, 24, record::full());
        for (number, step) in steps.into_iter().enumerate() {
            apply(&mut screen, step, number);
        }
        let (seen, clean) = screen.clean();
        prop_assert_eq!(seen, clean);
        prop_assert_eq!(screen.draw(), 0, "nothing changed, and bytes came");
    }
}
