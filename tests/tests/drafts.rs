//! Drafted annotations, counted against those that were written by hand.
//!
//! `tests/drafts/tools` has what real servers answer to `tools/list`, recorded by `record.mjs`. The annotations of four of them
//! stand beside their tests in `js/test/servers`; the others, in `tests/drafts/hand`, were written before anything was drafted,
//! and name the arguments that have a role other than `none`. The tables of evidence were made with the four in view; the
//! others show how they do elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use callgate_core::{Change, DocumentKind, DocumentSource, Engine, Proposal, Registry, propose_annotations};
use callgate_host::RealHost;
use serde_json::{Value, json};

const KNOWN: [&str; 4] = ["everything", "fetch", "filesystem", "git"];
const UNSEEN: [&str; 5] = ["github", "gitlab", "memory", "playwright", "slack"];

/// By tool and argument, the roles that were written by hand.
type Hand = BTreeMap<(String, String), Vec<String>>;

/// How a draft compares with what was written by hand.
#[derive(Debug, Default)]
struct Count {
    /// Arguments that have a role by hand, and whose draft has it too.
    met: usize,
    /// Those whose draft lacks a role, with what it has.
    missed: Vec<String>,
    /// Those that were drafted `none` and are not in the list of unsure ones.
    unsaid: Vec<String>,
    /// Arguments that name no resource by hand, but surely do by the draft.
    surplus: Vec<String>,
    /// How many arguments there are, and how many of them are unsure.
    arguments: usize,
    unsure: usize,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.met += other.met;
        self.missed.extend(other.missed);
        self.unsaid.extend(other.unsaid);
        self.surplus.extend(other.surplus);
        self.arguments += other.arguments;
        self.unsure += other.unsure;
    }

    fn named(&self) -> usize {
        self.met + self.missed.len()
    }

    fn print(&self, name: &str) {
        println!(
            "{name}: {} of {} arguments that name something have their roles; {} of {} arguments are unsure; {} surely have a role \
             that they do not need",
            self.met,
            self.named(),
            self.unsure,
            self.arguments,
            self.surplus.len()
        );
        for one in &self.missed {
            println!("  missed: {one}");
        }
        for one in &self.unsaid {
            println!("  none, and not in the list: {one}");
        }
        for one in &self.surplus {
            println!("  surplus: {one}");
        }
    }
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn tools_of(name: &str) -> Value {
    read(&checkout().join(format!("tests/drafts/tools/{name}.json")))
}

fn propose(tools: &Value, server: &str) -> Proposal {
    propose_annotations(DocumentSource::Value(tools), server, None).expect("the tools can be read")
}

/// The roles that a value of `args` gives if no condition holds.
fn roles(spec: &Value) -> Vec<String> {
    let roles = spec.get("default").or_else(|| spec.get("roles")).unwrap_or(spec);
    let roles = roles.as_array().into_iter().flatten().filter_map(Value::as_str);
    roles.map(str::to_owned).collect()
}

fn hand_of(name: &str) -> Hand {
    let written = checkout().join(format!("js/test/servers/annotations/{name}.json"));
    if written.exists() {
        return of_tools(&read(&written)["tools"]);
    }
    let hand = read(&checkout().join(format!("tests/drafts/hand/{name}.json")));
    let tools = hand.as_object().into_iter().flatten();
    tools.flat_map(|(tool, args)| of_args(tool, args)).collect()
}

fn of_tools(tools: &Value) -> Hand {
    let tools = tools.as_array().into_iter().flatten();
    tools
        .flat_map(|tool| of_args(tool["toolName"].as_str().unwrap_or_default(), &tool["args"]))
        .collect()
}

fn of_args(tool: &str, args: &Value) -> Vec<((String, String), Vec<String>)> {
    let args = args.as_object().into_iter().flatten();
    args.map(|(name, spec)| ((tool.to_owned(), name.clone()), roles(spec)))
        .collect()
}

/// The argument that a name or a pointer leads into.
fn top(name: &str) -> &str {
    let pointer = name.strip_prefix('/');
    pointer.map_or(name, |rest| rest.split('/').next().unwrap_or_default())
}

