//! The guards before servers of MCP.

use callgate_host::StructuralRule;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::documents::{self, Named};
use super::finding::{Finding, Standing};
use super::hooks::without;
use super::running::{Said, finished};
use super::stand_in::REACHED;
use super::written;
use super::{Caller, Guarding, Place, VERSION};

/// The configurations of agents below the user's home directory.
const OF_USER: [&str; 9] = [
    ".claude.json",
    ".codex/config.toml",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".copilot/mcp-config.json",
    ".codeium/windsurf/mcp_config.json",
    ".config/Claude/claude_desktop_config.json",
    ".config/Code/User/mcp.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
];

/// And below a project.
const OF_PROJECT: [&str; 6] = [
    ".mcp.json",
    ".codex/config.toml",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".vscode/mcp.json",
    "opencode.json",
];

/// A guard answers within less.
const PATIENCE: Duration = Duration::from_secs(30);

/// The tool that no server has.
const TOOL: &str = "callgate-doctor";

pub(super) fn look(place: &Place, caller: &dyn Caller) -> Vec<Finding> {
    let user = OF_USER.iter().map(|name| place.home.join(name));
    let project = OF_PROJECT.iter().map(|name| place.project.join(name));
    let mut files: Vec<PathBuf> = user.chain(project).filter(|file| file.is_file()).collect();
    files.dedup();
    files
        .iter()
        .flat_map(|file| of_file(file, place, caller))
        .collect()
}

fn of_file(file: &Path, place: &Place, caller: &dyn Caller) -> Vec<Finding> {
    let shown = file.display().to_string();
    let is_wrapped = caller.beside(file).is_file();
    let servers = match caller.guarding(file) {
        Ok(servers) => servers,
        // Many of these files have other settings too, and no server.
        Err(_) if !is_wrapped => return Vec::new(),
        Err(why) => return vec![Finding::wrong(&shown, why)],
    };
    let mut found = Vec::new();
    for Guarding { server, guard } in &servers {
        match guard {
            Some(guard) => found.extend(of_guard(file, (server, guard), place, caller)),
            None => {
                let about = format!("{server} ({shown})");
                let message = "no guard is before this server".to_owned();
                let help = format!(
                    "`callgate wrap {shown}` puts one before it, once the bundle annotates its tools"
                );
                found.push(Finding::new(about, Standing::Note, message).helped(help));
            }
        }
    }
    found
}

fn of_guard(
    file: &Path,
    (server, guard): (&str, &[String]),
    place: &Place,
    caller: &dyn Caller,
) -> Vec<Finding> {
    let shown = file.display();
    let about = format!("{server} ({shown})");
    let repair = format!("`callgate wrap {shown} --bundle FILE` writes it anew");
    let project = place.project.to_string_lossy();
    // The variables of agents that stand for the project's folder.
    let plain = |word: &String| {
        let word = word.replace("${CLAUDE_PROJECT_DIR:-.}", &project);
        word.replace("${workspaceFolder}", &project)
    };
    let words: Vec<String> = guard.iter().map(plain).collect();
    let Some((first, arguments)) = words.split_first() else {
        return Vec::new();
    };
    if arguments.first().is_none_or(|word| word != "guard") {
        let message = format!("the command is not `callgate guard`: `{}`", words.join(" "));
        return vec![Finding::wrong(&about, message).helped(repair)];
    }
    let mut found = Vec::new();
    let program = match written::program(&about, first, file, place, &repair) {
        Ok(program) => program,
        Err(finding) => return vec![finding],
    };
    if !place.only_look {
        found.extend(written::version(&about, &program, place, &repair));
    }
    let bundle = Named::by(arguments, &place.project);
    if let Some(bundle) = &bundle {
        found.extend(documents::look(&about, bundle, caller));
    }
    for above in Named::above(arguments, &place.project) {
        found.extend(documents::look(&about, &above, caller));
    }
    if arguments
        .iter()
        .any(|word| word == "--wrapped" || word.starts_with("--wrapped="))
        && !caller.beside(file).is_file()
    {
        let message = format!(
            "`{}` is gone, so that `callgate wrap --undo` cannot bring back what was there",
            caller.beside(file).display()
        );
        found.push(Finding::new(about.clone(), Standing::Doubtful, message));
    }
    if arguments.iter().any(|word| word == "--observe") {
        let message = "the guard only observes: every call passes".to_owned();
        found.push(Finding::new(about, Standing::Doubtful, message));
        return found;
    }
    if place.only_look {
        return found;
    }
    let is_trusted = bundle.is_some_and(|bundle| trusts(&bundle, server, caller));
    found.push(match ask(&program, arguments, place) {
        Ok(said) => judged(about, &said, is_trusted),
        Err(error) => Finding::wrong(&about, format!("the guard cannot be run: {error}")).helped(repair),
    });
    found
}

/// Puts the guard before a server that has no tool, and calls one. What it decides here is not of the log.
fn ask(program: &Path, arguments: &[String], place: &Place) -> io::Result<Said> {
    let mut command = written::start(program, place);
    command
        .args(without(arguments, &["--audit", "--ask"]))
        .arg("--")
        .arg(&place.own);
    command.args(["doctor", "--stand-in"]).current_dir(&place.project);
    let client = json!({"name": "callgate-doctor", "version": VERSION});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": TOOL, "arguments": {}}}),
    ];
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    finished(command, input.as_bytes(), PATIENCE)
}

fn judged(about: String, said: &Said, is_trusted: bool) -> Finding {
    let lines = said.stdout.lines();
    let answers: Vec<Value> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    let answer = answers
        .iter()
        .find(|answer| answer["id"] == 2)
        .map(Value::to_string);
    match answer {
        Some(answer) if answer.contains(REACHED) && is_trusted => Finding::new(
            about,
            Standing::Note,
            "the bundle trusts this server: every call passes".to_owned(),
        ),
        Some(answer) if answer.contains(REACHED) => Finding::wrong(
            &about,
            "a call of a tool that nobody annotated reaches the server".to_owned(),
        ),
        Some(answer) if answer.contains(StructuralRule::UnknownTool.as_str()) => {
            let took = said.took.as_millis();
            let message = format!(
                "a call of a tool that nobody annotated is denied, in {took} ms (rule `structural-unknown-tool`)"
            );
            Finding::new(about, Standing::Right, message)
        }
        Some(answer) => {
            let shown: String = answer.chars().take(400).collect();
            Finding::wrong(&about, format!("a call is not judged as it should be: {shown}"))
        }
        None => {
            let why: String = said.stderr.trim().chars().take(400).collect();
            Finding::wrong(&about, format!("the guard does not answer a call: {why}"))
        }
    }
}

fn trusts(bundle: &Named, server: &str, caller: &dyn Caller) -> bool {
    let documents = bundle.documents(caller).unwrap_or_default();
    let trusted = documents
        .iter()
        .find(|document| document.part.as_str() == "trustedServers");
    let servers = trusted.and_then(|document| serde_json::from_str::<Vec<String>>(&document.text).ok());
    servers.is_some_and(|servers| servers.iter().any(|one| one == server))
}
