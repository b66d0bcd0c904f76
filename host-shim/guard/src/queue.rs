//! Questions to a person, and what was approved, as files that only this user can write.

mod requests;

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use callgate_engine::approval::{Approvals, Offer};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::folder::{Folder, NEW};
use callgate_host::clean;

pub(super) use requests::Unasked;
pub use requests::{Bound, Task, TaskStatus};

const APPROVALS: &str = "approvals.json";
const QUESTION: &str = ".question.json";
const ANSWER: &str = ".answer.json";
const USED: &str = ".used.json";

/// No question waits for as long.
const OLD: Duration = Duration::from_secs(2 * 86_400);

/// A folder of questions, answers and approvals, which guards and `callgate approvals` share.
#[derive(Clone, Debug)]
pub struct Queue {
    folder: Folder,
}

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Question {
    /// Its name, which no other question has, of whatever guard.
    pub id: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The rule that escalates.
    pub rule: String,
    /// The rule's reason.
    pub reason: String,
    /// The values under roles, as they came and canonical, and the arguments that no role says anything about.
    pub values: Value,
    /// Covered by an approval beyond this call; `None` if nothing can be covered.
    pub offer: Option<Offer>,
    /// The call belongs to a session of its client, so it can be approved for that session.
    pub has_session: bool,
    /// When it was asked.
    pub asked: Timestamp,
    /// Until when an answer counts.
    pub until: Timestamp,
    /// What an access request is about; `None` for a call that waits itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Bound>,
}

/// A person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The call may be made.
    Once,
    /// It may, and so may what the offer covers, until the client's session ends.
    Session,
    /// It may, and so may what the offer covers, from now on.
    Always,
    /// It may not.
    Deny,
}

/// How an answer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answerer {
    /// From another terminal: `callgate approvals`.
    Terminal,
    /// From the client, which has shown its person a form.
    Client,
    /// From a command that the guard has run.
    Command,
}

impl Answerer {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Terminal, Self::Client, Self::Command];

    /// `terminal`, `client` or `command`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Client => "client",
            Self::Command => "command",
        }
    }
}

impl Question {
    /// A line for each value, fit for a terminal or a form.
    pub fn touched(&self) -> Vec<String> {
        let values = self.values.as_array().into_iter().flatten();
        let line = |value: &Value| {
            let text = |name: &str| value.get(name).and_then(Value::as_str).map(clean);
            let argument = text("argument").unwrap_or_default();
            let touched = text("canonical").or_else(|| text("raw")).unwrap_or_default();
            match text("role") {
                Some(role) => format!("{argument} as {role}: {touched}"),
                None => format!("{argument}: {touched}"),
            }
        };
        values.map(line).collect()
    }
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    id: String,
    answer: Answer,
    by: Answerer,
}

