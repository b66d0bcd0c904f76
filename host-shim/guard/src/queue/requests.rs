//! Access requests: questions about calls that do not wait, and what a person has said to them, until that ends.

use std::fs::File;
use std::io::{self, Read as _};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Answer, Answerer, QUESTION, Question, Queue, USED};
use crate::digest::hex;

const KEY: &str = "key";

/// The beginning of the name of a request, and how many digits follow it.
const PREFIX: &str = "arq-";
const DIGITS: usize = 32;

/// How many requests are kept of one subject, and of all.
const OF_SUBJECT: usize = 64;
const OF_ALL: usize = 1024;

/// What an access request is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Bound {
    /// Who has asked, and may use the approval: the name of a token.
    pub subject: Option<String>,
    /// For whom, as whoever asks says it.
    pub whom: String,
    /// The digest of everything that the question names.
    pub call: String,
    /// When an approval ends.
    pub ends: Timestamp,
    /// Digits of who asks and of the name by which the same request is known again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What has become of an access request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name, which nobody can guess.
    pub id: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// When an approval ends, and the request is forgotten.
    pub ends: Timestamp,
}

/// Where an access request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    /// A person has not answered.
    Pending,
    /// The call may be made.
    Approved,
    /// It may not.
    Denied,
    /// Nobody has answered in time.
    Expired,
}

/// Why no person is asked.
#[derive(Debug)]
pub enum Unasked {
    /// Too many requests are open.
    Full,
    /// The folder cannot be used.
    Unwritten(io::Error),
}

impl Queue {
    /// The key of everybody who uses the folder. It is made where there is none.
    pub(crate) fn key(&self) -> io::Result<[u8; 32]> {
        let read = |text: String| {
            let digits: String = serde_json::from_str(&text).map_err(io::Error::other)?;
            let mut key = [0; 32];
            for (byte, two) in key.iter_mut().zip(digits.as_bytes().chunks(2)) {
                let two = std::str::from_utf8(two).map_err(io::Error::other)?;
                *byte = u8::from_str_radix(two, 16).map_err(io::Error::other)?;
            }
            match digits.len() == 2 * key.len() {
                true => Ok(key),
                false => Err(io::Error::other("the file `key` is not a key")),
            }
        };
        if let Some(text) = self.folder.text(KEY)? {
            return read(text);
        }
        let mut key = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        // Somebody else may be faster.
        self.put_first(KEY, &hex(&key))?;
        let text = self.folder.text(KEY)?;
        read(text.ok_or(io::ErrorKind::NotFound)?)
    }

    /// The name of a request, from digits that nobody can guess.
    pub(crate) fn request_id(digits: &str) -> String {
        let end = digits.len().min(DIGITS);
        format!("{PREFIX}{}", digits.get(..end).unwrap_or_default())
    }

    /// A request that has not ended. What is no name of one names no file.
    pub(crate) fn request(&self, id: &str) -> io::Result<Option<(Question, Bound)>> {
        let digits = id.strip_prefix(PREFIX).unwrap_or_default();
        if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let found: Option<Question> = self.read(&format!("{id}{QUESTION}"))?;
        Ok(found.filter(|question| question.id == id).and_then(|question| {
            let bound = question.request.clone()?;
            (Timestamp::now() < bound.ends).then_some((question, bound))
        }))
    }

    /// What has become of a request; `None` if it has ended, or nobody of this name has made it.
    ///
    /// # Errors
    /// The folder cannot be read, or others may write to it.
    pub fn task(&self, id: &str, subject: Option<&str>) -> io::Result<Option<Task>> {
        let found = self.request(id)?;
        let Some((question, bound)) = found.filter(|(_, bound)| bound.subject.as_deref() == subject) else {
            return Ok(None);
        };
        let status = match self.answer_to(id)? {
            Some((Answer::Deny, _)) => TaskStatus::Denied,
            Some((Answer::Once | Answer::Session | Answer::Always, _)) => TaskStatus::Approved,
            None if Timestamp::now() < question.until => TaskStatus::Pending,
            None => TaskStatus::Expired,
        };
        Ok(Some(Task {
            id: question.id,
            status,
            ends: bound.ends,
        }))
    }

    /// Takes the approval of one call: `None` if somebody has taken it before, or the approval for good that it has become was revoked.
    pub(crate) fn take(&self, question: &Question) -> io::Result<Option<Answerer>> {
        let id = &question.id;
        let by = match self.answer_to(id)? {
            Some((Answer::Deny, _)) | None => return Ok(None),
            Some((Answer::Always, _)) if question.offer.is_some() && !self.is_kept(id)? => return Ok(None),
            Some((Answer::Once | Answer::Session | Answer::Always, by)) => by,
        };
        Ok(self.put_first(&format!("{id}{USED}"), id)?.then_some(by))
    }

    /// Returns `true` if the approval for good is still there that a question has become.
    fn is_kept(&self, id: &str) -> io::Result<bool> {
        let approvals = self.approvals()?;
        let mut sources = approvals
            .list()
            .iter()
            .map(|approval| &approval.offer().source_escalation_id);
        Ok(sources.any(|source| source.as_deref() == Some(id)))
    }

    /// One program at a time takes requests, so that their names and their number are what they were when they were looked at.
    pub(crate) fn requesting(&self) -> io::Result<File> {
        self.folder.lock("requests.lock")
    }

    /// The request that was made under a key, and forgets those that have ended. A request's own name is never used again: what a
    /// person answers is the question that they saw.
    ///
    /// # Errors
    /// There is no such request, and no room for one more of the subject.
    pub(crate) fn known(
        &self,
        key: Option<&str>,
        subject: Option<&str>,
    ) -> Result<Option<Question>, Unasked> {
        let now = Timestamp::now();
        let (mut own, mut all) = (0, 0);
        for id in self.names().map_err(Unasked::Unwritten)? {
            let found: Option<Question> = self.read(&format!("{id}{QUESTION}")).ok().flatten();
            let Some((question, bound)) = found.and_then(|question| {
                let bound = question.request.clone()?;
                Some((question, bound))
            }) else {
                continue;
            };
            if now >= bound.ends {
                self.withdraw(&id);
                continue;
            }
            if key.is_some() && bound.key.as_deref() == key {
                return Ok(Some(question));
            }
            all += 1;
            own += usize::from(bound.subject.as_deref() == subject);
        }
        match own < OF_SUBJECT && all < OF_ALL {
            true => Ok(None),
            false => Err(Unasked::Full),
        }
    }

    /// The names of questions that begin as those of requests do.
    fn names(&self) -> io::Result<Vec<String>> {
        self.folder.check()?;
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.folder.path())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let id = name.strip_suffix(QUESTION).filter(|id| id.starts_with(PREFIX));
            names.extend(id.map(str::to_owned));
        }
        Ok(names)
    }
}
