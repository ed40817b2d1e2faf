//! Verdicts and rules, with many ways to smuggle a command past them.

use proptest::prelude::*;

use super::*;

fn rules(allow: &[&str], ask: &[&str], deny: &[&str]) -> Rules {
    let read = |texts: &[&str]| -> Vec<Rule> {
        texts.iter().map(|text| Rule::parse(text, Scope::User).unwrap_or_else(|e| panic!("{e}"))).collect()
    };
    Rules { allow: read(allow), ask: read(ask), deny: read(deny) }
}

fn place() -> Place<'static> {
    Place {
        cwd: Path::new("/home/u/proj"),
        scratch: &[],
        guarded: &[],
        closed: &[],
        home: Some(Path::new("/home/u")),
    }
}

fn run(mode: Mode, command: &str, rules: &Rules) -> Verdict {
    let want = Want { tool: "bash", class: Class::Execute, paths: &[], command: Some(command) };
    decide(mode, &want, &place(), rules)
}

fn file(mode: Mode, tool: &str, path: &str, rules: &Rules) -> Verdict {
    let class = if tool == "read" || tool == "grep" { Class::Read } else { Class::Write };
    let paths = [PathBuf::from(path)];
    decide(mode, &Want { tool, class, paths: &paths, command: None }, &place(), rules)
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Refuse(_) => "refuse",
    }
}

