//! The time by two clocks: one that people set, and one that runs since the machine was started.

use std::fs;
use std::time::SystemTime;

/// A time.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Seconds since the beginning of 1970, as the machine's clock says it. It may be set.
    pub(super) at: i64,
    /// Seconds since the machine was started, which nobody sets; the same as `at` where that is not known.
    pub(super) up: i64,
    /// The run of the machine, since which these are; `None` where it is not known.
    pub(super) boot: Option<String>,
}

impl Clock {
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let at = since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
        // Linux has both here, and counts the time in which it sleeps.
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
        let up = fs::read_to_string("/proc/uptime");
        let up = up.ok().and_then(|up| up.split('.').next()?.parse().ok());
        match boot.ok().zip(up) {
            Some((boot, up)) => Self {
                at,
                up,
                boot: Some(boot.trim().to_owned()),
            },
            None => Self {
                at,
                up: at,
                boot: None,
            },
        }
    }
}
