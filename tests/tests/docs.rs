//! The examples of the reference pages in `core/docs`: their documents load strictly, and their calls get the verdicts
//! that the pages promise.
//!
//! The fence of a block of JSON says what it is, after `json`:
//!
//! | word | the block is |
//! |---|---|
//! | `bundle` | a whole `callgate.json`; what the page gave before it no longer counts |
//! | `policy`, `annotations`, `lists`, `programs`, `ceiling`, `options`, `roles`, `world`, `protectedPaths`, `invariants` | the value of this key of the bundle |
//! | `rule`, `rules` | one rule, or an array of them: the rules of the bundle |
//! | `tool` | one annotation of a tool of the server `SERVER`, with `server:SERVER`; it joins the bundle's |
//! | `call:DECISION` | a call or several, each judged by the bundle as the gate does; with `rule:NAME` by this rule. A call's member `context` is the host's context |
//! | `scenarios` | a file of scenarios, which the bundle's verdicts meet |
//! | `sent` | the arguments that are sent for the call above it |
//! | `refused:CODE` | besides one of the above: loading refuses it with this code. It does not count for what follows |
//!
//! Readers do not see a fence, so the line above it says the outcome: `Denied, by `NAME`:`, `Sent:`, `Refused, with `CODE`:`.
//!
//! The bundle's folder is the project `/…/app` of a user `/home/u`, with the files and the repository of [`machine`].

use std::fs;
use std::path::Path;
use std::sync::Arc;

use callgate_authoring::scenario::{ScenarioPlace, read_scenarios};
use callgate_core::docs;
use callgate_engine::document::without_comments;
use callgate_engine::host::Host;
use callgate_engine::judge::StructuralRule;
use callgate_host::{CallText, EngineKind, Gate, GateError, VirtualHost};
use serde_json::{Value, json};

#[test]
fn policy() {
    check("policy");
}

#[test]
fn annotations() {
    check("annotations");
}

#[test]
fn roles() {
    check("roles");
}

#[test]
fn lists() {
    check("lists");
}

#[test]
fn programs() {
    check("programs");
}

#[test]
fn protected_paths() {
    check("protected-paths");
}

#[test]
fn invariants() {
    check("invariants");
}

#[test]
fn options() {
    check("options");
}

#[test]
fn structural_rules() {
    check("structural-rules");
}

#[test]
fn worlds() {
    check("worlds");
}

#[test]
fn scenarios() {
    check("scenarios");
}

#[test]
fn recipes() {
    check("recipes");
}

/// Every rule of the engine that verdicts name has an entry, and every option, limit, role and key of a bundle too.
#[test]
fn pages_are_complete() {
    let text = |topic: &str| docs::page(topic).expect("a page").text;
    let has = |topic: &str, name: &str| {
        assert!(
            text(topic).contains(&format!("`{name}`")),
            "the page `{topic}` lacks `{name}`"
        );
    };
    let rows = text("structural-rules").lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("| `")?.split_once('`')?;
        Some(name)
    });
    let mut rows: Vec<&str> = rows.collect();
    rows.sort_unstable();
    let mut rules: Vec<&str> = StructuralRule::ALL.iter().map(|rule| rule.as_str()).collect();
    rules.sort_unstable();
    assert_eq!(rows, rules, "the rows of the page `structural-rules`");
    for (limit, _) in callgate_engine::limits::Limits::TABLE {
        has("options", limit);
    }
    // The message about an unknown option lists all of them, and the one about a bundle's key those.
    for (topic, bundle, path) in [
        ("options", json!({"options": {"zzz": 1}}), "options.zzz"),
        ("recipes", json!({"zzz": 1}), "bundle.zzz"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let Err(GateError::Refused(faults)) = load(folder.path(), &bundle) else {
            panic!("{path} is accepted");
        };
        let fault = faults.iter().find(|fault| fault.diagnostic.path == path);
        let message = &fault.unwrap_or_else(|| panic!("{faults:?}")).diagnostic.message;
        let known = message.split("expected one of ").nth(1).expect("a list");
        for name in known.split('`').skip(1).step_by(2) {
            has(topic, name);
        }
    }
    for (_, role) in callgate_engine::role::Registry::default().iter() {
        has("roles", &role.name);
    }
    for page in docs::PAGES {
        assert!(page.text.starts_with("# "), "{}", page.topic);
        for line in page.text.lines().filter(|line| !line.starts_with('|')) {
            assert!(line.chars().count() <= 120, "{}: {line}", page.topic);
        }
    }
}

/// One block of JSON of a page.
struct Block<'p> {
    line: usize,
    /// The last line of text above it.
    above: &'p str,
    words: Vec<&'p str>,
    text: String,
}

