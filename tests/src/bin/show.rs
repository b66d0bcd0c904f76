//! Judges real calls in one host: `show [--host NAME] [BUNDLE] [CALLS]`. `cargo show` runs it for every host.
//!
//! The native host judges with this machine's disk and git, with relative paths in the bundle's folder, and records
//! their answers. Another host judges from that recording and must answer the same.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use callgate_host::{CallText, EngineKind, Gate, RealHost};
use clap::Parser;
use conformance::hosts;
use conformance::{Batch, Outcome, Subject, cases};
use serde_json::Value;

/// Judge real calls in one host
#[derive(Parser)]
struct Options {
    /// The host; any but the native one is compared with it
    #[arg(long, default_value = "native")]
    host: String,
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

/// Returns `true` if the host answers as the native one does.
fn show(options: &Options) -> Result<bool, String> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let example = project.join("host-shim/examples/bundle/callgate.json");
    let bundle = options.bundle.as_deref().unwrap_or(&example);
    let beside = bundle.with_file_name("calls.jsonl");
    let calls = options.calls.as_deref().unwrap_or(&beside);
    let calls = std::fs::read_to_string(calls).map_err(|error| format!("{}: {error}", calls.display()))?;
    let calls: Vec<&str> = calls.lines().filter(|line| !line.trim().is_empty()).collect();
    let gate = native(bundle)?;
    if options.host == "native" {
        for call in calls {
            let context = context_of(call);
            let verdict = gate
                .evaluate(given(call, context.as_deref()))
                .map_err(|error| format!("{call}: {error}"))?;
            let verdict = serde_json::to_value(verdict).map_err(|error| error.to_string())?;
            print(call, &verdict);
        }
        return Ok(true);
    }
    let mut others = hosts::start(std::slice::from_ref(&options.host))?;
    let mut differing = 0;
    for call in &calls {
        let context = context_of(call);
        let given = given(call, context.as_deref());
        let explanation = gate.explain(given).map_err(|error| format!("{call}: {error}"))?;
        let recorded = gate.recorded(given, &explanation);
        let batch = cases::batch(&recorded.map_err(|error| error.to_string())?)?;
        for subject in &mut others {
            let answer = judge(subject.as_mut(), &batch)?;
            if answer != explanation["verdict"] {
                differing += 1;
                println!("{} answers {answer}", options.host);
                print(call, &explanation["verdict"]);
            }
        }
    }
    let (host, all) = (&options.host, calls.len());
    match differing {
        0 => println!("{host:<8}  the same {all} verdicts"),
        some => println!("{host:<8}  {some} of {all} verdicts differ"),
    }
    Ok(differing == 0)
}

/// The core, with this machine's disk and git.
fn native(bundle: &Path) -> Result<Gate, String> {
    let folder = bundle.parent().and_then(|folder| folder.canonicalize().ok());
    let folder = folder.ok_or_else(|| format!("{}: there is no such folder", bundle.display()))?;
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let host = RealHost::new(&home.to_string_lossy(), &folder.to_string_lossy());
    let host = host.map_err(|error| error.to_string())?;
    let gate = Gate::builder()
        .engine(EngineKind::Native)
        .bundle(bundle)
        .host(Arc::new(host));
    gate.build().map_err(|error| error.to_string())
}

/// The decision about a call, with its rule and its reason.
fn print(call: &str, verdict: &Value) {
    let text = |name: &str| verdict[name].as_str().unwrap_or_default();
    let dimmed = Style::new().dimmed();
    anstream::println!("{}  {}", cell(verdict), title(call));
    anstream::println!("          {dimmed}{}: {}{dimmed:#}", text("rule"), text("reason"));
}

fn given<'c>(call: &'c str, context: Option<&'c str>) -> CallText<'c> {
    let call = CallText::from(call);
    context.map_or(call, |context| call.within(context))
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
