//! The command line of a guard, as it is written into a configuration.

use super::server::Server;

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
