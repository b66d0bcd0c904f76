//! The command line of a guard, as it is written into a configuration.

use super::server::{Guarded, OBSERVES, Plan, Server, Way, leads};

/// The flags that every guard of a file is started with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) program: String,
    pub(super) bundle: String,
    pub(super) audit: Option<String>,
    pub(super) observe: bool,
    /// The file that they are written into.
    pub(super) wrapped: String,
}

impl Arguments {
    /// The guard before a server, without what leads to it.
    pub(super) fn of(&self, server: &Server<'_>) -> Vec<String> {
        let mut words = vec![&*self.program, "guard", "--bundle", &self.bundle];
        // A name may begin as a flag does.
        let named = format!("--server={}", server.name);
        match server.name.starts_with('-') {
            true => words.push(&named),
            false => words.extend(["--server", server.name]),
        }
        if let Some(audit) = &self.audit {
            words.extend(["--audit", audit]);
        }
        if self.observe {
            words.push("--observe");
        }
        words.extend(["--wrapped", &self.wrapped]);
        words.into_iter().map(str::to_owned).collect()
    }

    /// The plan for a server that is to be guarded. A guard that may be anybody's is a program like any other, whatever its
    /// name; one of this program that does something else is not taken for this one.
    pub(super) fn plan(&self, server: &Server<'_>) -> Plan {
        let guard = self.of(server);
        let command = match &server.way {
            Way::Program(command) if command.starts_with(&guard[..2]) => command,
            way => return Plan::Guard(Guarded::before(way, guard)),
        };
        let is_led = |rest: &[String]| rest.first().is_some_and(|word| leads(word));
        if command.strip_prefix(&*guard).is_some_and(is_led) {
            return Plan::Already;
        }
        let mut flags = command.iter().take_while(|word| *word != "--");
        match flags.any(|word| word == "--observe") {
            true => Plan::Leave(OBSERVES.into()),
            false => Plan::Differs,
        }
    }

    /// The guard of `file` before a server, without what leads to the server; `None` if there is none.
    pub(super) fn guard_of<'s>(server: &'s Server<'_>, file: &str) -> Option<&'s [String]> {
        let Way::Program(command) = &server.way else {
            return None;
        };
        let guard = command.get(..command.iter().position(|word| leads(word))?)?;
        (Self::read(guard, server)?.wrapped == file).then_some(guard)
    }

    /// Reads what [`of`](Self::of) writes for the server, and nothing else.
    pub(super) fn read(words: &[String], server: &Server<'_>) -> Option<Self> {
        let value = |flag: &str| {
            let at = words.iter().position(|word| word == flag)?;
            words.get(at + 1).cloned()
        };
        let read = Self {
            program: words.first()?.clone(),
            bundle: value("--bundle")?,
            audit: value("--audit"),
            observe: words.iter().any(|word| word == "--observe"),
            wrapped: value("--wrapped")?,
        };
        (read.of(server) == words).then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrap::server::Way;

    #[test]
    fn only_a_guard_as_this_one_is_taken_for_it() {
        let guard = |observe| Arguments {
            program: "/bin/callgate".to_owned(),
            bundle: "/b".to_owned(),
            audit: None,
            observe,
            wrapped: "/f".to_owned(),
        };
        let check = |observe, command: &[&str], expected: &str| {
            let words: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
            let server = Server {
                name: "s",
                way: Way::Program(words.clone()),
            };
            let found = match guard(observe).plan(&server) {
                Plan::Guard(guarded) => {
                    assert!(guarded.command.ends_with(&words));
                    "guard"
                }
                Plan::Already => "already",
                Plan::Differs => "differs",
                Plan::Leave(reason) => {
                    assert_eq!(reason, expected);
                    return;
                }
            };
            assert_eq!(found, expected, "{command:?}");
        };
        let own = ["/bin/callgate", "guard", "--bundle", "/b", "--server", "s"];
        let with = |more: &[&'static str]| [&own, more].concat();
        check(false, &with(&["--wrapped", "/f", "--", "cat"]), "already");
        check(false, &with(&["--wrapped", "/f", "--url", "http://x"]), "already");
        check(
            false,
            &with(&["--observe", "--wrapped", "/f", "--", "cat"]),
            OBSERVES,
        );
        check(
            true,
            &with(&["--observe", "--wrapped", "/f", "--", "cat"]),
            "already",
        );
        // A flag of the server is not one of the guard.
        check(
            false,
            &with(&["--wrapped", "/f", "--", "cat", "--observe"]),
            "already",
        );
        for more in [
            &["--", "cat"][..],
            &["--wrapped", "/other", "--", "cat"],
            &["--wrapped", "/f", "--trust", "s", "--", "cat"],
        ] {
            check(false, &with(more), "differs");
        }
        check(true, &with(&["--wrapped", "/f", "--", "cat"]), "differs");
        for program in ["callgate", "./callgate", "/tmp/callgate", "/bin/callgate2"] {
            let mut command = with(&["--wrapped", "/f", "--", "cat"]);
            command[0] = program;
            check(false, &command, "guard");
        }
        check(false, &["/bin/callgate", "eval"], "guard");
        check(false, &["/bin/callgate"], "guard");
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        for name in ["s", "--wrapped", "--audit", ""] {
            let server = Server {
                name,
                way: Way::Program(Vec::new()),
            };
            for (audit, observe) in [(None, false), (Some("/l".to_owned()), true)] {
                let arguments = Arguments {
                    program: "/bin/callgate".to_owned(),
                    bundle: "/b".to_owned(),
                    audit,
                    observe,
                    wrapped: "/f".to_owned(),
                };
                let words = arguments.of(&server);
                assert_eq!(Arguments::read(&words, &server), Some(arguments), "{words:?}");
                for more in [&["--trust", "s"][..], &["--", "cat"], &["--observe"]] {
                    let more = more.iter().map(|&word| word.to_owned());
                    let more = [words.clone(), more.collect()].concat();
                    assert_eq!(Arguments::read(&more, &server), None, "{more:?}");
                }
            }
        }
    }
}
