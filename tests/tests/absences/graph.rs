//! A graph of who uses whom, and its circles.

use std::collections::{BTreeMap, BTreeSet};

/// Each file with the files that it uses.
#[derive(Default)]
pub(crate) struct Graph(BTreeMap<String, BTreeSet<String>>);

impl Graph {
    /// Records that `file` uses `other`; a file that uses itself does not count.
    pub(crate) fn uses(&mut self, file: &str, other: &str) {
        if file != other {
            self.0
                .entry(file.to_owned())
                .or_default()
                .insert(other.to_owned());
        }
    }

    /// The same graph with all files of one `name` as one node.
    pub(crate) fn merged(&self, name: impl Fn(&str) -> String) -> Self {
        let mut merged = Self::default();
        for (file, others) in &self.0 {
            for other in others {
                merged.uses(&name(file), &name(other));
            }
        }
        merged
    }

    /// Every group of files that reach one another, one line each.
    pub(crate) fn circles(&self) -> Vec<String> {
        let reached: BTreeMap<&str, BTreeSet<&str>> = self
            .0
            .keys()
            .map(|file| (file.as_str(), self.reached_from(file)))
            .collect();
        let mut circles = BTreeSet::new();
        for (file, others) in reached.iter().filter(|(file, others)| others.contains(*file)) {
            let back = |other: &&&str| reached.get(**other).is_some_and(|from| from.contains(file));
            let circle: Vec<&str> = others.iter().filter(back).copied().collect();
            circles.insert(circle.join(" <-> "));
        }
        circles.into_iter().collect()
    }

    /// Every file that uses another one or is used.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let used = self.0.values().flatten();
        self.0.keys().chain(used).map(String::as_str)
    }

    /// Returns `true` if `file` uses `other`, directly or through others.
    pub(crate) fn reaches(&self, file: &str, other: &str) -> bool {
        self.reached_from(file).contains(other)
    }

    fn reached_from<'g>(&'g self, file: &'g str) -> BTreeSet<&'g str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![file];
        while let Some(file) = open.pop() {
            let others = self.0.get(file).into_iter().flatten();
            open.extend(others.map(String::as_str).filter(|other| reached.insert(*other)));
        }
        reached
    }
}
