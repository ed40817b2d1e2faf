//! The table: names, settings over built-ins, missing keys, and that no key is ever shown.

use super::*;

fn table(settings: &str, env: &[(&str, &str)]) -> (Table, Vec<ModelError>) {
    let settings: BTreeMap<String, ProviderSetting> = serde_json::from_str(settings).unwrap();
    let env: BTreeMap<String, String> = env.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Table::new(&settings, BTreeMap::new(), &|name| env.get(name).cloned(), Waits::default())
}

const LOCAL: &str = r#"{"local": {"wire": "openai-chat", "base_url": "http://127.0.0.1:8080/v1", "key_env": "LOCAL_KEY",
    "headers": {"x-team": "sesame-open"}}}"#;

#[test]
fn names_are_resolved() {
    let (table, faults) = table(LOCAL, &[("ANTHROPIC_API_KEY", "sk-secret")]);
    assert!(faults.is_empty());
    assert_eq!(table.resolve("local/qwen").unwrap(), "local/qwen");
    assert_eq!(table.resolve("local/org/qwen:4b").unwrap(), "local/org/qwen:4b");
    assert_eq!(table.resolve("claude-haiku-4-5").unwrap(), "anthropic/claude-haiku-4-5");
    assert_eq!(
        table.resolve("claude-haiku").unwrap(),
        "anthropic/claude-haiku-4-5",
        "its beginning is unique"
    );
    assert_eq!(table.resolve("anthropic/claude-next").unwrap(), "anthropic/claude-next", "newer than we");
    assert_eq!(table.resolve("scripted:/x y.json").unwrap(), "scripted:/x y.json");
    let said = |model: &str| table.resolve(model).unwrap_err().to_string();
    assert!(
        said("claude-sonet-4-5").contains("Near: anthropic/claude-sonnet-4-5"),
        "{}",
        said("claude-sonet-4-5")
    );
    assert!(
        said("claude-opus").contains("may be any of anthropic/claude-opus-4-6, "),
        "{}",
        said("claude-opus")
    );
    assert!(
        said("nowhere/x").contains("no provider \"nowhere\". Known: anthropic, openai"),
        "{}",
        said("nowhere/x")
    );
    assert!(said("zzzzzzzz").starts_with("there is no model \"zzzzzzzz\". Name"), "{}", said("zzzzzzzz"));
}

#[test]
fn a_model_needs_its_key_unless_it_is_near() {
    let (mut table, _) = table(LOCAL, &[("OPENAI_API_KEY", "  ")]);
    let said = table.make("openai/gpt-5").map(|_| ()).unwrap_err().to_string();
    assert_eq!(said, "openai has no key. Set OPENAI_API_KEY, or store a key with /key openai.");
    assert!(table.set_key("openai", SecretString::from("k")));
    assert!(table.make("gpt-5").is_ok_and(|made| made.name == "gpt-5" && made.model == "openai/gpt-5"));
    let made = table.make("local/a/b").unwrap();
    assert_eq!((made.name.as_str(), made.card.window), ("a/b", None));
    assert!(table.models().iter().any(|model| model == "openai/gpt-5"));
    assert!(!table.models().iter().any(|model| model.starts_with("anthropic/")), "no key, not offered");
}

#[test]
fn settings_lie_over_built_ins() {
    let (table, faults) = table(
        r#"{"openai": {"wire": "openai-chat", "key_env": "MY_KEY"}, "half": {"wire": "gemini"}, "odd": {"wire": "gemini", "base_url": "nope"}, "none": {}}"#,
        &[("OPENAI_BASE_URL", "http://proxy/v1"), ("MY_KEY", "k")],
    );
    let openai = table.endpoint("openai").unwrap();
    assert_eq!((openai.wire, openai.base_url.as_str()), (Wire::OpenaiChat, "http://proxy/v1"));
    assert!(openai.key.is_some());
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 3);
    assert!(said[0].contains("\"half\" of settings.json lacks `base_url`"), "{said:?}");
}

#[test]
fn no_key_in_a_debug_text() {
    let (table, _) = table(LOCAL, &[("ANTHROPIC_API_KEY", "sk-secret"), ("LOCAL_KEY", "sk-local")]);
    let text = format!("{:?}", table.endpoints());
    assert!(!text.contains("sk-") && !text.contains("sesame"), "{text}");
    assert!(text.contains("x-team"));
}

#[test]
fn a_script_keeps_its_place_across_makes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.json");
    std::fs::write(&file, r#"{"window": 5, "turns": []}"#).unwrap();
    let (table, _) = table("{}", &[]);
    let made = table.make(&format!("scripted:{}", file.display())).unwrap();
    assert_eq!(made.card.window, Some(5));
    std::fs::remove_file(&file).unwrap();
    assert!(table.make(&made.model).is_ok(), "loaded once");
    assert!(table.make("scripted:/nowhere").is_err());
}