impl<'p> Block<'p> {
    /// The text that follows `name:` in the fence.
    fn option(&self, name: &str) -> Option<&'p str> {
        let mut words = self.words.iter().filter_map(|word| word.split_once(':'));
        words.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The line that readers see above the block, if it is an outcome.
    fn caption(&self) -> Option<String> {
        if let Some(decision) = self.option("call") {
            let outcome = match decision {
                "allow" => "Allowed",
                "deny" => "Denied",
                "escalate" => "Escalates",
                other => panic!("line {}: {other}", self.line),
            };
            let rule = self.option("rule").map(|rule| format!(", by `{rule}`"));
            return Some(format!("{outcome}{}:", rule.unwrap_or_default()));
        }
        if let Some(code) = self.option("refused") {
            return Some(format!("Refused, with `{code}`:"));
        }
        (self.words.first() == Some(&"sent")).then(|| "Sent:".to_owned())
    }
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut above = "";
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            if !line.is_empty() {
                above = line;
            }
            continue;
        };
        let code = lines.by_ref().map(|(_, line)| line);
        let code: Vec<&str> = code.take_while(|line| *line != "```").collect();
        let mut words = info.split(' ');
        match words.next() {
            Some("json") => found.push(Block {
                line: at + 1,
                above: std::mem::take(&mut above),
                words: words.collect(),
                text: code.join("\n"),
            }),
            Some("sh" | "text" | "rust" | "ts") => {}
            other => panic!("line {}: a block of {other:?}", at + 1),
        }
    }
    found
}

#[track_caller]
fn check(topic: &str) {
    let page = docs::page(topic).expect("a page");
    let folder = tempfile::tempdir().expect("a folder");
    let app = folder.path().join("app");
    fs::create_dir(&app).expect("a folder");
    let mut example = Example {
        topic,
        folder: &app,
        bundle: json!({}),
        gate: None,
        unloaded: None,
        sent: None,
    };
    let blocks = blocks(page.text);
    assert!(!blocks.is_empty(), "{topic} has no example");
    for block in &blocks {
        example.take(block);
    }
    example.load();
}

/// The state of a page so far.
struct Example<'e> {
    topic: &'e str,
    folder: &'e Path,
    bundle: Value,
    gate: Option<Gate>,
    /// The line of a document that was not loaded yet.
    unloaded: Option<usize>,
    /// The arguments that are sent for the last call.
    sent: Option<String>,
}

impl Example<'_> {
    fn take(&mut self, block: &Block<'_>) {
        let at = format!("{} line {}", self.topic, block.line);
        let option = |name: &str| block.option(name);
        if let Some(caption) = block.caption() {
            assert_eq!(block.above, caption, "{at}");
        }
        let kind = block.words.first().copied().unwrap_or_default();
        if let Some(decision) = option("call") {
            return self.judge(&at, &block.text, decision, option("rule"));
        }
        if kind == "scenarios" {
            return self.meet(&at, &block.text);
        }
        let value: Value = serde_json::from_str(&without_comments(&block.text))
            .unwrap_or_else(|error| panic!("{at}: {error}"));
        if kind == "sent" {
            return self.compare(&at, &value);
        }
        if let Some(code) = option("refused") {
            let mut bundle = self.bundle.clone();
            set(&mut bundle, kind, option("server"), value, &at);
            return refused(self.folder, &bundle, code, &at);
        }
        if kind == "bundle" && self.unloaded.is_some() {
            self.load();
        }
        if kind == "bundle" {
            // As a reader copies it.
            let gate = build(self.folder, &block.text).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(gate.warnings(), [], "{at}");
        }
        set(&mut self.bundle, kind, option("server"), value, &at);
        self.gate = None;
        self.unloaded = Some(block.line);
    }

    /// Loads what the page has said, strictly.
    fn load(&mut self) -> &Gate {
        let at = format!("{} line {:?}", self.topic, self.unloaded);
        if self.unloaded.take().is_some() || self.gate.is_none() {
            let gate = load(self.folder, &self.bundle);
            self.gate = Some(gate.unwrap_or_else(|error| panic!("{at}: {error}")));
        }
        self.gate.as_ref().expect("it was loaded")
    }

    fn judge(&mut self, at: &str, text: &str, decision: &str, rule: Option<&str>) {
        let mut count = 0;
        let calls = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        for call in calls {
            let mut call = call.unwrap_or_else(|error| panic!("{at}: {error}"));
            let members = call.as_object_mut().expect("a call");
            let context = members.shift_remove("context").map(|context| context.to_string());
            let (call, gate) = (call.to_string(), self.load());
            let text = CallText::from(&call);
            let text = context.as_deref().map_or(text, |context| text.within(context));
            let response = gate.gate(text).unwrap_or_else(|error| panic!("{at}: {error}"));
            let verdict = &response.verdict;
            assert_eq!(verdict.decision.as_str(), decision, "{at}: {call}: {verdict:?}");
            if let Some(rule) = rule {
                assert_eq!(verdict.rule, rule, "{at}: {call}: {verdict:?}");
            }
            self.sent = response.arguments;
            count += 1;
        }
        assert!(count > 0, "{at}: no call");
    }

    /// Runs scenarios as `callgate test` does.
    fn meet(&mut self, at: &str, text: &str) {
        let scenarios = read_scenarios(text).unwrap_or_else(|faults| panic!("{at}: {faults:?}"));
        self.load();
        for scenario in scenarios {
            let elsewhere = scenario.place.as_ref().map(|place| {
                let ScenarioPlace::World(world) = place else {
                    panic!("{at}: a recording");
                };
                let world: Value = serde_json::from_str(&world.text).expect("a world");
                let host = VirtualHost::from_value(&world).unwrap_or_else(|error| panic!("{at}: {error}"));
                let folder = host.current_dir().to_owned();
                let builder = Gate::builder().engine(EngineKind::Native);
                let builder = builder.bundle(self.folder.join("callgate.json")).folder(folder);
                let gate = builder.host(Arc::new(host)).build();
                gate.unwrap_or_else(|error| panic!("{at}: {error}"))
            });
            let gate = elsewhere.as_ref().unwrap_or_else(|| self.load());
            let text = CallText::from(&scenario.call.text);
            let text = match &scenario.context {
                Some(context) => text.within(&context.text),
                None => text,
            };
            let response = gate.gate(text).unwrap_or_else(|error| panic!("{at}: {error}"));
            let (decision, rule) = (response.verdict.decision.as_str(), response.verdict.rule);
            let is_met = scenario.expect.is_none_or(|expect| expect.is_met_by(decision));
            let is_met = is_met && scenario.rule.as_ref().is_none_or(|expected| *expected == rule);
            assert!(is_met, "{at}: {scenario:?}: {decision} by {rule}");
        }
    }

    fn compare(&self, at: &str, expected: &Value) {
        let sent = self
            .sent
            .as_deref()
            .unwrap_or_else(|| panic!("{at}: nothing is sent above"));
        let sent: Value = serde_json::from_str(sent).expect("JSON");
        let app = self
            .folder
            .canonicalize()
            .expect("a folder")
            .display()
            .to_string();
        let found = sent.to_string().replace(&app, "/home/u/app");
        assert_eq!(found, expected.to_string(), "{at}");
    }
}

