//! `callgate audit`: what a guard's log says, and whether it is whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callgate_engine::model::Effect;
use callgate_guard::{Log, LogLine, ocsf_event};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

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
    /// whole only with that one among the files, or with --follows. Logs of several guards are each a chain of their own.
    ///
    /// Exits with 2 if a log is broken.
    Verify {
        /// The logs, in any order
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The digest of a line that one of the logs must hold; may be repeated
        #[arg(long, value_name = "DIGEST")]
        holds: Vec<String>,
        /// The digest of the last line of a log before one of these, which was moved away; may be repeated
        #[arg(long, value_name = "DIGEST")]
        follows: Vec<String>,
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
        /// The logs
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Write the decisions as another program reads them, one JSON line each
    Export {
        /// The logs
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// As events of the Open Cybersecurity Schema Framework (OCSF 1.6, API Activity)
        #[arg(long, required = true)]
        ocsf: bool,
    },
}

impl Audit {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        match &self.what {
            What::Verify {
                files,
                holds,
                follows,
            } => verify(files, holds, follows, out),
            What::Show {
                file,
                decision,
                server,
            } => show(file, decision.map(Effect::as_str), server.as_deref(), out),
            What::Stats { files } => stats(files, out),
            What::Export { files, ocsf: _ } => export(files, out),
        }
    }
}

fn lines(file: &Path) -> Result<impl Iterator<Item = Result<LogLine, Failure>>, Failure> {
    let fault = |error: std::io::Error| Failure::Fault(format!("cannot read `{}`: {error}", file.display()));
    Ok(Log::open(file)
        .map_err(fault)?
        .map(move |line| line.map_err(fault)))
}

/// Hands over each line of a log. What is none is a fault once all others are taken, as a line that was cut when a machine stopped.
fn each(file: &Path, mut take: impl FnMut(Value) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut fault = None;
    for line in lines(file)? {
        let line = line?;
        if line.is_of_log() {
            take(line.record)?;
        } else if let (None, Some(reason)) = (&fault, line.broken) {
            fault = Some(format!("`{}`:{}: {reason}", file.display(), line.number));
        }
    }
    fault.map_or(Ok(()), |fault| Err(Failure::Fault(fault)))
}

/// What a log is found to be.
struct Checked<'f> {
    file: &'f Path,
    lines: usize,
    broken: Vec<(usize, String)>,
    /// The digest of the line that its first one follows, which stands in another log.
    begins_after: Option<String>,
    last: Option<String>,
    /// It begins, or follows a log that is known.
    is_begun: bool,
}

impl<'f> Checked<'f> {
    /// Reads a log. Digests that it holds are taken out of those that are still looked for.
    fn read(file: &'f Path, sought: &mut Vec<&str>) -> Result<Self, Failure> {
        let mut checked = Self {
            file,
            lines: 0,
            broken: Vec::new(),
            begins_after: None,
            last: None,
            is_begun: false,
        };
        for line in lines(file)? {
            let line = line?;
            checked.lines = line.number;
            sought.retain(|digest| *digest != line.digest);
            if line.number == 1 {
                checked.begins_after = line.record["previous"].as_str().map(str::to_owned);
            }
            if let Some(reason) = line.broken {
                checked.broken.push((line.number, reason));
            }
            checked.last = Some(line.digest);
        }
        Ok(checked)
    }

