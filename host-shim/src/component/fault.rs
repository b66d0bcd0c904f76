//! Why an instance cannot be used any more.

use std::fmt;
use std::time::Duration;

use wasmtime::Trap;

use super::limits::InstanceLimits;
use crate::backend::EngineFault;

/// The work of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Being made, or loading documents: by the load deadline, with as much fuel as that takes.
    Loading,
    /// Serving one call.
    Call,
}

impl Work {
    pub(super) fn deadline(self, limits: &InstanceLimits) -> Duration {
        match self {
            Self::Loading => limits.load_deadline,
            Self::Call => limits.deadline,
        }
    }

    pub(super) fn fuel(self, limits: &InstanceLimits) -> Option<u64> {
        match self {
            Self::Loading => limits.fuel.map(|_| u64::MAX),
            Self::Call => limits.fuel,
        }
    }
}

/// The error of a store that may not have more memory.
#[derive(Debug)]
pub(super) struct MemoryRefused;

impl fmt::Display for MemoryRefused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the limit of memory is reached")
    }
}

impl std::error::Error for MemoryRefused {}

/// The meaning of an instance's error, under the limits that it ran with.
pub(super) fn fault(error: &wasmtime::Error, limits: &InstanceLimits, work: Work) -> EngineFault {
    if error.downcast_ref::<MemoryRefused>().is_some() {
        return EngineFault::Memory(limits.memory);
    }
    match (error.downcast_ref::<Trap>(), limits.fuel) {
        (Some(Trap::Interrupt), _) => EngineFault::Deadline(work.deadline(limits)),
        (Some(Trap::OutOfFuel), Some(fuel)) => EngineFault::Fuel(fuel),
        _ => EngineFault::Failed,
    }
}