fn count(proposal: &Proposal, hand: &Hand) -> Count {
    let registry = Registry::default();
    let is_resource = |role: &str| {
        registry
            .get(registry.find(role).expect("a role"))
            .is_resource_identifier()
    };
    let mut drafts: BTreeMap<(&str, &str), (Vec<&str>, bool)> = BTreeMap::new();
    let all = proposal.drafted.iter().map(|one| (one, true));
    let all = all.chain(proposal.unsure.iter().map(|one| (one, false)));
    for (one, is_sure) in all {
        let entry = drafts
            .entry((&one.tool, top(&one.argument)))
            .or_insert_with(|| (Vec::new(), true));
        entry.0.extend(one.roles.iter().map(|role| &**role));
        entry.1 &= is_sure;
    }
    let mut count = Count {
        arguments: drafts.len(),
        unsure: drafts.values().filter(|(_, is_sure)| !is_sure).count(),
        ..Count::default()
    };
    for ((tool, argument), (drafted, is_sure)) in &drafts {
        let wanted = hand.get(&((*tool).to_owned(), (*argument).to_owned()));
        let wanted = wanted.into_iter().flatten().filter(|role| *role != "none");
        let wanted: Vec<&str> = wanted.map(String::as_str).collect();
        let line = format!("{tool} {argument}: {drafted:?} for {wanted:?}");
        if wanted.is_empty() {
            let names = drafted.iter().any(|role| is_resource(role));
            count.surplus.extend((names && *is_sure).then_some(line));
        } else if wanted.iter().all(|role| drafted.contains(role)) {
            count.met += 1;
        } else {
            let is_none = drafted.iter().all(|role| *role == "none");
            count.unsaid.extend((is_none && *is_sure).then(|| line.clone()));
            count.missed.push(line);
        }
    }
    for (tool, argument) in hand
        .iter()
        .filter(|(_, roles)| **roles != ["none"])
        .map(|(key, _)| key)
    {
        assert!(
            drafts.contains_key(&(tool.as_str(), top(argument))),
            "{tool} has no `{argument}`"
        );
    }
    count
}

fn count_all(names: &[&str]) -> Count {
    let mut all = Count::default();
    for name in names {
        let one = count(&propose(&tools_of(name), name), &hand_of(name));
        one.print(name);
        all.add(one);
    }
    all
}

#[test]
fn what_names_a_resource_is_drafted_so() {
    let all = count_all(&KNOWN);
    all.print("together");
    assert!(all.named() >= 30, "{}", all.named());
    assert!(all.met * 100 >= all.named() * 95);
    assert_eq!(all.unsaid, [""; 0]);
}

/// The tools of the corpus, whose annotations are the existing runtime's. `CALLGATE_CORPUS` names its
/// folder, as for `corpus.rs`; without it, the test prints a message and ends.
#[test]
fn the_tools_of_the_corpus_are_drafted_too() {
    let beside = checkout().join("../shared/corpus");
    let folder = std::env::var_os("CALLGATE_CORPUS").map_or(beside, PathBuf::from);
    let file = folder.join("tool-annotations.json");
    if !file.is_file() {
        eprintln!("skipped: there is no corpus at {}", folder.display());
        return;
    }
    let servers = read(&file);
    let mut all = Count::default();
    for (name, server) in servers["servers"].as_object().into_iter().flatten() {
        let tools = server["tools"].as_array().into_iter().flatten().map(|tool| {
            json!({"name": tool["toolName"], "description": tool["comment"], "inputSchema": tool["inputSchema"]})
        });
        let one = count(&propose(&tools.collect(), name), &of_tools(&server["tools"]));
        one.print(name);
        all.add(one);
    }
    all.print("together");
    assert!(all.met * 100 >= all.named() * 95);
    assert_eq!(all.unsaid, [""; 0]);
}

#[test]
fn what_is_not_found_elsewhere_is_said() {
    let all = count_all(&UNSEEN);
    all.print("together");
    assert_eq!(all.unsaid, [""; 0]);
}

fn draft(tools: Value, server: &str) -> Proposal {
    propose(&tools, server)
}

/// The roles of the only tool's arguments, and the arguments that are unsure.
#[track_caller]
fn check(tool: Value, server: &str, args: Value, unsure: &[&str]) {
    let proposal = draft(json!([tool]), server);
    assert_eq!(proposal.annotations["servers"][server]["tools"][0]["args"], args);
    let found: Vec<&str> = proposal.unsure.iter().map(|one| &*one.argument).collect();
    assert_eq!(found, unsure, "{:?}", proposal.unsure);
    for one in proposal.drafted.iter().chain(&proposal.unsure) {
        assert!(!one.why.is_empty(), "{one:?}");
    }
}