fn set(bundle: &mut Value, kind: &str, server: Option<&str>, value: Value, at: &str) {
    match kind {
        "bundle" => *bundle = value,
        "policy" | "annotations" | "lists" | "programs" | "ceiling" | "options" | "roles" | "world"
        | "protectedPaths" | "invariants" => bundle[kind] = value,
        "rule" => bundle["policy"] = json!({"rules": [value]}),
        "rules" => bundle["policy"] = json!({"rules": value}),
        "tool" => {
            let server = server.unwrap_or_else(|| panic!("{at}: no server"));
            let tools = &mut bundle["annotations"]["servers"][server]["tools"];
            if tools.is_null() {
                *tools = json!([]);
            }
            let tools = tools.as_array_mut().expect("tools");
            tools.retain(|tool| tool["toolName"] != value["toolName"]);
            tools.push(value);
        }
        other => panic!("{at}: a block of JSON that is `{other}`"),
    }
}

fn load(folder: &Path, bundle: &Value) -> Result<Gate, GateError> {
    let mut bundle = bundle.clone();
    if !bundle["options"].is_object() {
        bundle["options"] = json!({});
    }
    bundle["options"]["strict"] = json!(true);
    build(folder, &bundle.to_string())
}

fn build(folder: &Path, bundle: &str) -> Result<Gate, GateError> {
    let file = folder.join("callgate.json");
    fs::write(&file, bundle).expect("a file");
    let host = VirtualHost::from_value(&machine(folder)).expect("a machine");
    let builder = Gate::builder().engine(EngineKind::Native).bundle(file);
    builder.host(Arc::new(host)).build()
}

fn refused(folder: &Path, bundle: &Value, code: &str, at: &str) {
    match load(folder, bundle) {
        Err(GateError::Refused(faults)) => {
            let codes: Vec<&str> = faults
                .iter()
                .map(|fault| fault.diagnostic.code.as_str())
                .collect();
            assert!(codes.contains(&code), "{at}: {faults:?}");
        }
        Ok(_) => panic!("{at}: it is accepted"),
        Err(other) => panic!("{at}: {other}"),
    }
}

/// A user's machine with the project in `folder`.
fn machine(folder: &Path) -> Value {
    let app = folder.canonicalize().expect("a folder").display().to_string();
    let remotes = json!({"origin": "https://github.com/acme/app.git"});
    json!({
        "home": "/home/u", "cwd": "/home/u",
        "fs": {
            "files": [
                format!("{app}/README.md"), format!("{app}/src/main.rs"), format!("{app}/.env"),
                format!("{app}/.git/config"), format!("{app}/game/rules.txt"), format!("{app}/mods/dragons/events.txt"),
                "/home/u/.ssh/id_ed25519", "/home/u/Documents/plan.md", "/etc/hosts",
            ],
            "dirs": [format!("{app}/notes")],
            "links": {format!("{app}/link"): "/etc"},
        },
        "git": {app: {"branch": "feature", "branchRemotes": {}, "remotes": remotes}},
    })
}
