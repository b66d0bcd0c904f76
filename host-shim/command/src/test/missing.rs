//! Scenarios for the regions that none reaches. What they expect is what the documents say now: a person looks at each.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use callgate_analysis::{CoverageReport, Unreached};
use callgate_engine::host::Host;
use callgate_host::{CallText, Gate, Machine, Request, VirtualHost};
use serde_json::{Value, json};

use super::table::title;
use crate::setup::Setup;
use crate::terminal::{Failure, clean, note};

/// The machine of a scenario that cannot be written without saying where the project lies.
const HOME: &str = "/home/user";
const PROJECT: &str = "/project";

/// Judges the calls that are written.
pub(super) struct Judges<'s> {
    /// Judges where the scenarios were judged.
    gate: &'s Gate,
    /// The world that this is, if it is one.
    world: Option<Value>,
    /// The project's folder on this machine, if other machines are meant too, and what judges on one of those.
    elsewhere: Option<(String, OnceCell<Gate>)>,
    setup: &'s Setup,
}

impl<'s> Judges<'s> {
    /// `on_disk`: the scenarios are about this machine alone.
    pub(super) fn new(gate: &'s Gate, setup: &'s Setup, on_disk: bool) -> Result<Self, Failure> {
        let world = setup.world()?;
        let folder = match on_disk || world.is_some() {
            true => None,
            false => setup.bundle_folder()?,
        };
        Ok(Self {
            gate,
            world,
            elsewhere: folder.map(|folder| (folder, OnceCell::new())),
            setup,
        })
    }

    /// The gate of a machine where the project lies in [`PROJECT`].
    fn elsewhere<'g>(&self, gate: &'g OnceCell<Gate>) -> Result<&'g Gate, Failure> {
        if let Some(made) = gate.get() {
            return Ok(made);
        }
        let host = VirtualHost::new(Machine::new(HOME, PROJECT))
            .map_err(|error| Failure::Fault(error.to_string()))?;
        let host: Arc<dyn Host + Send + Sync> = Arc::new(host);
        let made = self.setup.build_in_world(&host)?;
        Ok(gate.get_or_init(|| made))
    }
}

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

pub(super) fn write(path: &Path, coverage: &CoverageReport, judges: &Judges<'_>) -> Result<(), Failure> {
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
        let context = one.context.as_ref().map(Value::to_string);
        if !calls.insert((
            &one.server_name,
            &one.tool_name,
            one.arguments.to_string(),
            context,
        )) {
            continue;
        }
        match line(one, judges)? {
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
        "wrote {count} to `{shown}`, which expect today's verdicts: check that those are right"
    ));
    Ok(())
}

/// A scenario that expects the verdict of the gate; that verdict, if it is not the region's.
fn line(one: &Unreached, judges: &Judges<'_>) -> Result<Result<String, String>, Failure> {
    // Paths below a folder that differs between checkouts are judged on a simulated machine.
    if let Some((folder, gate)) = &judges.elsewhere
        && let Some(arguments) = moved(&one.arguments, folder)
    {
        let world = json!({"home": HOME, "cwd": PROJECT});
        if let Ok(line) = judged(one, &arguments, judges.elsewhere(gate)?, Some(&world))? {
            return Ok(Ok(line));
        }
    }
    judged(one, &one.arguments, judges.gate, judges.world.as_ref())
}

fn judged(
    one: &Unreached,
    arguments: &Value,
    gate: &Gate,
    world: Option<&Value>,
) -> Result<Result<String, String>, Failure> {
    let call = json!({"serverName": one.server_name, "toolName": one.tool_name, "arguments": arguments});
    let text = call.to_string();
    let context = one.context.as_ref().map(Value::to_string);
    let asked = match &context {
        Some(context) => CallText::from(&text).within(context),
        None => CallText::from(&text),
    };
    let response = gate.judge(&Request::gate(asked));
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
    for (key, part) in [("world", world), ("context", one.context.as_ref())] {
        if let (Some(members), Some(part)) = (scenario.as_object_mut(), part) {
            members.insert(key.to_owned(), part.clone());
        }
    }
    Ok(Ok(scenario.to_string()))
}

/// The value with the paths at or below the folder in [`PROJECT`] instead; `None` if there are no such paths.
fn moved(value: &Value, folder: &str) -> Option<Value> {
    let mut found = value.clone();
    let mut open = vec![&mut found];
    let mut is_moved = false;
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                if let Ok(rest) = Path::new(text).strip_prefix(folder) {
                    let other = Path::new(PROJECT).join(rest).display().to_string();
                    *text = other.trim_end_matches('/').to_owned();
                    is_moved = true;
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values_mut()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    is_moved.then_some(found)
}
