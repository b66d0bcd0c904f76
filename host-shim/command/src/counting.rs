//! Where what a policy counts is kept.

use std::path::Path;

use callgate_guard::Counts;
use clap::Args;

use crate::approvals;
use crate::terminal::Failure;

/// The variable of the environment that names a server of Redis.
const VARIABLE: &str = "CALLGATE_COUNTS";

#[derive(Args)]
pub(crate) struct Counting {
    /// Count calls in a server of Redis, which several machines share: redis://HOST[:PORT][/DATABASE], or rediss://… for TLS. With a
    /// password better in CALLGATE_COUNTS [default: what CALLGATE_COUNTS says, or in --state]
    #[cfg(feature = "serve")]
    #[arg(long = "counts", value_name = "URL")]
    redis: Option<String>,
}

impl Counting {
    /// Where calls are counted; `None` if nothing names a place.
    pub(crate) fn counts(&self, state: Option<&Path>) -> Result<Option<Counts>, Failure> {
        let variable = match std::env::var(VARIABLE) {
            Ok(url) if !url.is_empty() => Some(url),
            Ok(_) | Err(std::env::VarError::NotPresent) => None,
            Err(error) => return Err(Failure::Fault(format!("{VARIABLE}: {error}"))),
        };
        match self.named().or(variable) {
            Some(url) => in_redis(&url).map(Some),
            None => Ok(approvals::folder(state).map(Counts::new)),
        }
    }

    #[cfg(feature = "serve")]
    fn named(&self) -> Option<String> {
        self.redis.clone()
    }

    #[cfg(not(feature = "serve"))]
    #[expect(clippy::unused_self, reason = "there is no such flag")]
    fn named(&self) -> Option<String> {
        None
    }
}

#[cfg(feature = "serve")]
fn in_redis(url: &str) -> Result<Counts, Failure> {
    Counts::in_redis(url)
        .map_err(|error| Failure::Fault(format!("calls cannot be counted in Redis: {error}")))
}

#[cfg(not(feature = "serve"))]
fn in_redis(_url: &str) -> Result<Counts, Failure> {
    Err(Failure::Fault(format!(
        "{VARIABLE} names a server of Redis, expected none: this program was built without the feature `serve`"
    )))
}
