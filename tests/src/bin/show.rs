//! Judges real calls in every host and shows the verdicts side by side: `cargo show [BUNDLE] [CALLS]`.
//!
//! The native host judges with this machine's disk and git, with relative paths in the bundle's folder, and records
//! their answers. Every other host judges from that recording and must answer the same.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use callgate_host::{CallText, EngineKind, Gate, RealHost};
use clap::Parser;
use conformance::hosts;
use conformance::{Batch, Outcome, Subject, cases};
use serde_json::Value;

/// Judge real calls in every host
#[derive(Parser)]
struct Options {
    /// The bundle to judge by [default: the example's]
    bundle: Option<PathBuf>,
    /// The calls, one per line [default: calls.jsonl beside the bundle]
    calls: Option<PathBuf>,
}

fn main() -> ExitCode {
    match show(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns `true` if all hosts agree.
fn show(options: &Options) -> Result<bool, String> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let example = project.join("host-shim/examples/bundle/callgate.json");
    let bundle = options.bundle.as_deref().unwrap_or(&example);
    let beside = bundle.with_file_name("calls.jsonl");
    let calls = options.calls.as_deref().unwrap_or(&beside);
    let calls = std::fs::read_to_string(calls).map_err(|error| format!("{}: {error}", calls.display()))?;

    build_package(&project.join("js"))?;
    let folder = bundle.parent().and_then(|folder| folder.canonicalize().ok());
    let folder = folder.ok_or_else(|| format!("{}: there is no such folder", bundle.display()))?;
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let host = RealHost::new(&home.to_string_lossy(), &folder.to_string_lossy());
    let host = host.map_err(|error| error.to_string())?;
    let gate = Gate::builder()
        .engine(EngineKind::Native)
        .bundle(bundle)
        .host(Arc::new(host));
    let gate = gate.build();
    let gate = gate.map_err(|error| error.to_string())?;
    // The first host is the native one, which has judged.
    let mut others = hosts::start(&[])?.split_off(1);

    let mut same = true;
    let names = others.iter().map(|subject| subject.name());
    let names: Vec<String> = ["native"]
        .into_iter()
        .chain(names)
        .map(|name| format!("{name:<8}"))
        .collect();
    anstream::println!("{}  call", names.join("  "));
    for call in calls.lines().filter(|line| !line.trim().is_empty()) {
        let context = context_of(call);
        let given = CallText::from(call);
        let given = context.as_deref().map_or(given, |context| given.within(context));
        let explanation = gate.explain(given).map_err(|error| format!("{call}: {error}"))?;
        let verdict = &explanation["verdict"];
        let batch = cases::batch(
            &gate
                .recorded(given, &explanation)
                .map_err(|error| error.to_string())?,
        )?;
        let mut cells = vec![cell(verdict)];
        for subject in &mut others {
            let answer = judge(subject.as_mut(), &batch)?;
            same &= answer == *verdict;
            cells.push(cell(&answer));
        }
        let text = |name: &str| verdict[name].as_str().unwrap_or_default();
        let dimmed = Style::new().dimmed();
        anstream::println!("{}  {}", cells.join("  "), title(call));
        let indent = " ".repeat(cells.len() * 10);
        anstream::println!("{indent}{dimmed}{}: {}{dimmed:#}", text("rule"), text("reason"));
    }
    println!(
        "{}",
        if same {
            "every host answered the same"
        } else {
            "the hosts answered differently"
        }
    );
    Ok(same)
}

/// Builds the npm package unless it exists.
fn build_package(folder: &Path) -> Result<(), String> {
    let built = ["dist/node.js", "wasm/callgate.wasm", "component/callgate.js"];
    if built.iter().all(|file| folder.join(file).exists()) {
        return Ok(());
    }
    for step in [&["ci", "--no-audit", "--no-fund"][..], &["run", "build"]] {
        eprintln!("npm {} (once)", step.join(" "));
        let status = Command::new("npm").args(step).current_dir(folder).status();
        let status = status.map_err(|error| format!("npm cannot be started: {error}"))?;
        if !status.success() {
            return Err(format!("npm {} failed: {status}", step.join(" ")));
        }
    }
    Ok(())
}

/// The context that an example's call gives itself; its author is not an agent.
fn context_of(call: &str) -> Option<String> {
    let call: Value = serde_json::from_str(call).ok()?;
    call.get("context").map(Value::to_string)
}

fn judge(subject: &mut dyn Subject, batch: &Batch) -> Result<Value, String> {
    match subject.run(batch).pop() {
        Some(Outcome::Answer(mut answer)) => Ok(match answer.get_mut("verdict") {
            Some(verdict) => verdict.take(),
            None => answer,
        }),
        other => Err(format!("{}: {other:?}", subject.name())),
    }
}

fn cell(verdict: &Value) -> String {
    let decision = verdict["decision"].as_str().unwrap_or("?");
    let color = match decision {
        "allow" => AnsiColor::Green,
        "escalate" => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    let style = color.on_default();
    format!("{style}{decision:<8}{style:#}")
}

/// `server/tool arguments`, on one line.
fn title(call: &str) -> String {
    let call: Value = serde_json::from_str(call).unwrap_or_default();
    let text = |name: &str| call[name].as_str().unwrap_or_default().to_owned();
    format!(
        "{}/{} {}",
        text("serverName"),
        text("toolName"),
        call["arguments"]
    )
}
