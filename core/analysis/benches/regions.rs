//! How long it takes to see a policy as a whole, and how much memory: the corpus, and 1,000 rules over 1,000 tools.
//!
//! `cargo bench -p callgate-analysis`, on an otherwise idle machine. The corpus is looked for as
//! the benchmark `verdicts` does. A word after `--` runs only the rows whose name holds it. `cpu` is the time that this process
//! had a processor, which other programs on the machine hardly change; `memory` is what a row needed at most beyond what the
//! engines take. Both are Linux's, and absent elsewhere.

use std::time::{Duration, Instant};

use callgate_analysis::{Analysis, Comparison, lint_policy};
use callgate_engine::config::DocumentKind;
use callgate_engine::engine::Engine;
use serde_json::{Value, json};

#[expect(dead_code, reason = "the calls of that benchmark are not timed here")]
#[path = "../../engine/benches/verdicts.rs"]
mod verdicts;

/// How the tools of a generated configuration differ.
#[derive(Clone, Copy, PartialEq)]
enum Tools {
    /// Their names alone.
    Alike,
    /// Each has arguments of its own.
    Different,
}

fn main() {
    println!("| row | tools | found | calls | not exact | took | cpu | memory | budget |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let engine = verdicts::documents().engine();
    map("map: the documents of `verdicts`", &engine, Some(100));
    compare("diff: the same with themselves", &engine, &engine, None);
    for (tools, name) in [(Tools::Alike, "alike"), (Tools::Different, "all different")] {
        let (old, new) = (
            engine_of(1_000, 1_000, 0, tools),
            engine_of(1_000, 1_000, 1, tools),
        );
        let (Some(old), Some(new)) = (old, new) else {
            return;
        };
        let row = |what: &str| format!("{what}: 1,000 rules × 1,000 tools, {name}");
        map(&row("map"), &old, Some(5_000));
        compare(&row("diff, one rule changed"), &old, &new, Some(10_000));
        compare(&row("diff, nothing changed"), &old, &old, Some(10_000));
    }
    lint("lint: 100 rules × 1,000 tools, alike", 100, 1_000);
}

/// Prints a row, unless another one is asked for.
fn row(name: &str, budget: Option<u64>, run: impl FnOnce() -> [String; 4]) {
    let mut wanted = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .peekable();
    if wanted.peek().is_some() && !wanted.any(|word| name.contains(&word)) {
        return;
    }
    // Linux then counts the most memory from now on.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (before, cpu_before, begun) = (memory("VmRSS:"), cpu(), Instant::now());
    let counts = run();
    let took = begun.elapsed();
    let cpu = cpu().zip(cpu_before).map_or(String::new(), |(after, before)| {
        format!("{:.1?}", after.saturating_sub(before))
    });
    let memory = memory("VmHWM:")
        .zip(before)
        .map_or(String::new(), |(most, before)| {
            format!("{:.1} MB", most.saturating_sub(before) as f64 / 1_000.0)
        });
    let budget = budget.map_or(String::new(), |budget| {
        format!("{:?}", Duration::from_millis(budget))
    });
    println!(
        "| {name} | {} | {took:.1?} | {cpu} | {memory} | {budget} |",
        counts.join(" | ")
    );
}

fn map(name: &str, engine: &Engine, budget: Option<u64>) {
    row(name, budget, || {
        let analysis = Analysis::new(engine);
        let (mut tools, mut rows, mut calls, mut inexact) = (0, 0, 0, 0);
        for (server, tool) in analysis.tools() {
            if let Some(found) = analysis.tool(server, tool) {
                tools += 1;
                rows += found.rows().len();
                calls += found.calls;
                inexact += usize::from(!found.inexact.is_empty());
            }
        }
        [
            tools.to_string(),
            format!("{rows} rows"),
            calls.to_string(),
            inexact.to_string(),
        ]
    });
}

fn compare(name: &str, old: &Engine, new: &Engine, budget: Option<u64>) {
    row(name, budget, || {
        let comparison = Comparison::new(old, new);
        let (mut tools, mut changes, mut unknown) = (0, 0, 0);
        for (server, tool) in comparison.tools() {
            if let Some(found) = comparison.tool(server, tool) {
                tools += 1;
                changes += found.looser.len() + found.stricter.len();
                unknown += usize::from(!found.unknown.is_empty());
            }
        }
        [
            tools.to_string(),
            format!("{changes} changes"),
            String::new(),
            unknown.to_string(),
        ]
    });
}

fn lint(name: &str, rules: usize, tools: usize) {
    row(name, None, || {
        let (policy, annotations) = documents(rules, tools, 0, Tools::Alike);
        let parts = [
            (DocumentKind::Policy, (&policy).into()),
            (DocumentKind::Annotations, (&annotations).into()),
        ];
        let found = lint_policy(&parts, &verdicts::Ready, None, &|_| {}).map_or(0, |found| found.len());
        [
            tools.to_string(),
            format!("{found} findings"),
            String::new(),
            String::new(),
        ]
    });
}

/// How long this thread, which is the only one, has had a processor.
fn cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// One of Linux's counts of this process' memory, in KB.
fn memory(what: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(what))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn engine_of(rules: usize, tools: usize, changed: usize, kind: Tools) -> Option<Engine> {
    let (policy, annotations) = documents(rules, tools, changed, kind);
    let engine = Engine::builder()
        .part(DocumentKind::Policy, &policy)
        .part(DocumentKind::Annotations, &annotations)
        .build(&verdicts::Ready);
    engine.inspect_err(|error| println!("{error}")).ok()
}

/// So many rules about directories and domains, over the tools of twenty servers; `changed` rules of the first have another
/// effect.
fn documents(rules: usize, tools: usize, changed: usize, kind: Tools) -> (Value, Value) {
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
    let tool = |at: usize| match kind {
        Tools::Alike => {
            json!({"toolName": format!("tool-{at}"), "args": {"path": "read-path", "to": "write-path", "url": "fetch-url"}})
        }
        Tools::Different => json!({"toolName": format!("tool-{at}"), "args": {
            format!("path-{at}"): "read-path", format!("to-{at}"): "write-path", format!("url-{at}"): "fetch-url",
        }}),
    };
    let servers = (0..SERVERS).map(|server| {
        let own = (0..tools).filter(|at| at % SERVERS == server).map(tool);
        (
            format!("server-{server}"),
            json!({"tools": own.collect::<Vec<Value>>()}),
        )
    });
    let annotations = json!({"servers": servers.collect::<serde_json::Map<String, Value>>()});
    (policy, annotations)
}