#[test]
fn every_mode_has_a_verdict_for_every_kind_of_thing() {
    let none = Rules::default();
    let inside = [PathBuf::from("/home/u/proj/src/a.rs")];
    let outside = [PathBuf::from("/etc/passwd")];
    let guarded = [PathBuf::from("/home/u/proj/.git/hooks/post-commit")];
    let mut table = String::new();
    for mode in [Mode::Ask, Mode::Edits, Mode::Auto, Mode::Plan] {
        for class in [Class::Read, Class::Write, Class::Execute, Class::Network] {
            let verdict = |paths: &[PathBuf]| {
                let command = (class == Class::Execute).then_some("make");
                word(&decide(mode, &Want { tool: "t", class, paths, command }, &place(), &none))
            };
            table.push_str(&format!(
                "{} {class:?}: none {} · inside {} · guarded {} · outside {}\n",
                mode.word(),
                verdict(&[]),
                verdict(&inside),
                verdict(&guarded),
                verdict(&outside)
            ));
        }
    }
    insta::assert_snapshot!(table, @r"
        ask Read: none allow · inside allow · guarded allow · outside ask
        ask Write: none ask · inside ask · guarded ask · outside ask
        ask Execute: none ask · inside ask · guarded ask · outside ask
        ask Network: none ask · inside ask · guarded ask · outside ask
        edits Read: none allow · inside allow · guarded allow · outside ask
        edits Write: none ask · inside allow · guarded ask · outside ask
        edits Execute: none ask · inside ask · guarded ask · outside ask
        edits Network: none ask · inside ask · guarded ask · outside ask
        auto Read: none allow · inside allow · guarded allow · outside allow
        auto Write: none allow · inside allow · guarded allow · outside ask
        auto Execute: none allow · inside allow · guarded allow · outside ask
        auto Network: none allow · inside allow · guarded allow · outside ask
        plan Read: none allow · inside allow · guarded allow · outside ask
        plan Write: none refuse · inside refuse · guarded refuse · outside refuse
        plan Execute: none refuse · inside refuse · guarded refuse · outside refuse
        plan Network: none refuse · inside refuse · guarded refuse · outside refuse
    ");
}

#[test]
fn a_rule_allows_exactly_its_command() {
    let rules = rules(&["bash(cargo test:*)", "bash(make check)"], &[], &[]);
    for command in [
        "cargo test",
        "cargo test --lib -- x",
        " cargo  test 'a b'",
        "cargo t\"es\"t",
        "make check",
        "cargo test 2>&1",
        "cargo test >/dev/null 2>&1",
        "cargo test &> /dev/null",
        "cargo test $FLAGS",
        "cargo test | make check && cargo test; make check &",
        "cargo test || make check",
        "cargo test *.rs",
    ] {
        assert_eq!(run(Mode::Ask, command, &rules), Verdict::Allow, "{command}");
    }
    for command in [
        "cargo",
        "cargo tests",
        "cargotest",
        "cargo build",
        "make",
        "make check all",
        "xcargo test",
        "./cargo test",
        "/tmp/cargo test",
        "Cargo test",
        "cargo\\ test",
        "'cargo test'",
        "cargo 'test --lib'",
        "",
    ] {
        assert_eq!(word(&run(Mode::Ask, command, &rules)), "ask", "{command}");
    }
}

/// Each does more than `cargo test`, or might.
const SMUGGLED: [&str; 62] = [
    "cargo test; rm -rf /",
    "cargo test;rm x",
    "cargo test && rm x",
    "cargo test || rm x",
    "cargo test | sh",
    "cargo test |& sh",
    "cargo test & rm x",
    "cargo test &rm x",
    "cargo test\nrm x",
    "cargo test\rrm x",
    "cargo test \\\nrm",
    "cargo test $(rm x)",
    "cargo test `rm x`",
    "cargo test \"$(rm x)\"",
    "cargo test \"`rm x`\"",
    "cargo test <(rm x)",
    "cargo test >(rm x)",
    "cargo test > file",
    "cargo test >file",
    "cargo test >>file",
    "cargo test 2>file",
    "cargo test &>file",
    "cargo test >|file",
    "cargo test >&file",
    "cargo test <file",
    "cargo test <>file",
    "cargo test << EOF",
    "cargo test <<< x",
    "cargo test > /dev/null/../../x",
    "cargo test > /dev/nullx",
    "cargo test >/dev/null'x'",
    "cargo test >$OUT",
    "cargo test >&1x",
    "(cargo test)",
    "cargo test (x)",
    "{ cargo test; }",
    "PATH=. cargo test",
    "A+=1 cargo test",
    "A[0]=1 cargo test",
    "env cargo test",
    "sudo cargo test",
    "xargs cargo test",
    "eval cargo test",
    "time cargo test",
    "! cargo test",
    "if cargo test; then rm x; fi",
    "while cargo test; do rm x; done",
    "cargo test 'x",
    "cargo test \"x",
    "cargo test \\",
    "cargo test # x",
    "cargo test $'\\n'rm",
    "cargo test ${x@P}",
    "cargo test ${x:=rm}",
    "cargo test $((a[$(rm)]))",
    "cargo test $[1]",
    "cargo\u{a0}test",
    "cargo test\u{2028}rm x",
    "cargo test \u{202e}x",
    "cargo test;;",
    "&& cargo test",
    "cargo test &&",
];

#[test]
fn nothing_is_smuggled_past_a_rule() {
    let rules = rules(&["bash(cargo test:*)"], &[], &[]);
    for command in SMUGGLED {
        assert_eq!(word(&run(Mode::Ask, command, &rules)), "ask", "{command:?}");
    }
    assert_eq!(run(Mode::Ask, "cargo test", &rules), Verdict::Allow);
}

#[test]
fn what_is_not_understood_is_covered_by_no_rule_at_all() {
    let all = rules(&["bash", "bash(*)"], &[], &[]);
    for command in ["a $(b)", "a > f", "a\nb", "eval a", "(a)", "X=1 a", "a `b`", "a <<E"] {
        assert_eq!(word(&run(Mode::Edits, command, &all)), "ask", "{command:?}");
        assert_eq!(run(Mode::Auto, command, &Rules::default()), Verdict::Allow, "{command:?}");
    }
    assert_eq!(run(Mode::Ask, "anything && more", &all), Verdict::Allow);
}

#[test]
fn what_is_denied_is_found_wherever_it_hides() {
    let rules = rules(&["bash"], &[], &["bash(rm:*)", "bash(git push)"]);
    for command in [
        "rm",
        "rm -rf x",
        "a; rm x",
        "a && rm x",
        "a | rm",
        "a & rm",
        "/bin/rm x",
        "\\rm x",
        "'rm' x",
        "r\"m\" x",
        "X=1 rm x",
        "sudo rm x",
        "sudo -u root rm x",
        "env A=1 rm x",
        "xargs -0 rm",
        "find . -exec rm {} +",
        "nohup nice rm x",
        "a $(rm x)",
        "a `rm x`",
        "a \"$(rm x)\"",
        "a <(rm x)",
        "(rm x)",
        "{ rm x; }",
        "a\nrm x",
        "bash -c 'rm x'",
        "sh -c \"a; rm x\"",
        "bash -c 'bash -c \"rm x\"'",
        "eval 'rm x'",
        "if a; then rm x; fi",
        "! rm x",
        "a > f; rm x",
        "git push",
        "sudo git push",
        "timeout 5 git push",
    ] {
        assert_eq!(word(&run(Mode::Auto, command, &rules)), "refuse", "{command:?}");
    }
    for command in ["rmdir x", "git push origin", "echo rm", "ls 'rm x'", "grep rm x"] {
        assert_eq!(word(&run(Mode::Auto, command, &rules)), "allow", "{command:?}");
    }
}

#[test]
fn denying_wins_over_asking_over_allowing_over_the_mode() {
    let all = rules(&["bash(a:*)"], &["bash(a b:*)"], &["bash(a b c:*)"]);
    assert_eq!(run(Mode::Ask, "a", &all), Verdict::Allow);
    assert_eq!(word(&run(Mode::Auto, "a b", &all)), "ask");
    assert_eq!(
        run(Mode::Auto, "a b c", &all),
        Verdict::Refuse("the rule `bash(a b c:*)` of your settings denies it".into())
    );
    assert_eq!(word(&run(Mode::Plan, "a", &all)), "refuse");
    assert_eq!(word(&run(Mode::Auto, "z; a b", &all)), "ask", "a part that is asked for");
}

#[test]
fn files_are_allowed_by_pattern_and_what_is_outside_or_guarded_must_be_named() {
    let r = rules(
        &["edit(src/**)", "write", "edit(/data/*.txt)", "read(~/notes/**)", "edit(.git/config)"],
        &[],
        &[],
    );
    let verdict = |tool: &str, path: &str| word(&file(Mode::Ask, tool, path, &r));
    assert_eq!(verdict("edit", "/home/u/proj/src/a/b.rs"), "allow");
    assert_eq!(verdict("edit", "/home/u/proj/srcs/b.rs"), "ask");
    assert_eq!(verdict("edit", "/home/u/proj/src/../x"), "ask");
    assert_eq!(verdict("apply_patch", "/home/u/proj/src/b.rs"), "ask", "another tool");
    assert_eq!(verdict("write", "/home/u/proj/any/thing"), "allow");
    assert_eq!(verdict("write", "/home/u/other"), "ask");
    assert_eq!(verdict("write", "/home/u/proj/.git/hooks/x"), "ask");
    assert_eq!(verdict("write", "/home/u/proj/.WINDLASS/settings.json"), "ask");
    assert_eq!(verdict("edit", "/home/u/proj/.git/config"), "allow");
    assert_eq!(verdict("edit", "/data/a.txt"), "allow");
    assert_eq!(verdict("edit", "/data/sub/a.txt"), "ask");
    assert_eq!(verdict("read", "/home/u/notes/x/y"), "allow");
    assert_eq!(verdict("read", "/home/u/.ssh/id"), "ask");
    assert_eq!(word(&file(Mode::Edits, "edit", "/home/u/proj/.git/hooks/x", &Rules::default())), "ask");
    assert_eq!(word(&file(Mode::Auto, "read", "/etc/passwd", &Rules::default())), "allow");
    assert_eq!(word(&file(Mode::Auto, "edit", "/etc/passwd", &Rules::default())), "ask");
}

#[test]
fn a_file_denied_to_one_tool_is_denied_to_all_of_its_kind() {
    let r = rules(&["write", "edit"], &[], &["edit(**/.env)", "read(/etc/**)"]);
    for tool in ["edit", "write", "apply_patch"] {
        assert_eq!(word(&file(Mode::Auto, tool, "/home/u/proj/a/.env", &r)), "refuse", "{tool}");
        assert_eq!(word(&file(Mode::Auto, tool, "/home/u/proj/.env", &r)), "refuse", "{tool}");
    }
    assert_eq!(word(&file(Mode::Auto, "grep", "/etc/ssl/x", &r)), "refuse");
    assert_eq!(word(&file(Mode::Ask, "read", "/home/u/proj/a/.env", &r)), "allow");
}

#[test]
fn the_files_of_the_session_count_as_inside() {
    let scratch = [PathBuf::from("/state/windlass/sessions/x")];
    let place = Place { scratch: &scratch, ..place() };
    let paths = [PathBuf::from("/state/windlass/sessions/x/artifact")];
    let want = Want { tool: "read", class: Class::Read, paths: &paths, command: None };
    assert_eq!(decide(Mode::Ask, &want, &place, &Rules::default()), Verdict::Allow);
    assert_eq!(word(&file(Mode::Ask, "read", "/tmp/x", &Rules::default())), "ask");
}

#[test]
fn the_programs_own_files_are_written_only_when_asked_in_every_mode() {
    let own = [PathBuf::from("/state/windlass/sessions/x"), PathBuf::from("/home/u/proj/.config/windlass")];
    let place = Place { scratch: &own, guarded: &own, ..place() };
    let tool = |class: Class| if class == Class::Read { "read" } else { "write" };
    for path in ["/state/windlass/sessions/x/journal.jsonl", "/home/u/proj/.config/windlass/settings.json"] {
        for mode in [Mode::Ask, Mode::Edits, Mode::Auto] {
            let verdict = |class: Class, rules: &Rules| {
                let paths = [PathBuf::from("/home/u/proj/.git/x"), PathBuf::from(path)];
                word(&decide(
                    mode,
                    &Want { tool: tool(class), class, paths: &paths, command: None },
                    &place,
                    rules,
                ))
            };
            assert_eq!(verdict(Class::Read, &Rules::default()), "allow");
            assert_eq!(verdict(Class::Write, &Rules::default()), "ask");
            assert_eq!(verdict(Class::Write, &rules(&["write", "write(**)"], &[], &[])), "ask");
        }
    }
}

#[test]
fn what_always_would_write_is_proposed_only_where_a_rule_can_say_it() {
    let bash = |command: &str| {
        let want = Want { tool: "bash", class: Class::Execute, paths: &[], command: Some(command) };
        propose_rule(&want, &place())
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(bash("cargo test --lib"), some("bash(cargo test:*)"));
    assert_eq!(bash("npm run dev -- --port 1"), some("bash(npm run dev:*)"));
    assert_eq!(bash("yarn run node -e x"), some("bash(yarn run node -e x)"));
    assert_eq!(bash("git status -s"), some("bash(git status:*)"));
    assert_eq!(bash("git -c x=y status"), some("bash(git -c x=y status)"));
    assert_eq!(bash("ls -la src"), some("bash(ls:*)"));
    assert_eq!(bash("python3 x.py"), some("bash(python3 x.py)"));
    assert_eq!(bash("rm -rf target"), some("bash(rm -rf target)"));
    assert_eq!(bash("cargo test 2>&1"), some("bash(cargo test:*)"));
    assert_eq!(bash("cargo test && cargo run"), None);
    for command in SMUGGLED {
        if let Some(rule) = bash(command) {
            let rules = rules(&[&rule], &[], &[]);
            assert_eq!(run(Mode::Ask, command, &rules), Verdict::Allow, "{command:?}: {rule}");
            assert!(!rule.starts_with("bash(cargo test"), "{command:?}: {rule}");
        }
    }
    let path = |tool: &str, path: &str| {
        let paths = [PathBuf::from(path)];
        propose_rule(&Want { tool, class: Class::Write, paths: &paths, command: None }, &place())
    };
    assert_eq!(path("edit", "/home/u/proj/src/a.rs"), some("edit(src/**)"));
    assert_eq!(path("edit", "/home/u/proj/Cargo.toml"), some("edit(Cargo.toml)"));
    assert_eq!(path("write", "/etc/hosts"), some("write(/etc/hosts)"));
    assert_eq!(path("edit", "/home/u/proj/.git/config"), some("edit(.git/config)"));
    assert_eq!(path("edit", "/home/u/proj/a*b/c"), None);
}

#[test]
fn always_for_a_command_that_shows_files_or_takes_options_that_write_holds_for_it_alone() {
    let more = [
        ("cat README.md", "cat /etc/shadow"),
        ("grep -rn x src", "grep -rn x /root"),
        ("head -5 a", "head -5 /etc/shadow"),
        ("tail a", "tail /etc/shadow"),
        ("git log", "git log --output=F"),
        ("git diff", "git diff --output=../F"),
        ("git grep x", "git grep --open-files-in-pager='touch F;true' x"),
        ("git push origin main", "git push --receive-pack=x origin main"),
        ("git log :*", "git log --output=F"),
    ];
    for (seen, wider) in more {
        let want = Want { tool: "bash", class: Class::Execute, paths: &[], command: Some(seen) };
        let Some(rule) = propose_rule(&want, &place()) else { continue };
        let rules = rules(&[&rule], &[], &[]);
        assert_eq!(run(Mode::Ask, seen, &rules), Verdict::Allow, "{rule}");
        assert_eq!(word(&run(Mode::Ask, wider, &rules)), "ask", "{rule} allows {wider}");
    }
}

#[test]
fn what_is_denied_is_found_behind_every_word_of_the_shell() {
    let rules = rules(&[], &[], &["bash(rm:*)"]);
    for command in [
        "if rm v; then :; fi",
        "if ! rm v; then :; fi",
        "if a; then b; elif rm v; then c; fi",
        "while rm v; do :; done",
        "until rm v; do :; done",
        "coproc rm v",
        "coproc X { rm v; }",
        "trap 'rm v' EXIT",
        "r\\\nm v",
        "\"r\\\nm\" v",
        "su -c 'rm v'",
        "script -c 'rm v' /dev/null",
        "flock f rm v",
        "taskset 1 rm v",
        "setpriv --reuid 1 rm v",
        "busybox rm v",
    ] {
        assert_eq!(word(&run(Mode::Auto, command, &rules)), "refuse", "{command:?}");
    }
}

#[test]
fn a_command_whose_name_the_shell_makes_is_asked_for_where_a_rule_denies_one() {
    let denying = rules(&["bash"], &[], &["bash(rm:*)"]);
    for command in [
        "{rm,v}",
        "$X v",
        "\"$X\" v",
        "${X} v",
        "r$'m' v",
        "$(echo rm) v",
        "`echo rm` v",
        "\"`echo rm`\" v",
        "/bin/r? v",
        "r[m] v",
        "$X/y v",
        "sudo -u root $X v",
        "if $X v; then :; fi",
        "timeout 5 $X v",
        "find . -exec $X {} +",
        "a; A=1 $X",
    ] {
        assert_eq!(word(&run(Mode::Auto, command, &denying)), "ask", "{command:?}");
        assert_eq!(word(&run(Mode::Auto, command, &Rules::default())), "allow", "{command:?}");
    }
    for command in [
        "echo $X *.rs {a,b}",
        "A=$X make",
        "[ -f \"$X\" ] && ls",
        "~/bin/tool a",
        "$HOME/bin/tool a",
        "find $X -name '*.rs' -exec grep x {} +",
        "ls | xargs -I{} cp {} y",
        "for f in *.rs; do cat $f; done",
        "if [ -n \"$X\" ]; then ls; fi",
    ] {
        assert_eq!(word(&run(Mode::Auto, command, &denying)), "allow", "{command:?}");
    }
}

#[test]
fn a_file_denied_by_a_link_is_denied_by_its_own_name() {
    let rules = rules(&[], &["read(asked/*.txt)"], &["read(link)", "edit(~/dir/**)"]);
    let place = place();
    let resolve = |path: &Path| {
        let leads = [
            ("/home/u/proj/link", "/data/real"),
            ("/home/u/dir", "/data/dir"),
            ("/home/u/proj/asked", "/data/a"),
        ];
        leads.iter().find(|(from, _)| Path::new(from) == path).map(|(_, to)| PathBuf::from(to))
    };
    let rules = rules.with_links(&place, &resolve);
    assert_eq!(word(&file(Mode::Auto, "read", "/data/real", &rules)), "refuse");
    assert_eq!(word(&file(Mode::Auto, "read", "/home/u/proj/link", &rules)), "refuse");
    assert_eq!(word(&file(Mode::Auto, "write", "/data/dir/x/y", &rules)), "refuse");
    assert_eq!(word(&file(Mode::Auto, "read", "/data/a/x.txt", &rules)), "ask");
    assert_eq!(word(&file(Mode::Auto, "read", "/data/a/x.rs", &rules)), "allow");
}

#[test]
fn the_file_of_keys_is_closed_to_every_call_in_every_mode_and_whatever_the_rules_say() {
    let keys = [PathBuf::from("/home/u/.config/windlass/keys.json")];
    let place = Place { closed: &keys, ..place() };
    let rules = rules(&["read", "read(/home/u/.config/windlass/keys.json)", "write(/**)"], &[], &[]);
    for mode in [Mode::Ask, Mode::Edits, Mode::Auto, Mode::Plan] {
        for (tool, class) in [("read", Class::Read), ("grep", Class::Read), ("write", Class::Write)] {
            let want = Want { tool, class, paths: &keys, command: None };
            assert_eq!(word(&decide(mode, &want, &place, &rules)), "refuse", "{tool} in {}", mode.word());
        }
    }
}

#[test]
fn a_search_leaves_out_what_rules_close_below_the_directory_that_it_names() {
    let sight = sight::Sight {
        rules: rules(&[], &["read(asked/**)"], &["read(secret.txt)", "grep(priv/**)", "edit(src/**)"]),
        cwd: "/home/u/proj".into(),
        home: None,
        closed: vec!["/home/u/.config/windlass/keys.json".into()],
    };
    let hides = |root: &str, file: &str| sight.hides(Path::new(root), Path::new(file));
    assert!(hides("/home/u/proj", "/home/u/proj/secret.txt"));
    assert!(hides("/home/u/proj", "/home/u/proj/priv/a/b"));
    assert!(hides("/", "/home/u/.config/windlass/keys.json"));
    assert!(hides("/home/u/proj", "/home/u/proj/asked/a"));
    assert!(!hides("/home/u/proj/asked", "/home/u/proj/asked/a"), "it was asked for by the root");
    assert!(!hides("/home/u/proj", "/home/u/proj/src/a.rs"));
    assert!(!hides("/home/u/proj", "/home/u/proj/other"));
}

#[test]
fn a_rule_that_is_none_says_what_is_wrong() {
    for text in
        ["", "(x)", "bash(", "bash(x", "bash()", "two words", "bash(a; b)", "bash(a $(b))", "bash(a > b)"]
    {
        let error = Rule::parse(text, Scope::User).unwrap_err();
        assert!(error.starts_with(&format!("`{text}` is no rule: ")), "{error}");
    }
    assert!(Rule::parse("mcp__server__tool", Scope::User).is_ok());
}

fn piece() -> impl Strategy<Value = String> {
    let special = [
        "cargo",
        "test",
        "rm",
        " ",
        " ",
        "\t",
        "\n",
        ";",
        "&",
        "|",
        "&&",
        "||",
        "(",
        ")",
        "{",
        "}",
        "<",
        ">",
        "$",
        "`",
        "'",
        "\"",
        "\\",
        "#",
        "!",
        "=",
        "~",
        "*",
        "/dev/null",
        "2",
        "1",
        "$(",
        "${",
        "x",
        "\u{a0}",
        "eval",
    ];
    proptest::sample::select(special.to_vec()).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written, what is allowed is made of allowed commands only, and of nothing that could
    /// be more.
    #[test]
    fn what_rules_allow_is_plain(pieces in proptest::collection::vec(piece(), 0..14)) {
        let command = pieces.concat();
        let rules = rules(&["bash(cargo:*)"], &[], &["bash(rm:*)"]);
        if run(Mode::Ask, &command, &rules) == Verdict::Allow {
            let bare: String = command.replace("\\'", "").replace("\\\"", "");
            prop_assert!(!command.contains(char::is_control) || command.contains('\t'));
            let line = shell::parse(&command);
            prop_assert!(!line.parts.is_empty() && line.parts.iter().all(|part| part[0].text == "cargo"));
            if !bare.contains(['\'', '"', '\\']) {
                for banned in ["`", "$(", "(", ")"] {
                    prop_assert!(!bare.contains(banned), "{bare:?} holds {banned}");
                }
            }
        }
    }
}
