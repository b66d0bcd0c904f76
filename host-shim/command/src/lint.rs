//! `callgate lint`: doubts about documents that are valid.

use callgate_analysis::Finding;
use callgate_engine::diagnostic::Code;
use callgate_engine::host::Host;
use callgate_host::{EngineKind, Fault};
use clap::Args;
use serde_json::{Value, json};

use crate::annotate::refusal;
use crate::asking::Listing;
use crate::setup::Setup;
use crate::terminal::Progress;
use crate::terminal::{DIM, Exit, Failure, GREEN, Out, YELLOW, clean, counted, diagnosis, paint};

/// Show what is doubtful about the documents, each with a call that shows it
///
/// Lists the warnings of `validate`, and problems that only show when all calls are looked at: rules that decide
/// nothing, with the rules that decide in their place; allow rules that look at no argument; tools of which every call
/// is denied; roles that no rule names; entries of lists that have no effect. With --server a server's tools are
/// compared with their annotations too: tools and arguments that are new or gone, and arguments without a role that
/// look like resources. Links on this machine's disk are not followed unless `--disk` is given. As JSON one line a
/// finding. Exits with 0, or with 4 for findings under `--deny-warnings`. `callgate help lint` has a table of all
/// findings.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Lint {
    /// Fail where there are findings
    #[arg(long)]
    deny_warnings: bool,
    /// Write SARIF, for whoever shows findings beside the code
    #[arg(long)]
    sarif: bool,
    #[command(flatten)]
    listing: Listing,
    /// Follow the links on this machine's disk, or in the file of --world, and read its repositories
    #[arg(long)]
    disk: bool,
    #[command(flatten)]
    setup: Setup,
}

const EXAMPLES: &str = "\
For example:
  callgate lint --deny-warnings
  callgate lint --server filesystem --tools tools.json
  callgate lint --server filesystem -- npx -y @modelcontextprotocol/server-filesystem .";

/// A doubtful thing, and the call that shows it.
struct Doubt {
    fault: Fault,
    call: Option<Value>,
}

impl Lint {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        self.setup.check_alone()?;
        let gate = self
            .setup
            .build(&|builder| Ok(builder.engine(EngineKind::Native)))?;
        let host = self.setup.host()?;
        let progress = Progress::new();
        let disk = self.disk.then_some(host.as_ref() as &dyn Host);
        let found = gate.lint(host.as_ref(), disk, &progress.watcher());
        progress.clear();
        let mut found = found.map_err(|error| Failure::Invalid(error.to_string()))?;
        if let Some((server, tools)) = self.listing.tools()? {
            let listed = gate.lint_tools(host.as_ref(), server, &tools);
            found.extend(listed.map_err(|faults| refusal(&faults))?);
        }
        let warnings = gate
            .warnings()
            .iter()
            .cloned()
            .map(|fault| Doubt { fault, call: None });
        let doubts: Vec<Doubt> = warnings
            .chain(found.into_iter().map(|(file, finding)| {
                let Finding { diagnostic, call } = finding;
                let fault = Fault { file, diagnostic };
                Doubt { fault, call }
            }))
            .collect();
        if self.sarif {
            out.json(&sarif(&doubts))?;
        } else if out.human {
            for doubt in &doubts {
                out.text(&diagnosis(&doubt.fault))?;
                if let Some(call) = &doubt.call {
                    out.line(&format!(
                        "  {} {}",
                        paint(DIM, "such as"),
                        clean(&call.to_string())
                    ))?;
                }
                out.line("")?;
            }
            let sum = match doubts.len() {
                0 => paint(GREEN, "nothing is doubtful"),
                count => paint(YELLOW, &counted(count, "finding", "findings")),
            };
            out.line(&sum)?;
        } else {
            for doubt in &doubts {
                let mut line = json!(doubt.fault);
                if let (Some(members), Some(call)) = (line.as_object_mut(), &doubt.call) {
                    members.insert("call".to_owned(), call.clone());
                }
                out.json(&line)?;
            }
        }
        Ok(match self.deny_warnings && !doubts.is_empty() {
            true => Exit::Invalid,
            false => Exit::Allow,
        })
    }
}

/// The findings as a log of SARIF 2.1.0.
fn sarif(doubts: &[Doubt]) -> Value {
    let mut codes: Vec<Code> = Vec::new();
    for doubt in doubts {
        if !codes.contains(&doubt.fault.diagnostic.code) {
            codes.push(doubt.fault.diagnostic.code);
        }
    }
    let rules: Vec<Value> = codes.iter().map(|code| json!({"id": code.as_str()})).collect();
    let results: Vec<Value> = doubts.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "callgate", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "results": results,
        }],
    })
}

fn result(doubt: &Doubt) -> Value {
    let diagnostic = &doubt.fault.diagnostic;
    let mut text = format!("{}: {}", diagnostic.path, diagnostic.message);
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!(" (help: {help})"));
    }
    // A fault of the command line has no place in a file.
    let locations = doubt.fault.file.iter().map(|file| {
        let mut place = json!({"artifactLocation": {"uri": reference(file)}});
        if let Some(position) = diagnostic.position {
            place["region"] = json!({"startLine": position.line, "startColumn": position.column});
        }
        json!({"physicalLocation": place})
    });
    json!({
        "ruleId": diagnostic.code.as_str(),
        "level": "warning",
        "message": {"text": text},
        "locations": locations.collect::<Vec<_>>(),
        "properties": {"call": doubt.call},
    })
}

/// The path as a reference (RFC 3986, section 4.2), in which every other character than those of names is escaped.
fn reference(path: &str) -> String {
    let mut text = String::new();
    // A relative one must not begin with what could be a scheme.
    let first = path.split('/').next().unwrap_or_default();
    if first.contains(':') {
        text.push_str("./");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(byte.into())
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
