//! Who uses whom, and the circles in it.

use std::collections::{BTreeMap, BTreeSet};

/// Files, each with those that it uses.
#[derive(Default)]
pub(crate) struct Graph(BTreeMap<String, BTreeSet<String>>);

impl Graph {
    /// A file uses another one; itself does not count.
    pub(crate) fn uses(&mut self, file: &str, other: &str) {
        if file != other {
            self.0
                .entry(file.to_owned())
                .or_default()
                .insert(other.to_owned());
        }
    }

    /// The same with several files taken as one, by what `name` calls them.
    pub(crate) fn merged(&self, name: impl Fn(&str) -> String) -> Self {
        let mut merged = Self::default();
        for (file, others) in &self.0 {
            for other in others {
                merged.uses(&name(file), &name(other));
            }
        }
        merged
    }

    /// Every group of files that reach one another, as one line each.
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
