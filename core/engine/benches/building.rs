//! How long building an engine takes, beside how long the JSON library takes to read the same documents.
//!
//! `cargo bench -p callgate-engine --bench building [-- NAME]` prints the fastest of some runs. With a name, only that engine is
//! built, once: to count instructions.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;
use serde_json::{Value, json};

#[expect(dead_code, reason = "the calls of that benchmark are not timed here")]
#[path = "verdicts.rs"]
mod verdicts;

const RULES: usize = 10_000;
const RUNS: usize = 15;

/// The texts of a policy and of annotations.
struct Documents {
    name: &'static str,
    policy: String,
    annotations: String,
}

impl Documents {
    fn new(name: &'static str, rules: &[Value], tools: &[Value]) -> Self {
        let policy = json!({"generatedAt": "", "constitutionHash": "", "inputHash": "", "rules": rules});
        let annotations =
            json!({"generatedAt": "", "servers": {"filesystem": {"inputHash": "", "tools": tools}}});
        Self {
            name,
            policy: format!("{policy:#}"),
            annotations: format!("{annotations:#}"),
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "a benchmark without an engine has nothing to measure"
    )]
    fn build(&self) -> Engine {
        Engine::builder()
            .part(DocumentKind::Policy, &self.policy)
            .part(DocumentKind::Annotations, &self.annotations)
            .build(&verdicts::Ready)
            .expect("the documents are those of the benchmark")
    }

    fn parse(&self) -> [Option<Value>; 2] {
        [&self.policy, &self.annotations].map(|text| serde_json::from_str(text).ok())
    }
}

fn main() {
    let only = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    if let Some(name) = only {
        for documents in all().iter().filter(|documents| documents.name == name) {
            drop(documents.build());
        }
        return;
    }
    let mut table =
        String::from("| documents | bytes | build | JSON library | ratio |\n|---|---:|---:|---:|---:|\n");
    for documents in all() {
        let build = fastest(|| documents.build());
        let parse = fastest(|| documents.parse());
        let bytes = documents.policy.len() + documents.annotations.len();
        let ratio = build.as_secs_f64() / parse.as_secs_f64();
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "| {} | {bytes} | {build:.1?} | {parse:.1?} | {ratio:.2} |",
            documents.name
        );
    }
    print!("{table}");
}

fn fastest<T>(work: impl Fn() -> T) -> Duration {
    (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            drop(work());
            begun.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn all() -> [Documents; 5] {
    let reads = json!({"toolName": "read_file", "args": {"path": ["read-path"], "owner": ["github-owner"]}});
    let rules = |conditions: &dyn Fn(usize) -> Value| -> Vec<Value> {
        (0..RULES)
            .map(|at| {
                json!({
                    "name": format!("rule-{at}"),
                    "if": conditions(at),
                    "then": if at % 2 == 0 { "allow" } else { "escalate" },
                    "reason": format!("Reason {at}"),
                })
            })
            .collect()
    };
    let directories = rules(&|at| json!({"paths": {"roles": "read-path", "within": format!("/srv/{at}")}}));
    let lists = rules(&|at| {
        let list = json!({"roles": ["github-owner"], "allowed": [format!("owner-{at}")], "matchType": "identifiers"});
        json!({"lists": [list]})
    });
    let pairs = rules(&|at| {
        let list = |role: &str, name: String| json!({"roles": [role], "allowed": [name], "matchType": "identifiers"});
        let owner = list("github-owner", format!("owner-{}", at / 10));
        json!({"lists": [owner, list("github-repo", format!("repo-{}", at % 10))]})
    });
    let by_tool = rules(&|at| json!({"tool": format!("tool_{at}")}));
    let mut named: Vec<Value> = (0..RULES)
        .map(|at| json!({"toolName": format!("tool_{at}"), "args": {}}))
        .collect();
    named.push(reads.clone());
    let described: Vec<Value> = (0..300)
        .map(|at| {
            let property = json!({"type": "string", "description": "What the tool does with this argument, at some length"});
            json!({
                "toolName": format!("tool_{at}"),
                "comment": "What the tool does, in a sentence of this length.",
                "args": {"path": ["read-path"], "owner": ["github-owner"], "repo": ["github-repo"], "text": ["none"]},
                "inputSchema": {
                    "type": "object",
                    "properties": {"path": property, "owner": property, "repo": property, "text": property},
                    "required": ["path", "owner"],
                },
            })
        })
        .collect();
    [
        Documents::new("directories", &directories, std::slice::from_ref(&reads)),
        Documents::new("tools", &by_tool, &named),
        Documents::new("lists", &lists, std::slice::from_ref(&reads)),
        Documents::new("pairs", &pairs, std::slice::from_ref(&reads)),
        Documents::new("annotations", &[], &described),
    ]
}
