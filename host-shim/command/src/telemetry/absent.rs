//! A build that knows no collectors.

use callgate_guard::Guard;
use clap::Args;

use crate::terminal::Failure;

#[derive(Args)]
pub(crate) struct Collector {}

impl Collector {
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "a build with collectors can fail here"
    )]
    pub(crate) fn added_to(&self, guard: Guard) -> Result<Guard, Failure> {
        Ok(guard)
    }
}
