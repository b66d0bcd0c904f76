//! Code that the integration tests share.

pub(crate) mod cases;
pub(crate) mod engines;
