//! The command line of a guard, as it is written into a configuration.

use super::server::{Guarded, OBSERVES, Plan, Server, Way, leads};

/// The flags that every guard of a file is started with.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) program: String,
    pub(super) bundle: String,
    /// The flags that say whose signed bundles are used.
    pub(super) pinned: Vec<String>,
    pub(super) audit: Option<String>,
    pub(super) observe: bool,
    /// How many seconds a person has for an answer.
    pub(super) ask: Option<u64>,
    /// The file that they are written into.
    pub(super) wrapped: String,
}

impl Arguments {
    /// The guard before a server, without what leads to it.
    pub(super) fn of(&self, server: &Server<'_>) -> Vec<String> {
        let mut words = vec![&*self.program, "guard", "--bundle", &self.bundle];
        words.extend(self.pinned.iter().map(String::as_str));
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
        let seconds = self.ask.map(|seconds| seconds.to_string());
        if let Some(seconds) = &seconds {
            words.extend(["--ask", seconds]);
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
        Self::is_guard(guard, server, file).then_some(guard)
    }

    /// Returns `true` if the words are a guard of `file` before the server. It may have flags that somebody added by hand.
    pub(super) fn is_guard(words: &[String], server: &Server<'_>, file: &str) -> bool {
        let [_, command, flags @ ..] = words else {
            return false;
        };
        let has = |flag: &str, value: &str| {
            let joined = flags.iter().any(|word| {
                word.strip_prefix(flag)
                    .is_some_and(|rest| rest.strip_prefix('=') == Some(value))
            });
            joined || flags.windows(2).any(|pair| pair == [flag, value])
        };
        command == "guard"
            && !flags.iter().any(|word| leads(word))
            && has("--server", server.name)
            && has("--wrapped", file)
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
            pinned: Vec::new(),
            audit: None,
            observe,
            ask: None,
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
    fn a_guard_is_known_by_its_server_and_its_file() {
        for name in ["s", "--wrapped", "--audit", ""] {
            let server = Server {
                name,
                way: Way::Program(Vec::new()),
            };
            for (audit, observe, ask) in [(None, false, None), (Some("/l".to_owned()), true, Some(5))] {
                let arguments = Arguments {
                    program: "/bin/callgate".to_owned(),
                    bundle: "/b".to_owned(),
                    pinned: Vec::new(),
                    audit,
                    observe,
                    ask,
                    wrapped: "/f".to_owned(),
                };
                let words = arguments.of(&server);
                let is_guard = |words: &[String]| Arguments::is_guard(words, &server, "/f");
                let with = |more: &[&str]| {
                    let more = more.iter().map(|&word| word.to_owned());
                    [words.clone(), more.collect()].concat()
                };
                assert!(is_guard(&words), "{words:?}");
                assert!(is_guard(&with(&["--ask", "120"])), "a flag by hand");
                assert!(!is_guard(&with(&["--", "cat"])), "what leads to a server");
                assert!(!Arguments::is_guard(&words, &server, "/other"));
                let other = Server {
                    name: "other",
                    way: Way::Program(Vec::new()),
                };
                assert!(!Arguments::is_guard(&words, &other, "/f"));
                assert!(!is_guard(&words[1..]), "no program");
            }
        }
    }
}
