//! `callgate audit`: what a guard's log says, and whether it is whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callgate_engine::model::Effect;
use callgate_guard::{Log, LogLine};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::setup::effects;
use crate::terminal::{DIM, Exit, Failure, Out, clean, paint, style_of};

/// Read the log of `callgate guard --audit`
#[derive(Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Check that no line was changed, added or removed
    ///
    /// Each line holds the digest of the line before. A log whose last lines were cut off while no guard ran still verifies: keep
    /// the digest that this prints somewhere else, and pass it with --holds later. A log that goes on where another ends is
    /// whole only with --follows.
    ///
    /// Exits with 2 if the log is broken.
    Verify {
        /// The log
        file: PathBuf,
        /// The digest of a line that the log must hold
        #[arg(long, value_name = "DIGEST")]
        holds: Option<String>,
        /// The digest of the last line of the log before this one, which was moved away
        #[arg(long, value_name = "DIGEST")]
        follows: Option<String>,
    },
    /// Show decisions
    Show {
        /// The log
        file: PathBuf,
        /// Only these: allow, escalate or deny
        #[arg(long, value_name = "DECISION", value_parser = effects())]
        decision: Option<Effect>,
        /// Only those about calls of this server
        #[arg(long, value_name = "NAME")]
        server: Option<String>,
    },
    /// Count decisions by server, tool and rule, and how calls ended
    ///
    /// Calls that were only observed are counted apart: they would have been denied or asked about.
    Stats {
        /// The log
        file: PathBuf,
    },
}

impl Audit {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        match &self.what {
            What::Verify { file, holds, follows } => verify(file, holds.as_deref(), follows.as_deref(), out),
            What::Show {
                file,
                decision,
                server,
            } => show(file, decision.map(Effect::as_str), server.as_deref(), out),
            What::Stats { file } => stats(file, out),
        }
    }
}

fn lines(file: &Path) -> Result<impl Iterator<Item = Result<LogLine, Failure>>, Failure> {
    let fault = |error: std::io::Error| Failure::Fault(format!("cannot read `{}`: {error}", file.display()));
    Ok(Log::open(file)
        .map_err(fault)?
        .map(move |line| line.map_err(fault)))
}

fn verify(file: &Path, holds: Option<&str>, follows: Option<&str>, out: &mut Out) -> Result<Exit, Failure> {
    let (mut count, mut broken, mut last) = (0, Vec::new(), None);
    let mut begins_after = None;
    let mut is_held = holds.is_none();
    for line in lines(file)? {
        let line = line?;
        count = line.number;
        is_held |= holds == Some(&*line.digest);
        if count == 1 {
            begins_after = line.record["previous"].as_str().map(str::to_owned);
        }
        if let Some(reason) = line.broken {
            broken.push((line.number, reason));
        }
        last = Some(line.digest);
    }
    let is_begun = begins_after.as_deref() == follows;
    if out.human {
        match (&begins_after, follows) {
            _ if is_begun => {}
            (Some(before), _) => out.line(&format!(
                "the log begins after a line with the digest {}, which it does not hold: lines were removed, or it follows another log, \
                 and then --follows gives the digest of that log's last line",
                clean(before)
            ))?,
            (None, _) => out.line("the log does not begin after the line that --follows gives")?,
        }
        for (number, reason) in &broken {
            out.line(&format!(
                "{}:{number}: {}",
                clean(&file.display().to_string()),
                clean(reason)
            ))?;
        }
        if !is_held {
            out.line("no line has the digest that --holds gives: the log was cut or changed")?;
        }
        let what = match broken.len() {
            0 => "each follows from the one before".to_owned(),
            broken => format!("{broken} broken"),
        };
        out.line(&format!(
            "{count} lines, {what}; the last is {}",
            last.as_deref().unwrap_or("none")
        ))?;
    } else {
        let broken: Vec<Value> = broken
            .iter()
            .map(|(line, reason)| json!({"line": line, "reason": reason}))
            .collect();
        out.json(&json!({
            "lines": count, "broken": broken, "beginsAfter": begins_after, "holds": is_held, "last": last,
        }))?;
    }
    match broken.is_empty() && is_held && is_begun {
        true => Ok(Exit::Allow),
        false => Ok(Exit::Deny),
    }
}

