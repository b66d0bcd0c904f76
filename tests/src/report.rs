//! The report of a replay: counts and disagreements.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// How the cases of a file, or of a tag, ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Answered as required.
    pub passed: usize,
    /// Answered differently.
    pub failed: usize,
    /// Not asked: for another kind of host, or needs something that this one does not offer.
    pub not_offered: usize,
    /// Of level `should`, answered differently, and listed with the reason.
    pub departed: usize,
    /// Among those passed: tagged with a weakness, but answered as recorded.
    pub as_recorded: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.not_offered += other.not_offered;
        self.departed += other.departed;
        self.as_recorded += other.as_recorded;
    }

    pub(super) const PASSED: Self = Self::one(1, 0, 0, 0);
    pub(super) const FAILED: Self = Self::one(0, 1, 0, 0);
    pub(super) const NOT_OFFERED: Self = Self::one(0, 0, 1, 0);
    pub(super) const DEPARTED: Self = Self::one(0, 0, 0, 1);

    const fn one(passed: usize, failed: usize, not_offered: usize, departed: usize) -> Self {
        Self {
            passed,
            failed,
            not_offered,
            departed,
            as_recorded: 0,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:>6} passed {:>5} failed {:>4} departed {:>5} not offered {:>5} as recorded",
            self.passed, self.failed, self.departed, self.not_offered, self.as_recorded
        )
    }
}

/// One file in one host.
pub(super) struct CaseFile {
    host: String,
    name: String,
}

impl CaseFile {
    pub(super) fn new(host: &str, name: &str) -> Self {
        Self {
            host: host.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for CaseFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.host, self.name)
    }
}

/// A case that was not answered as required, with everything needed to run it again.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disagreement {
    /// The subject's name.
    pub subject: String,
    /// The file and the line in it, from 1.
    pub place: String,
    /// The case's id, or its group's name and its index in the group, from 0.
    pub case: String,
    /// The tags or the class of the case.
    pub tags: Vec<String>,
    /// The world that it runs in, if any.
    pub world: Value,
    /// The documents of the engine, if any.
    pub engine: Value,
    /// The operation.
    pub input: Value,
    /// The required outcome.
    pub expected: Value,
    /// The actual outcome.
    pub got: Value,
}

/// One line of JSON.
impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        formatter.write_str(&text)
    }
}

/// The result of replaying one or more files with one or more subjects.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// By host.
    pub hosts: BTreeMap<String, Tally>,
    /// By file, each as `subject file`.
    pub files: BTreeMap<String, Tally>,
    /// By tag or class; a case with several tags counts under each.
    pub tags: BTreeMap<String, Tally>,
    /// The cases that were not answered as required, in order.
    pub disagreements: Vec<Disagreement>,
}

impl Report {
    /// The counts of all files and hosts together.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.files.values().for_each(|tally| total.add(*tally));
        total
    }

    /// Adds the results of another replay.
    pub fn absorb(&mut self, other: Report) {
        for (host, tally) in other.hosts {
            self.hosts.entry(host).or_default().add(tally);
        }
        for (file, tally) in other.files {
            self.files.entry(file).or_default().add(tally);
        }
        for (tag, tally) in other.tags {
            self.tags.entry(tag).or_default().add(tally);
        }
        self.disagreements.extend(other.disagreements);
    }

    pub(super) fn count(&mut self, file: &CaseFile, tags: &[String], tally: Tally) {
        self.hosts.entry(file.host.clone()).or_default().add(tally);
        self.files.entry(file.to_string()).or_default().add(tally);
        for tag in tags {
            self.tags.entry(tag.clone()).or_default().add(tally);
        }
    }

    pub(super) fn fail(&mut self, file: &CaseFile, disagreement: Disagreement) {
        self.count(file, &disagreement.tags, Tally::FAILED);
        self.disagreements.push(disagreement);
    }
}

/// How many characters of a name the column of names makes room for. The names of some tags are whole sentences.
const NAMES: usize = 60;

/// Each disagreement, the tables of files, of tags and of hosts, and last `N passed, N failed`.
impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for disagreement in &self.disagreements {
            writeln!(formatter, "{disagreement}")?;
        }
        for table in [&self.files, &self.tags, &self.hosts] {
            let widths = table.keys().map(|name| name.chars().count());
            let width = widths.max().unwrap_or(0).min(NAMES);
            for (name, tally) in table {
                writeln!(formatter, "{name:<width$} {tally}")?;
            }
        }
        let total = self.total();
        writeln!(
            formatter,
            "{} departed, {} not offered",
            total.departed, total.not_offered
        )?;
        write!(formatter, "{} passed, {} failed", total.passed, total.failed)
    }
}
