//! A host whose answers are remembered.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use callgate_engine::host::{Answer, GitIgnore, Host, HostError, Question, RealpathError};

/// How many answers are remembered; further questions are asked each time.
const MOST: usize = 100_000;

/// A host that is asked each distinct question once. An analysis judges thousands of calls on one disk, and sees it as it was
/// when it first asked; one evaluation has [`Facts`](callgate_engine::host::Facts) instead.
pub(super) struct Remembered<'h> {
    host: &'h dyn Host,
    /// [`Host::begin`].
    begun: Option<Box<dyn Host + Send>>,
    answers: RefCell<BTreeMap<Question, Answer>>,
}

impl<'h> Remembered<'h> {
    /// The host that is asked.
    pub(super) fn given(&self) -> &'h dyn Host {
        self.host
    }

    pub(super) fn new(host: &'h dyn Host) -> Self {
        Self {
            host,
            begun: host.begin(),
            answers: RefCell::default(),
        }
    }

    /// A failure is not an answer, so the host is asked again.
    fn ask<T: TryFrom<Answer, Error = Answer>>(&self, question: Question) -> Result<T, HostError> {
        let known = self.answers.borrow().get(&question).cloned();
        let answer = known.unwrap_or_else(|| {
            let host = self.begun.as_deref().map_or(self.host, |begun| begun);
            let answer = question.ask(host);
            let mut answers = self.answers.borrow_mut();
            if !matches!(answer, Answer::Failed(_)) && answers.len() < MOST {
                answers.insert(question, answer.clone());
            }
            answer
        });
        T::try_from(answer).map_err(|answer| {
            HostError::new(match answer {
                Answer::Failed(message) => message,
                other => format!("the host answered with {other:?}"),
            })
        })
    }
}

impl Host for Remembered<'_> {
    fn home_dir(&self) -> &str {
        self.host.home_dir()
    }

    fn current_dir(&self) -> &str {
        self.host.current_dir()
    }

    fn ignores_path_case(&self) -> bool {
        self.host.ignores_path_case()
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        let answer: Result<String, RealpathError> = self.ask(Question::realpath(path))?;
        answer.map(Cow::Owned)
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        self.ask(Question::read_link(path))
    }

    fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
        self.ask(Question::is_directory(path))
    }

    fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
        self.ask(Question::git_remote_urls(repo, remote))
    }

    fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
        self.ask(Question::git_default_remote_urls(repo))
    }

    fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
        self.ask(Question::git_url(repo, url))
    }

    fn git_branch(&self, repo: &str) -> Result<String, HostError> {
        self.ask(Question::git_branch(repo))
    }

    fn git_push_refs(
        &self,
        repo: &str,
        remote: &str,
        reference: &str,
    ) -> Result<Option<Vec<String>>, HostError> {
        self.ask(Question::git_push_refs(repo, remote, reference))
    }

    fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
        self.ask(Question::git_check_ignore(path))
    }

    fn role_value(&self, role: &str, step: &str, value: &str) -> Result<String, HostError> {
        self.ask(Question::role_value(role, step, value))
    }

    fn condition(&self, name: &str, subject: &str) -> Result<bool, HostError> {
        self.ask(Question::condition(name, subject))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use callgate_engine::config::DocumentKind;
    use callgate_engine::engine::{Engine, LinklessHost};

    /// A disk on which nothing exists, and what it was asked.
    struct Asked {
        own: LinklessHost,
        questions: RefCell<Vec<Question>>,
        fails: bool,
    }

    impl Asked {
        fn new(fails: bool) -> Self {
            Self {
                own: LinklessHost::new("/home/u", "/work"),
                questions: RefCell::default(),
                fails,
            }
        }

        fn note(&self, question: Question) -> Result<(), HostError> {
            self.questions.borrow_mut().push(question);
            match self.fails {
                true => Err(HostError::new("the disk is gone")),
                false => Ok(()),
            }
        }
    }

    impl Host for Asked {
        fn home_dir(&self) -> &str {
            self.own.home_dir()
        }

        fn current_dir(&self) -> &str {
            self.own.current_dir()
        }

        fn ignores_path_case(&self) -> bool {
            false
        }

        fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
            self.note(Question::realpath(path))?;
            match path {
                "/" => Ok("/".into()),
                _ => Err(RealpathError::NotFound),
            }
        }

        fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
            self.note(Question::read_link(path)).map(|()| None)
        }

        fn is_directory(&self, path: &str) -> Result<Option<bool>, HostError> {
            self.note(Question::is_directory(path)).map(|()| Some(false))
        }

        fn git_remote_urls(&self, repo: &str, remote: &str) -> Result<Vec<String>, HostError> {
            self.own.git_remote_urls(repo, remote)
        }

        fn git_default_remote_urls(&self, repo: &str) -> Result<Vec<String>, HostError> {
            self.own.git_default_remote_urls(repo)
        }

        fn git_url(&self, repo: &str, url: &str) -> Result<Vec<String>, HostError> {
            self.own.git_url(repo, url)
        }

        fn git_branch(&self, repo: &str) -> Result<String, HostError> {
            self.own.git_branch(repo)
        }

        fn git_push_refs(
            &self,
            repo: &str,
            remote: &str,
            reference: &str,
        ) -> Result<Option<Vec<String>>, HostError> {
            self.own.git_push_refs(repo, remote, reference)
        }

        fn git_check_ignore(&self, path: &str) -> Result<Option<GitIgnore>, HostError> {
            self.own.git_check_ignore(path)
        }
    }

    #[test]
    fn an_analysis_asks_each_question_once() {
        let host = Asked::new(false);
        let policy = r#"{"rules": [
            {"name": "d", "if": {"paths": {"roles": "write-path", "within": "/srv/a"}}, "then": "deny", "reason": ""},
            {"name": "a", "if": {"paths": {"roles": "read-path", "within": "/srv/b"}}, "then": "allow", "reason": ""}]}"#;
        let tool = |name: &str| {
            format!(r#"{{"toolName": "{name}", "args": {{"from": "read-path", "to": "write-path"}}}}"#)
        };
        let annotations = format!(
            r#"{{"servers": {{"s": {{"tools": [{}, {}]}}}}}}"#,
            tool("copy"),
            tool("move")
        );
        let engine = Engine::builder()
            .part(DocumentKind::Policy, policy)
            .part(DocumentKind::Annotations, &annotations)
            .part(DocumentKind::ProtectedPaths, r#"["~/.ssh", "/etc"]"#)
            .build(&host)
            .unwrap();
        host.questions.borrow_mut().clear();
        let analysis = Analysis::with_host(&engine, &host);
        for tool in ["copy", "move"] {
            // Each of the many calls in which the same paths stand would ask again.
            assert!(analysis.tool("s", tool).is_some_and(|tool| tool.calls > 1));
        }
        let asked = host.questions.borrow();
        let mut distinct = asked.clone();
        distinct.sort();
        distinct.dedup();
        assert!(asked.len() > 5, "{asked:?}");
        assert_eq!(asked.len(), distinct.len(), "{asked:?}");
    }

    #[test]
    fn a_host_that_fails_is_asked_again() {
        let failing = Asked::new(true);
        let host = Remembered::new(&failing);
        for _ in 0..2 {
            assert_eq!(
                host.realpath("/a"),
                Err(HostError::new("the disk is gone").into())
            );
            assert_eq!(host.read_link("/a"), Err(HostError::new("the disk is gone")));
        }
        assert_eq!(failing.questions.borrow().len(), 4);
    }
}