fn tool(name: &str, properties: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}

#[test]
fn an_engine_takes_every_draft() {
    for name in KNOWN.iter().chain(&UNSEEN) {
        let proposal = propose(&tools_of(name), name);
        let options = json!({"strict": true});
        let policy = json!({"rules": []});
        Engine::builder()
            .part(DocumentKind::Options, DocumentSource::Value(&options))
            .part(DocumentKind::Policy, DocumentSource::Value(&policy))
            .part(DocumentKind::Annotations, DocumentSource::Text(&proposal.text))
            .build(&RealHost::new("/", "/").expect("both are absolute"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn hints_make_a_draft_stricter_and_never_looser() {
    let path = || json!({"path": {"type": "string"}});
    let hinted = |name: &str, hints: Value| {
        let mut tool = tool(name, path());
        tool["annotations"] = hints;
        tool
    };
    let read_only = json!({"readOnlyHint": true, "destructiveHint": false});
    for (name, hints, expected, is_sure) in [
        ("read_it", read_only.clone(), json!(["read-path"]), true),
        ("write_it", read_only.clone(), json!(["write-path"]), true),
        ("delete_it", read_only.clone(), json!(["delete-path"]), true),
        (
            "frobnicate",
            read_only,
            json!(["read-path", "write-path", "delete-path"]),
            false,
        ),
        (
            "read_it",
            json!({"readOnlyHint": false}),
            json!(["read-path", "write-path"]),
            false,
        ),
        (
            "read_it",
            json!({"destructiveHint": true}),
            json!(["read-path", "write-path", "delete-path"]),
            false,
        ),
        (
            "read_it",
            json!({"readOnlyHint": "yes"}),
            json!(["read-path"]),
            true,
        ),
    ] {
        let unsure: &[&str] = if is_sure { &[] } else { &["path"] };
        check(hinted(name, hints), "s", json!({"path": expected}), unsure);
    }
}

#[test]
fn a_description_adds_what_a_name_leaves_out() {
    let mut reads = tool("get_file", json!({"path": {"type": "string"}}));
    reads["description"] = json!("Deletes a file after it was read.");
    check(
        reads,
        "s",
        json!({"path": ["read-path", "delete-path"]}),
        &["path"],
    );
    let saves = tool(
        "browser_log",
        json!({"filename": {"type": "string", "description": "File name to save the log to."}}),
    );
    check(saves, "s", json!({"filename": ["write-path"]}), &[]);
}

#[test]
fn parts_of_arguments_have_pointers() {
    let text = || json!({"type": "string"});
    let edits = json!({"type": "array", "items": {"type": "object", "properties": {"path": text(), "newText": text()}}});
    check(
        tool(
            "edit_files",
            json!({"edits": edits, "dryRun": {"type": "boolean"}}),
        ),
        "s",
        json!({"/edits/*/path": ["read-path", "write-path"], "dryRun": ["none"]}),
        &[],
    );
    check(
        tool(
            "run",
            json!({"/odd": text(), "command": text(), "headers": {"type": "object"}}),
        ),
        "s",
        json!({"/~1odd": ["none"], "command": ["none"], "headers": ["none"]}),
        &["/~1odd", "command", "headers"],
    );
    let one = json!({"type": "object", "properties": {"path": text()}});
    check(
        tool("open", json!({"a": {"oneOf": [one, one]}})),
        "s",
        json!({"/a/path": ["read-path"]}),
        &[],
    );
}

#[test]
fn git_has_meanings_of_its_own() {
    let text = || json!({"type": "string"});
    check(
        tool(
            "git_push",
            json!({"repo_path": text(), "remote": text(), "branch": text()}),
        ),
        "git",
        json!({"repo_path": ["read-path", "write-history"], "remote": ["git-remote-url"], "branch": ["branch-name"]}),
        &[],
    );
    check(
        tool(
            "git_clone",
            json!({"url": {"type": "string", "format": "uri"}, "localPath": text()}),
        ),
        "git",
        json!({"url": ["git-remote-url"], "localPath": ["write-path"]}),
        &[],
    );
    check(
        tool("git_frobnicate", json!({"repo_path": text()})),
        "git",
        json!({"repo_path": ["read-path", "write-path", "delete-path", "write-history", "delete-history"]}),
        &["repo_path"],
    );
}

/// Annotations that a person wrote, with a tool and an argument that are gone, and a schema that changed.
const WRITTEN: &str = r#"{
  "servers": {
    "other": {"tools": []},
    "files": {
      "tools": [
        {"toolName": "old", "args": {}},
        {
          "toolName": "read", "comment": "by hand",
          "args": {
            "path":   {"default": ["read-path","write-path"], "when": [{"condition": {"arg": "dry", "is": "truthy"}, "roles": ["read-path"]}]},
            "lost": ["none"]
          },
          "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}, "lost": {}}}
        }
      ]
    }
  }
}
"#;

#[test]
fn what_a_person_wrote_stays() {
    let tools = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [
        {"name": "read", "inputSchema": {
            "properties": {"path": {"type": ["string", "array"]}, "to": {"type": "string"}}, "required": ["path"],
        }},
        {"name": "write", "inputSchema": {"properties": {"path": {"type": "string"}}}},
    ]}});
    let existing = DocumentSource::Text(WRITTEN);
    let proposal = propose_annotations(DocumentSource::Value(&tools), "files", Some(existing)).unwrap();
    let drift: Vec<String> = proposal
        .drift
        .iter()
        .map(|one| {
            format!(
                "{} {} {}",
                one.change,
                one.tool,
                one.argument.as_deref().unwrap_or("-")
            )
        })
        .collect();
    assert_eq!(
        drift,
        [
            "new-argument read to",
            "gone-argument read lost",
            "changed-schema read path",
            "changed-schema read path",
            "new-tool write -",
            "gone-tool old -",
        ]
    );
    let expected = WRITTEN
        .replace("\"lost\": [\"none\"]", "\"lost\": [\"none\"],\n            \"to\": [\"none\"]")
        .replace(
            r#"{"type": "object", "properties": {"path": {"type": "string"}, "lost": {}}}"#,
r#"{"type": "object", "properties": {"path": {"type": ["string", "array"]}, "to": {"type": "string"}}, "required": ["path"]}"#,
        )
        .replace(
            "        }\n      ]",
            "        },\n        {\n          \"toolName\": \"write\",\n          \"args\": {\"path\": [\"write-path\"]},\n          \"inputSchema\": {\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\"}}}\n        }\n      ]",
        );
    assert_eq!(proposal.text, expected);
    assert_eq!(
        serde_json::from_str::<Value>(&proposal.text).unwrap(),
        proposal.annotations
    );
    // Once merged, what is gone is all that differs.
    let again = DocumentSource::Text(&proposal.text);
    let again = propose_annotations(DocumentSource::Value(&tools), "files", Some(again)).unwrap();
    assert_eq!(again.text, proposal.text);
    let changes: Vec<Change> = again.drift.iter().map(|one| one.change).collect();
    assert_eq!(changes, [Change::GoneArgument, Change::GoneTool]);
    assert_eq!((again.drafted, again.unsure), (Vec::new(), Vec::new()));
}

