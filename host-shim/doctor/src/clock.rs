//! The clock.

use std::fs;
use std::time::SystemTime;

use super::Place;
use super::finding::{Finding, Standing};

/// Approvals end by the clock, and logs are dated by it.
pub(super) fn look(place: &Place) -> Finding {
    let about = || "clock".to_owned();
    let now = SystemTime::now();
    let state = place
        .state
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let files = state.flatten().map(|file| file.path()).chain([place.own.clone()]);
    let mut later = files.filter(|file| {
        let modified = fs::metadata(file).and_then(|found| found.modified());
        modified.is_ok_and(|modified| {
            modified
                .duration_since(now)
                .is_ok_and(|ahead| ahead.as_secs() > 60)
        })
    });
    match later.next() {
        Some(file) => {
            let message = format!("it is before the time at which `{}` was written", file.display());
            Finding::new(about(), Standing::Wrong, message)
                .helped("set the clock: approvals end by it, and logs are dated by it")
        }
        None => Finding::new(
            about(),
            Standing::Right,
            "nothing was written after now".to_owned(),
        ),
    }
}