    fn as_json(&self) -> Map<String, Value> {
        let broken = self.broken.iter();
        let broken: Vec<Value> = broken
            .map(|(line, reason)| json!({"line": line, "reason": reason}))
            .collect();
        let members = [
            ("lines", self.lines.into()),
            ("broken", broken.into()),
            ("beginsAfter", self.begins_after.clone().into()),
        ];
        members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn tell(&self, several: bool, out: &mut Out) -> Result<(), Failure> {
        let name = self.file.display().to_string();
        let name = clean(&name);
        let of = if several {
            format!("{name}: ")
        } else {
            String::new()
        };
        if !self.is_begun {
            out.line(&match &self.begins_after {
                Some(before) => format!(
                    "{of}the log begins after a line with the digest {}, which it does not hold: lines were removed, or it follows \
                     another log, which is to be given too, or --follows gives the digest of that log's last line",
                    clean(before)
                ),
                None => format!("{of}the log does not begin after the line that --follows gives"),
            })?;
        }
        for (number, reason) in &self.broken {
            out.line(&format!("{name}:{number}: {}", clean(reason)))?;
        }
        let what = match self.broken.len() {
            0 => "each follows from the one before".to_owned(),
            broken => format!("{broken} broken"),
        };
        out.line(&format!(
            "{of}{} lines, {what}; the last is {}",
            self.lines,
            self.last.as_deref().unwrap_or("none")
        ))
    }
}

fn verify(files: &[PathBuf], holds: &[String], follows: &[String], out: &mut Out) -> Result<Exit, Failure> {
    let mut sought: Vec<&str> = holds.iter().map(String::as_str).collect();
    let checked: Result<Vec<Checked<'_>>, Failure> = files
        .iter()
        .map(|file| Checked::read(file, &mut sought))
        .collect();
    let mut checked = checked?;
    let ends: Vec<String> = checked.iter().filter_map(|log| log.last.clone()).collect();
    let known: Vec<&String> = ends.iter().chain(follows).collect();
    for log in &mut checked {
        log.is_begun = log
            .begins_after
            .as_ref()
            .is_none_or(|before| known.contains(&before));
    }
    // The one log does not follow the other that is said to be before it.
    if let ([log], [_, ..]) = (&mut checked[..], follows) {
        log.is_begun &= log.begins_after.is_some();
    }
    let is_held = sought.is_empty();
    let is_whole = checked.iter().all(|log| log.broken.is_empty() && log.is_begun);
    if out.human {
        for log in &checked {
            log.tell(checked.len() > 1, out)?;
        }
        if !is_held {
            out.line("no line has the digest that --holds gives: the log was cut or changed")?;
        }
    } else if let [log] = &checked[..] {
        let mut said = log.as_json();
        said.insert("holds".to_owned(), (is_whole && is_held).into());
        said.insert("last".to_owned(), log.last.clone().into());
        out.json(&said)?;
    } else {
        let logs: Vec<Value> = checked
            .iter()
            .map(|log| {
                let mut said = log.as_json();
                said.insert("last".to_owned(), log.last.clone().into());
                said.insert("file".to_owned(), log.file.display().to_string().into());
                said.insert("isBegun".to_owned(), log.is_begun.into());
                Value::Object(said)
            })
            .collect();
        out.json(&json!({"logs": logs, "holds": is_whole && is_held}))?;
    }
    match is_whole && is_held {
        true => Ok(Exit::Allow),
        false => Ok(Exit::Deny),
    }
}

fn export(files: &[PathBuf], out: &mut Out) -> Result<Exit, Failure> {
    for file in files {
        each(file, |record| match ocsf_event(&record) {
            Some(event) => out.json(&event),
            None => Ok(()),
        })?;
    }
    Ok(Exit::Allow)
}

fn show(file: &Path, decision: Option<&str>, server: Option<&str>, out: &mut Out) -> Result<Exit, Failure> {
    each(file, |record| {
        let is = |name: &str, wanted: Option<&str>| wanted.is_none_or(|wanted| record[name] == wanted);
        if record["kind"] != "decision" || !is("decision", decision) || !is("server", server) {
            return Ok(());
        }
        if !out.human {
            return out.json(&record);
        }
        let text = |name: &str| clean(record[name].as_str().unwrap_or_default());
        let observed = if record["observed"] == true {
            " (observed)"
        } else {
            ""
        };
        let layer = match text("layer") {
            layer if layer.is_empty() => String::new(),
            layer => paint(DIM, &format!(" (layer {layer})")),
        };
        out.line(&format!(
            "{} {}{observed} {}/{} {}{layer}",
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
        Ok(())
    })?;
    Ok(Exit::Allow)
}

fn stats(files: &[PathBuf], out: &mut Out) -> Result<Exit, Failure> {
    let mut decisions: BTreeMap<[String; 4], [usize; 2]> = BTreeMap::new();
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |record: Value| {
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
        Ok(())
    };
    for file in files {
        each(file, &mut count)?;
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
