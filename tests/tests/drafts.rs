//! Drafted annotations, counted against those that were written by hand.
//!
//! `tests/drafts/tools` has what real servers answer to `tools/list`, recorded by `record.mjs`. The annotations of four of them
//! stand beside their tests in `js/test/servers`; the others, in `tests/drafts/hand`, name the arguments that have a role other than
//! `none`. Each was written before its server's tools were drafted. The tables of evidence were made with the four in view. In the
//! first run on each of the others, 103 of 108 arguments had their roles, and what they showed to be missing in general was added.

#[path = "drafts/arbitrary.rs"]
mod arbitrary;
#[path = "drafts/elsewhere.rs"]
mod elsewhere;
#[path = "drafts/evidence.rs"]
mod evidence;
#[path = "drafts/merging.rs"]
mod merging;
#[path = "drafts/second.rs"]
mod second;
#[path = "drafts/workday.rs"]
mod workday;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use callgate_authoring::draft::{Proposal, propose_annotations};
use callgate_engine::document::DocumentSource;
use callgate_engine::role::Registry;
use serde_json::{Value, json};

pub(crate) const KNOWN: [&str; 4] = ["everything", "fetch", "filesystem", "git"];
pub(crate) const UNSEEN: [&str; 7] = [
    "chrome-devtools",
    "desktop-commander",
    "github",
    "gitlab",
    "memory",
    "playwright",
    "slack",
];

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

pub(crate) fn tools_of(name: &str) -> Value {
    read(&checkout().join(format!("tests/drafts/tools/{name}.json")))
}

pub(crate) fn propose(tools: &Value, server: &str) -> Proposal {
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
    let open = proposal.unsure.iter().chain(&proposal.unnamed);
    let all = all.chain(open.map(|one| (one, false)));
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
        let wanted = wanted
            .into_iter()
            .flatten()
            .filter(|role| !matches!(role.as_str(), "none" | "text"));
        let wanted: Vec<&str> = wanted.map(String::as_str).collect();
        let line = format!("{tool} {argument}: {drafted:?} for {wanted:?}");
        if wanted.is_empty() {
            let names = drafted.iter().any(|role| is_resource(role));
            count.surplus.extend((names && *is_sure).then_some(line));
        } else if wanted.iter().all(|role| drafted.contains(role)) {
            count.met += 1;
        } else {
            let is_none = drafted.iter().all(|role| matches!(&**role, "none" | "text"));
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

/// A tool as a server lists it.
pub(crate) fn tool(name: &str, properties: Value) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}
