//! Scenarios for the regions that none reaches. What they expect is what the documents say now: a person looks at each.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use callgate_core::{CoverageReport, Unreached};
use callgate_host::{CallText, Gate, Request};
use serde_json::{Value, json};

use super::table::title;
use crate::output::{Failure, clean, note};

/// A file that is there is kept: somebody may have reviewed it.
pub(super) fn check_absent(path: &Path) -> Result<(), Failure> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(is_there(path)),
        Err(_) => Ok(()),
    }
}

fn is_there(path: &Path) -> Failure {
    Failure::Fault(format!(
        "found `{}`, expected no such file: scenarios in it may have been reviewed",
        path.display()
    ))
}

/// `world` is where the gate judges, if it is one.
pub(super) fn write(
    path: &Path,
    coverage: &CoverageReport,
    gate: &Gate,
    world: Option<&Value>,
) -> Result<(), Failure> {
    let shown = path.display();
    if coverage.unreached.is_empty() {
        note(&format!("no region is missing, so `{shown}` is not written"));
        return Ok(());
    }
    let mut text = String::new();
    let (mut calls, mut count) = (BTreeSet::new(), 0);
    let mut others = Vec::new();
    for one in &coverage.unreached {
        // One call may stand for a region of each of its arguments.
        if !calls.insert((&one.server_name, &one.tool_name, one.arguments.to_string())) {
            continue;
        }
        match line(one, gate, world)? {
            Ok(line) => {
                text.push_str(&line);
                text.push('\n');
                count += 1;
            }
            Err(found) => others.push(format!(
                "no call reaches {}: the engine says {found}, and not {} by {}",
                title(one),
                one.decision,
                one.rule
            )),
        }
    }
    others.iter().for_each(|one| note(&clean(one)));
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let written = made.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => is_there(path),
        _ => Failure::Fault(format!("cannot write `{shown}`: {error}")),
    })?;
    let count = match count {
        1 => "1 scenario".to_owned(),
        many => format!("{many} scenarios"),
    };
    note(&format!(
        "wrote {count} to `{shown}`, which expect what the documents say now: see whether that is what they should say"
    ));
    Ok(())
}

/// A scenario that expects the verdict of the gate; that verdict, if it is not the region's.
fn line(one: &Unreached, gate: &Gate, world: Option<&Value>) -> Result<Result<String, String>, Failure> {
    let call = json!({"serverName": one.server_name, "toolName": one.tool_name, "arguments": one.arguments});
    let text = call.to_string();
    let response = gate.judge(&Request::gate(CallText::from(&text)));
    let verdict = response
        .map_err(|error| Failure::Fault(error.to_string()))?
        .verdict;
    let decision = verdict.decision.as_str();
    if decision != one.decision || verdict.rule != one.rule {
        return Ok(Err(format!("{decision} by {}", verdict.rule)));
    }
    let mut scenario = json!({
        "name": title(one), "call": call, "expect": decision, "rule": verdict.rule,
    });
    if let (Some(members), Some(world)) = (scenario.as_object_mut(), world) {
        members.insert("world".to_owned(), world.clone());
    }
    Ok(Ok(scenario.to_string()))
}
