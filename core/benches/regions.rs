//! How long it takes to see a policy as a whole: the corpus, and 1,000 rules over 1,000 tools.
//!
//! `cargo bench -p callgate-core --features analysis --bench regions`, on an otherwise idle machine. The corpus is looked for as
//! the benchmark `verdicts` does.

use std::time::{Duration, Instant};

use callgate_core::{Analysis, Comparison, DocumentKind, Engine};
use serde_json::{Value, json};

#[expect(dead_code, reason = "the calls of that benchmark are not timed here")]
#[path = "verdicts.rs"]
mod verdicts;

fn main() {
    println!("| mapped | tools | regions | calls | not exact | took | budget |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let engine = verdicts::documents().engine();
    map("the documents of `verdicts`", &engine, Duration::from_millis(100));
    let (old, new) = (large(1_000, 1_000, 0), large(1_000, 1_000, 1));
    map("1,000 rules × 1,000 tools", &old, Duration::from_secs(5));
    compare(
        "1,000 rules × 1,000 tools, one rule changed",
        &old,
        &new,
        Duration::from_secs(10),
    );
    let begun = Instant::now();
    let same = Comparison::new(&old, &old);
    let equal = same
        .tools()
        .into_iter()
        .all(|(server, tool)| same.tool(server, tool).is_some_and(|one| one.is_empty()));
    println!("compared with itself: equal {equal}, {:.0?}", begun.elapsed());
}

fn map(name: &str, engine: &Engine, budget: Duration) {
    let begun = Instant::now();
    let analysis = Analysis::new(engine);
    let (mut tools, mut regions, mut calls, mut inexact) = (0, 0, 0, 0);
    for (server, tool) in analysis.tools() {
        if let Some(found) = analysis.tool(server, tool) {
            tools += 1;
            regions += found.parts.iter().map(|part| part.regions.len()).sum::<usize>();
            calls += found.calls;
            inexact += usize::from(!found.inexact.is_empty());
        }
    }
    let took = begun.elapsed();
    println!("| {name} | {tools} | {regions} | {calls} | {inexact} | {took:.1?} | {budget:?} |");
}

fn compare(name: &str, old: &Engine, new: &Engine, budget: Duration) {
    let begun = Instant::now();
    let comparison = Comparison::new(old, new);
    let (mut tools, mut changes, mut unknown) = (0, 0, 0);
    for (server, tool) in comparison.tools() {
        if let Some(found) = comparison.tool(server, tool) {
            tools += 1;
            changes += found.looser.len() + found.stricter.len();
            unknown += usize::from(!found.unknown.is_empty());
        }
    }
    let took = begun.elapsed();
    println!("| diff: {name} | {tools} | {changes} changes | | {unknown} | {took:.1?} | {budget:?} |");
}

/// So many rules about directories and domains, over the tools of twenty servers; `changed` rules of the first have another
/// effect.
fn large(rules: usize, tools: usize, changed: usize) -> Engine {
    const SERVERS: usize = 20;
    let rule = |at: usize| {
        let server = format!("server-{}", at % SERVERS);
        let effect = match at % 3 {
            0 if at >= changed => "allow",
            1 => "escalate",
            _ => "deny",
        };
        let condition = match (at / SERVERS) % 2 {
            0 => {
                json!({"server": server, "paths": {"roles": ["read-path", "write-path"], "within": format!("/srv/{at}/data")}})
            }
            _ => {
                json!({"server": server, "domains": {"roles": "fetch-url", "allowed": [format!("h{at}.example.com")]}})
            }
        };
        json!({"name": format!("rule-{at}"), "if": condition, "then": effect, "reason": "r"})
    };
    let policy = json!({"rules": (0..rules).map(rule).collect::<Vec<Value>>()});
    let tool = |at: usize| json!({"toolName": format!("tool-{at}"), "args": {"path": "read-path", "to": "write-path", "url": "fetch-url"}});
    let servers = (0..SERVERS).map(|server| {
        let own = (0..tools).filter(|at| at % SERVERS == server).map(tool);
        (
            format!("server-{server}"),
            json!({"tools": own.collect::<Vec<Value>>()}),
        )
    });
    let annotations = json!({"servers": servers.collect::<serde_json::Map<String, Value>>()});
    let engine = Engine::builder()
        .part(DocumentKind::Policy, &policy)
        .part(DocumentKind::Annotations, &annotations)
        .build(&verdicts::Ready);
    engine.unwrap_or_else(|error| {
        println!("{error}");
        std::process::exit(1)
    })
}
