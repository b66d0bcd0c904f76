//! The servers that an agent's configuration has, for who only reads it.

use std::path::Path;

use callgate_authoring::start::{Configured, How};
use callgate_doctor::Guarding;

use super::server::{Plan, Server, Way, leads};
use super::{edit, toml};
use crate::replace::read_file;
use crate::terminal::Failure;

/// Reads the servers of a configuration, in every form that `callgate wrap` reads. A guard before a server is looked through.
pub(crate) fn configured(file: &Path) -> Result<Vec<Configured>, Failure> {
    let place = file.display();
    let text = read_file(file).map_err(|error| Failure::Fault(format!("cannot read `{place}`: {error}")))?;
    let mut found = Vec::new();
    let plan = |server: &Server<'_>| {
        let how = match &server.way {
            Way::Program(words) => How::Program(behind_guard(words).to_vec()),
            Way::Url(address) => How::Url(address.url.clone()),
        };
        let name = server.name.to_owned();
        found.push(Configured { name, how: Ok(how) });
        Plan::Leave("".into())
    };
    let read = match file.extension().is_some_and(|extension| extension == "toml") {
        true => toml::wrap(&text, plan),
        false => edit::wrap(&text, plan),
    };
    let read = read.map_err(|reason| Failure::Invalid(format!("{place}: {reason}")))?;
    let unread = read.left.into_iter().filter(|(_, reason)| !reason.is_empty());
    found.extend(unread.map(|(name, reason)| Configured {
        name,
        how: Err(reason.into_owned()),
    }));
    Ok(found)
}

/// Reads the guards of a configuration; an error where it is none.
pub(crate) fn guarding(file: &Path) -> Result<Vec<Guarding>, Failure> {
    let place = file.display();
    let text = read_file(file).map_err(|error| Failure::Fault(format!("cannot read `{place}`: {error}")))?;
    let mut found = Vec::new();
    let plan = |server: &Server<'_>| {
        let guard = match &server.way {
            Way::Program(words) if is_guard(words) => Some(words),
            Way::Program(_) | Way::Url(_) => None,
        };
        let own = guard.map(|words| words.iter().take_while(|word| !leads(word)).cloned().collect());
        let server = server.name.to_owned();
        found.push(Guarding { server, guard: own });
        Plan::Leave("".into())
    };
    let read = match file.extension().is_some_and(|extension| extension == "toml") {
        true => toml::wrap(&text, plan),
        false => edit::wrap(&text, plan),
    };
    read.map_err(|reason| Failure::Invalid(format!("{place}: {reason}")))?;
    Ok(found)
}

/// Returns `true` if the command is that of a guard.
fn is_guard(words: &[String]) -> bool {
    matches!(words, [program, guard, ..] if guard == "guard" && program.rsplit('/').next() == Some("callgate"))
}

/// The command of the server that a guard stands before.
fn behind_guard(words: &[String]) -> &[String] {
    let at = words
        .iter()
        .position(|word| word == "--")
        .filter(|_| is_guard(words));
    at.and_then(|at| words.get(at + 1..)).unwrap_or(words)
}