impl Queue {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// It cannot be made, is not this user's, or others may write to it: whoever writes there approves calls.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<Self> {
        Folder::open(folder.into()).map(|folder| Self { folder })
    }

    /// Every question that waits for an answer, the oldest first. A file that is not a question is passed over.
    ///
    /// # Errors
    /// The folder cannot be read, or others may write to it.
    pub fn questions(&self) -> io::Result<Vec<Question>> {
        Ok(self.entries()?.0)
    }

    /// The names of files that have the name of a question and cannot be read as one.
    ///
    /// # Errors
    /// Those of [`Queue::questions`].
    pub fn unreadable(&self) -> io::Result<Vec<String>> {
        Ok(self.entries()?.1)
    }

    fn entries(&self) -> io::Result<(Vec<Question>, Vec<String>)> {
        self.folder.check()?;
        let (mut questions, mut unreadable) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(self.folder.path())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let Some(id) = name.strip_suffix(QUESTION) else {
                continue;
            };
            match self.read::<Question>(&name) {
                Ok(Some(question)) if question.id == id => questions.push(question),
                // It was withdrawn meanwhile.
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => unreadable.push(name),
            }
        }
        let now = Timestamp::now();
        questions.retain(|question| now < question.until && self.waits(&question.id));
        questions.sort_by(|one, other| (one.asked, &one.id).cmp(&(other.asked, &other.id)));
        unreadable.sort();
        Ok((questions, unreadable))
    }

    /// Answers a question; `always` adds what the offer covers to the approvals. The first answer counts: `false` if there
    /// is one already, no such question, or its time is over.
    ///
    /// # Errors
    /// The answer or the approval cannot be written, or the answer is for a session and the call belongs to none.
    pub fn answer(&self, id: &str, answer: Answer, by: Answerer) -> io::Result<bool> {
        let question = self.questions()?.into_iter().find(|question| question.id == id);
        let Some(question) = question.filter(|question| Timestamp::now() < question.until) else {
            return Ok(false);
        };
        if answer == Answer::Session && !question.has_session {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                "the call belongs to no session: it can be allowed once or always, or denied",
            ));
        }
        let answered = Answered {
            id: question.id.clone(),
            answer,
            by,
        };
        if !self.put_first(&format!("{}{ANSWER}", question.id), &answered)? {
            return Ok(false);
        }
        if let (Answer::Always, Some(offer)) = (answer, &question.offer) {
            let offer = Offer {
                created_at: Some(Timestamp::now().to_string()),
                source_escalation_id: Some(question.id.clone()),
                original_reason: Some(question.reason.clone()),
                ..offer.clone()
            };
            self.change(|approvals| approvals.add(&offer).map(|_| ()).map_err(io::Error::other))?;
        }
        Ok(true)
    }

    /// The approvals for good.
    ///
    /// # Errors
    /// The file cannot be read, or others may write it. That is not the same as no approvals.
    pub fn approvals(&self) -> io::Result<Approvals> {
        match self.folder.text(APPROVALS)? {
            Some(text) => Approvals::from_json(&text).map_err(io::Error::other),
            None => Ok(Approvals::default()),
        }
    }

    /// Takes an approval back. `false` if there is none with this id.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn revoke(&self, id: &str) -> io::Result<bool> {
        let mut is_there = false;
        self.change(|approvals| {
            is_there = approvals.remove(id);
            Ok(())
        })?;
        Ok(is_there)
    }

    pub(super) fn ask(&self, question: &Question) -> io::Result<()> {
        self.sweep()?;
        self.write(&format!("{}{QUESTION}", question.id), question)
    }

    /// The answer to a question, if there is one yet.
    pub(super) fn answer_to(&self, id: &str) -> io::Result<Option<(Answer, Answerer)>> {
        let answered: Option<Answered> = self.read(&format!("{id}{ANSWER}"))?;
        Ok(answered
            .filter(|answered| answered.id == id)
            .map(|answered| (answered.answer, answered.by)))
    }

    /// Returns `true` if a question still waits.
    pub(super) fn waits(&self, id: &str) -> bool {
        let is_there = |suffix: &str| self.folder.path().join(format!("{id}{suffix}")).exists();
        is_there(QUESTION) && !is_there(ANSWER)
    }

    /// Removes a question and its answer.
    pub(super) fn withdraw(&self, id: &str) {
        for suffix in [QUESTION, ANSWER, USED] {
            // A file that is not there need not be removed, and one that cannot be is over with its time.
            let _ = fs::remove_file(self.folder.path().join(format!("{id}{suffix}")));
        }
    }

    /// Removes the questions of guards that were ended before they could: their time is over for long.
    fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.folder.path())? {
            let entry = entry?;
            let name = entry.file_name();
            let is_old = || -> io::Result<bool> {
                let age = SystemTime::now().duration_since(entry.metadata()?.modified()?);
                Ok(age.is_ok_and(|age| age > OLD))
            };
            let name = name.to_str().unwrap_or_default();
            let is_of_a_question = [QUESTION, ANSWER, USED, NEW]
                .iter()
                .any(|suffix| name.ends_with(suffix));
            // Another guard may do the same.
            if is_of_a_question && is_old().unwrap_or_default() {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Approvals) -> io::Result<()>) -> io::Result<()> {
        let _lock = self.folder.lock("lock")?;
        let mut approvals = self.approvals()?;
        change(&mut approvals)?;
        self.folder.put(APPROVALS, &approvals.to_json())
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, name: &str) -> io::Result<Option<T>> {
        let text = self.folder.text(name)?;
        text.map(|text| serde_json::from_str(&text).map_err(io::Error::other))
            .transpose()
    }

    fn write(&self, name: &str, what: &impl Serialize) -> io::Result<()> {
        self.folder.put(name, &serde_json::to_string(what)?)
    }

    /// The same, unless there is one: `false`.
    fn put_first(&self, name: &str, what: &impl Serialize) -> io::Result<bool> {
        let new = self.folder.written(name, &serde_json::to_string(what)?)?;
        let linked = fs::hard_link(&new, self.folder.path().join(name));
        // A file that stays behind is in nobody's way.
        let _ = fs::remove_file(new);
        match linked {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use serde_json::json;

    use super::*;

    fn question(id: &str) -> Question {
        let asked = Timestamp::now();
        Question {
            id: id.to_owned(),
            server: "s".to_owned(),
            tool: "t".to_owned(),
            rule: "r".to_owned(),
            reason: "Why".to_owned(),
            values: json!([]),
            offer: None,
            has_session: false,
            asked,
            until: asked.saturating_add(Duration::from_secs(600)).unwrap(),
            request: None,
        }
    }

    #[test]
    fn a_file_that_is_not_a_question_stands_in_the_way_of_none() {
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::open(folder.path().join("state")).unwrap();
        queue.ask(&question("good")).unwrap();
        let path = |name: &str| queue.folder.path().join(format!("{name}{QUESTION}"));
        fs::write(path("half"), "{").unwrap();
        fs::write(path("bytes"), [0xff]).unwrap();
        fs::copy(path("good"), path("other")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        std::os::unix::fs::symlink(path("good"), path("link")).unwrap();
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::from(0o600), 0).unwrap();
        assert_eq!(queue.questions().unwrap(), [question_of(&queue, "good")]);
        let bad = ["bytes", "folder", "half", "link", "other", "pipe"];
        let bad: Vec<String> = bad.iter().map(|name| format!("{name}{QUESTION}")).collect();
        assert_eq!(queue.unreadable().unwrap(), bad);
        assert!(queue.answer("good", Answer::Once, Answerer::Terminal).unwrap());
        // The same of an answer that nobody can have given.
        mknodat(
            CWD,
            queue.folder.path().join(format!("other{ANSWER}")),
            FileType::Fifo,
            Mode::from(0o600),
            0,
        )
        .unwrap();
        assert!(queue.answer_to("other").is_err());
    }

    fn question_of(queue: &Queue, id: &str) -> Question {
        queue.read(&format!("{id}{QUESTION}")).unwrap().unwrap()
    }

    #[test]
    fn the_folder_is_looked_at_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let queue = Queue::open(folder.path().join("state")).unwrap();
        queue.ask(&question("a")).unwrap();
        queue.answer("a", Answer::Once, Answerer::Terminal).unwrap();
        assert!(queue.answer_to("a").unwrap().is_some());
        let allow =
            |mode| fs::set_permissions(queue.folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        allow(0o777);
        assert!(queue.answer_to("a").is_err());
        assert!(queue.approvals().is_err());
        assert!(queue.ask(&question("b")).is_err());
        assert!(queue.questions().is_err());
        allow(0o700);
        // Nor is a file believed that others may write.
        let answer = queue.folder.path().join(format!("a{ANSWER}"));
        fs::set_permissions(answer, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(queue.answer_to("a").is_err());
    }
}
