//! The end of steps that do not end by themselves.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::show::spoken;

/// Ends a step that does not end by itself, so that the others are told of, and the suite says which one it was.
pub(crate) struct Clock {
    begin: Instant,
    /// When the process was found to have ended while somebody else still had its output open.
    ended: Option<Instant>,
}

impl Clock {
    /// How often a silent step is looked at.
    pub(crate) const LOOK: Duration = Duration::from_secs(1);
    /// Twice what the longest step takes on two processors.
    const LIMIT: Duration = Duration::from_secs(30 * 60);
    /// What a step leaves running may write for so long.
    const REST: Duration = Duration::from_secs(20);

    pub(crate) fn new() -> Self {
        Self {
            begin: Instant::now(),
            ended: None,
        }
    }

    /// Looks at a step that is silent; says why, if it was ended.
    pub(crate) fn look(&mut self, process: &mut Child) -> Option<String> {
        if let Ok(Some(_)) = process.try_wait() {
            let ended = self.ended.get_or_insert_with(Instant::now);
            let is_held = ended.elapsed() > Self::REST;
            return is_held.then(|| {
                end_group(process);
                "it left a process running that holds its output".to_owned()
            });
        }
        (self.begin.elapsed() > Self::LIMIT).then(|| {
            end_group(process);
            format!("it was ended after {}", spoken(Self::LIMIT))
        })
    }
}

/// Ends a process, and those that it started where they are a group.
fn end_group(process: &mut Child) {
    let group = format!("-{}", process.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    let _ = process.kill();
}