#[test]
fn a_list_or_annotations_that_cannot_be_read_are_refused() {
    let faults = |tools: Value, existing: Option<Value>| {
        let existing = existing.as_ref().map(DocumentSource::Value);
        let faults = propose_annotations(DocumentSource::Value(&tools), "s", existing).unwrap_err();
        faults[0].to_string()
    };
    for (tools, expected) in [
        (json!(1), "error[wrong-type] at toolsList: "),
        (json!({}), "error[missing-field] at toolsList: "),
        (
            json!({"error": {"code": -1}}),
            "error[invalid-value] at toolsList.error: ",
        ),
        (json!([{}]), "error[missing-field] at toolsList[0]: "),
        (
            json!([{"name": "a"}, {"name": "a"}]),
            "error[duplicate-tool] at toolsList[1]: ",
        ),
    ] {
        let found = faults(tools, None);
        assert!(found.starts_with(expected), "{found}");
    }
    for (existing, expected) in [
        (json!([]), "error[wrong-type] at toolAnnotations: "),
        (
            json!({"t": {"kind": "read"}}),
            "error[invalid-value] at toolAnnotations: ",
        ),
        (
            json!({"servers": {"s": {"tools": [{"toolName": "a"}]}}}),
            "error[missing-field] at toolAnnotations.servers.s.tools[0]: ",
        ),
    ] {
        let found = faults(json!([]), Some(existing));
        assert!(found.starts_with(expected), "{found}");
    }
}
