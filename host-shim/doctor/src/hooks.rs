//! The hooks of agents.

use callgate_host::StructuralRule;
use std::path::Path;
use std::time::Duration;

use callgate_hook::{Agent, Installed, SettingsOf, installed};

use super::documents::{self, Named};
use super::finding::{Finding, Standing};
use super::running::{Said, finished};
use super::written;
use super::{Caller, Place};

/// A hook answers within less, or denies.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// The rule that denies a write to the agent's settings.
const EXPECTED: &str = StructuralRule::ProtectedPath.as_str();

pub(super) fn look(place: &Place, caller: &dyn Caller) -> Vec<Finding> {
    Agent::ALL
        .iter()
        .flat_map(|agent| of_agent(agent, place, caller))
        .collect()
}

fn of_agent(agent: &'static Agent, place: &Place, caller: &dyn Caller) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut is_hooked = false;
    let user = (SettingsOf::User(&place.home), "--user ");
    let project = (SettingsOf::Project(&place.project), "");
    // From the home directory they are the same.
    let both = [user, project]
        .into_iter()
        .take(if place.home == place.project { 1 } else { 2 });
    for (of, flag) in both {
        match installed(agent, of) {
            Ok(None) => {}
            Ok(Some(hook)) => {
                is_hooked = true;
                found.extend(of_hook(agent, (&hook, flag), place, caller));
            }
            Err(reason) => found.push(Finding::wrong(agent.as_str(), reason)),
        }
    }
    if found.is_empty()
        && !is_hooked
        && let Some(program) = written::in_path(agent.program())
    {
        let message = format!(
            "it is there, `{}`, and no hook is in its settings",
            program.display()
        );
        let help = format!("`callgate hook install {agent} --bundle callgate.json --write` adds it");
        found.push(Finding::new(agent.as_str().to_owned(), Standing::Note, message).helped(help));
    }
    found
}

fn of_hook(
    agent: &'static Agent,
    (hook, flag): (&Installed, &str),
    place: &Place,
    caller: &dyn Caller,
) -> Vec<Finding> {
    let about = format!("{agent} ({})", hook.path.display());
    let repair = format!("`callgate hook install {agent} {flag}--bundle FILE --write` writes it anew");
    let mut found = Vec::new();
    for event in &hook.missing {
        let message = format!("the hook is not run at `{event}`");
        found.push(Finding::wrong(&about, message).helped(&*repair));
    }
    for event in &hook.open {
        let message = format!(
            "the entry at `{event}` is not the one that is written there: a call may pass if the hook fails"
        );
        found.push(Finding::wrong(&about, message).helped(&*repair));
    }
    for command in &hook.commands {
        found.extend(of_command(
            agent,
            &about,
            (command, hook),
            (place, caller),
            &repair,
        ));
    }
    found
}

fn of_command(
    agent: &'static Agent,
    about: &str,
    (command, hook): (&str, &Installed),
    (place, caller): (&Place, &dyn Caller),
    repair: &str,
) -> Vec<Finding> {
    let project = place.project.to_string_lossy();
    let command = match agent.project_variable() {
        Some(variable) => command.replace(&format!("\"${variable}\""), &format!("'{project}'")),
        None => command.to_owned(),
    };
    let Some(words) = caller.split(&command) else {
        let message = format!("the command is a line that only a shell can take apart: `{command}`");
        return vec![Finding::wrong(about, message).helped(repair)];
    };
    // What only looks like the hook is not started.
    let is_hook = |words: &[String]| words.starts_with(&["hook".to_owned(), agent.as_str().to_owned()]);
    let Some((first, arguments)) = words.split_first().filter(|(_, arguments)| is_hook(arguments)) else {
        let message = format!("the command is not `callgate hook {agent}`: `{command}`");
        return vec![Finding::wrong(about, message).helped(repair)];
    };
    let mut found = Vec::new();
    let program = match written::program(about, first, &hook.path, place, repair) {
        Ok(program) => program,
        Err(finding) => return vec![finding],
    };
    if !place.only_look {
        found.extend(written::version(about, &program, place, repair));
    }
    match Named::by(arguments, &place.project) {
        Some(bundle) => found.extend(documents::look(about, &bundle, caller)),
        None => found.push(Finding::wrong(about, "the command names no bundle".to_owned()).helped(repair)),
    }
    for above in Named::above(arguments, &place.project) {
        found.extend(documents::look(about, &above, caller));
    }
    if place.only_look {
        return found;
    }
    let asked = ask(agent, &program, arguments, &hook.path, place);
    found.push(match asked {
        Ok(said) => judged(about, &said, &hook.path),
        Err(error) => Finding::wrong(about, format!("the hook cannot be run: {error}")).helped(repair),
    });
    found
}

/// Asks the hook about a write to the settings that it is in. What it decides here is not of the log.
fn ask(
    agent: &'static Agent,
    program: &Path,
    arguments: &[String],
    settings: &Path,
    place: &Place,
) -> std::io::Result<Said> {
    let question = agent.question(&settings.to_string_lossy(), &place.project.to_string_lossy());
    let mut command = written::start(program, place);
    command
        .args(without(arguments, &["--audit", "--log", "--ask"]))
        .current_dir(&place.project);
    finished(command, question.as_bytes(), PATIENCE)
}

pub(super) fn judged(about: &str, said: &Said, settings: &Path) -> Finding {
    let answer = format!("{} {}", said.stdout, said.stderr);
    let took = said.took.as_millis();
    let asked = format!("a write to `{}`", settings.display());
    if answer.contains(EXPECTED) {
        let message = format!("{asked} is denied, in {took} ms (rule `{EXPECTED}`)");
        return Finding::new(about.to_owned(), Standing::Right, message);
    }
    let answer = answer.trim();
    let why = match said.code {
        Some(code) if answer.is_empty() => format!("nothing was said, and the exit code is {code}"),
        None => "the hook was killed".to_owned(),
        Some(_) => answer.chars().take(400).collect(),
    };
    Finding::wrong(
        about,
        format!("{asked} is not judged as it should be (rule `{EXPECTED}`): {why}"),
    )
}

/// The words without these flags and their values.
pub(super) fn without(words: &[String], flags: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if flags.contains(&&**word) {
            words.next();
        } else if !flags
            .iter()
            .any(|flag| word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
        {
            kept.push(word.clone());
        }
    }
    kept
}
