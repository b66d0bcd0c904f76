//! Totals over several calls.

use std::collections::BTreeMap;

use crate::terminal::{DIM, Exit, paint};

/// The outcomes of calls, and how many had each.
#[derive(Default)]
pub(crate) struct Exits(BTreeMap<Exit, usize>);

impl Exits {
    pub(crate) fn add(&mut self, exit: Exit) {
        *self.0.entry(exit).or_default() += 1;
    }

    pub(crate) fn worst(&self) -> Option<Exit> {
        self.0.keys().next_back().copied()
    }

    /// `3 calls: 1 allow, 2 deny`.
    pub(crate) fn summary(&self) -> String {
        let all: usize = self.0.values().sum();
        let counts = self.0.iter().map(|(exit, count)| match exit {
            Exit::Allow => format!("{count} allow"),
            Exit::Escalate => format!("{count} escalate"),
            Exit::Deny => format!("{count} deny"),
            Exit::Invalid | Exit::Fault => format!("{count} in error"),
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        let calls = if all == 1 { "call" } else { "calls" };
        paint(DIM, &format!("{all} {calls}: {counts}"))
    }
}

/// The frames of a recorded session that call no tool.
#[derive(Default)]
pub(crate) struct Others {
    count: usize,
    /// The first few kinds of them.
    kinds: Vec<String>,
}

impl Others {
    pub(crate) fn add(&mut self, what: String) {
        self.count += 1;
        if self.kinds.len() <= 3 && !self.kinds.contains(&what) {
            self.kinds.push(what);
        }
    }

    pub(crate) fn passed_over(&self) -> Option<String> {
        let frames = match self.count {
            0 => return None,
            1 => "1 frame that calls no tool".to_owned(),
            count => format!("{count} frames that call no tool"),
        };
        let more = if self.kinds.len() > 3 { ", …" } else { "" };
        let kinds = self.kinds.iter().take(3).map(String::as_str);
        Some(format!(
            "passed over {frames}: {}{more}",
            kinds.collect::<Vec<_>>().join(", ")
        ))
    }
}
