//! Questions to a person, and what was approved, as files that only this user can write.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use callgate_core::{Approvals, Offer};
use jiff::Timestamp;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use serde_json::Value;

const APPROVALS: &str = "approvals.json";
const QUESTION: &str = ".question.json";
const ANSWER: &str = ".answer.json";

/// Bytes of the longest file that is read.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// A folder of questions, answers and approvals, which guards and `callgate approvals` share.
#[derive(Clone, Debug)]
pub struct Queue {
    folder: PathBuf,
}

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
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
    /// What would be touched: the values under roles, as they came and canonical.
    pub values: Value,
    /// What an approval beyond this call would cover; `None` if nothing can be covered.
    pub offer: Option<Offer>,
    /// When it was asked.
    pub asked: Timestamp,
    /// Until when an answer counts.
    pub until: Timestamp,
}

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The call may be made.
    Once,
    /// It may, and so may what the offer covers, until the guard ends.
    Session,
    /// It may, and so may what the offer covers, from now on.
    Always,
    /// It may not.
    Deny,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    id: String,
    answer: Answer,
}

impl Queue {
    /// Opens the folder, or makes it.
    ///
    /// # Errors
    /// It cannot be made, is not this user's, or others may write to it: whoever writes there approves calls.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let found = fs::metadata(&folder)?;
        if found.uid() != geteuid().as_raw() || found.mode() & 0o022 != 0 {
            return Err(io::Error::new(
                ErrorKind::PermissionDenied,
                "the folder is not this user's alone to write to",
            ));
        }
        Ok(Self { folder })
    }

    /// Every question that is not answered, the oldest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn questions(&self) -> io::Result<Vec<Question>> {
        let mut questions = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let Some(id) = name.to_str().and_then(|name| name.strip_suffix(QUESTION)) else {
                continue;
            };
            // It may have been withdrawn meanwhile.
            let question: Option<Question> = self.read(&format!("{id}{QUESTION}"))?;
            let question = question.filter(|question| question.id == id);
            questions.extend(
                question.filter(|question| !self.folder.join(format!("{}{ANSWER}", question.id)).exists()),
            );
        }
        questions.sort_by(|one, other| (one.asked, &one.id).cmp(&(other.asked, &other.id)));
        Ok(questions)
    }

    /// Answers a question; `always` adds what the offer covers to the approvals. `false` if there is no such question, or its
    /// time is over.
    ///
    /// # Errors
    /// The answer or the approval cannot be written.
    pub fn answer(&self, id: &str, answer: Answer) -> io::Result<bool> {
        let question = self.questions()?.into_iter().find(|question| question.id == id);
        let Some(question) = question.filter(|question| Timestamp::now() < question.until) else {
            return Ok(false);
        };
        if let (Answer::Always, Some(offer)) = (answer, &question.offer) {
            self.change(|approvals| approvals.add(offer).map(|_| ()).map_err(io::Error::other))?;
        }
        let id = question.id;
        self.write(
            &format!("{id}{ANSWER}"),
            &Answered {
                id: id.clone(),
                answer,
            },
        )?;
        Ok(true)
    }

    /// What was approved for good.
    ///
    /// # Errors
    /// The file cannot be read. That is not the same as no approvals.
    pub fn approvals(&self) -> io::Result<Approvals> {
        match self.text(APPROVALS)? {
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
        self.write(&format!("{}{QUESTION}", question.id), question)
    }

    /// The answer to a question, if there is one yet.
    pub(super) fn answer_to(&self, id: &str) -> io::Result<Option<Answer>> {
        let answered: Option<Answered> = self.read(&format!("{id}{ANSWER}"))?;
        Ok(answered
            .filter(|answered| answered.id == id)
            .map(|answered| answered.answer))
    }

    /// Removes a question and its answer.
    pub(super) fn withdraw(&self, id: &str) {
        for suffix in [QUESTION, ANSWER] {
            // What is not there need not be removed, and what cannot be is over with its time.
            let _ = fs::remove_file(self.folder.join(format!("{id}{suffix}")));
        }
    }

    fn change(&self, change: impl FnOnce(&mut Approvals) -> io::Result<()>) -> io::Result<()> {
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.folder.join("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        let mut approvals = self.approvals()?;
        change(&mut approvals)?;
        self.put(APPROVALS, &approvals.to_json())
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, name: &str) -> io::Result<Option<T>> {
        let text = self.text(name)?;
        text.map(|text| serde_json::from_str(&text).map_err(io::Error::other))
            .transpose()
    }

    fn text(&self, name: &str) -> io::Result<Option<String>> {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(self.folder.join(name));
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text)?;
        Ok(Some(text))
    }

    fn write(&self, name: &str, what: &impl Serialize) -> io::Result<()> {
        self.put(name, &serde_json::to_string(what)?)
    }

    /// Puts a whole file there, or none.
    fn put(&self, name: &str, text: &str) -> io::Result<()> {
        let new = self.folder.join(format!("{name}.{}.new", std::process::id()));
        let written = create(&new).and_then(|mut file| file.write_all(text.as_bytes()));
        written.and_then(|()| fs::rename(&new, self.folder.join(name)))
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
}