fn show(file: &Path, decision: Option<&str>, server: Option<&str>, out: &mut Out) -> Result<Exit, Failure> {
    for line in lines(file)? {
        let record = line?.record;
        let is = |name: &str, wanted: Option<&str>| wanted.is_none_or(|wanted| record[name] == wanted);
        if record["kind"] != "decision" || !is("decision", decision) || !is("server", server) {
            continue;
        }
        if !out.human {
            out.json(&record)?;
            continue;
        }
        let text = |name: &str| clean(record[name].as_str().unwrap_or_default());
        let observed = if record["observed"] == true {
            " (observed)"
        } else {
            ""
        };
        out.line(&format!(
            "{} {}{observed} {}/{} {}",
            paint(DIM, &text("time")),
            paint(style_of(&text("decision")), &text("decision")),
            text("server"),
            text("tool"),
            text("rule"),
        ))?;
        let reason = text("reason");
        if !reason.is_empty() {
            out.line(&format!("  {reason}"))?;
        }
        for value in record["values"].as_array().into_iter().flatten() {
            let raw = value["raw"].as_str().or(value["digest"].as_str());
            let raw = raw.unwrap_or_default();
            let shown = match value["canonical"].as_str() {
                Some(canonical) if canonical != raw => format!("{raw} → {canonical}"),
                Some(_) | None => raw.to_owned(),
            };
            let (role, argument) = (value["role"].as_str(), value["argument"].as_str());
            out.line(&format!(
                "  {} as {}: {}",
                clean(argument.unwrap_or_default()),
                clean(role.unwrap_or_default()),
                clean(&shown)
            ))?;
        }
    }
    Ok(Exit::Allow)
}

fn stats(file: &Path, out: &mut Out) -> Result<Exit, Failure> {
    let mut decisions: BTreeMap<[String; 4], [usize; 2]> = BTreeMap::new();
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines(file)? {
        let record = line?.record;
        let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        match &*text("kind") {
            "decision" => {
                let key = [text("decision"), text("server"), text("tool"), text("rule")];
                let [enforced, observed] = decisions.entry(key).or_default();
                match record["observed"] == true {
                    true => *observed += 1,
                    false => *enforced += 1,
                }
            }
            "outcome" => *outcomes.entry(text("outcome")).or_default() += 1,
            _ => {}
        }
    }
    // What was denied is what people look for.
    let rank = |decision: &str| match decision {
        "deny" => 0,
        "escalate" => 1,
        _ => 2,
    };
    let mut decisions: Vec<_> = decisions.into_iter().collect();
    decisions.sort_by_key(|([decision, ..], _)| rank(decision));
    if out.human {
        for ([decision, server, tool, rule], [enforced, observed]) in &decisions {
            let observed = match observed {
                0 => String::new(),
                count => format!(", {count} only observed"),
            };
            out.line(&format!(
                "{} {}/{} by {}: {enforced}{observed}",
                paint(style_of(decision), &clean(decision)),
                clean(server),
                clean(tool),
                clean(rule)
            ))?;
        }
        for (outcome, count) in &outcomes {
            out.line(&paint(DIM, &format!("ended as {}: {count}", clean(outcome))))?;
        }
        return Ok(Exit::Allow);
    }
    let decisions: Vec<Value> = decisions
        .iter()
        .map(|([decision, server, tool, rule], [enforced, observed])| {
            json!({"decision": decision, "server": server, "tool": tool, "rule": rule,
                "enforced": enforced, "observed": observed})
        })
        .collect();
    out.json(&json!({"decisions": decisions, "outcomes": outcomes}))?;
    Ok(Exit::Allow)
}
