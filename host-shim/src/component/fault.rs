//! Why an instance is of no more use.

use std::fmt;
use std::time::Duration;

use wasmtime::Trap;

use super::limits::InstanceLimits;

/// What ended an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A trap, or a panic of the host.
    Failed,
    /// The deadline.
    Deadline(Duration),
    /// The limit of memory, in bytes.
    Memory(usize),
    /// The limit of fuel, in wasmtime's units.
    Fuel(u64),
}

/// What an instance is at.
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

impl Fault {
    /// What the error of an instance stands for, under the limits that it ran with.
    pub(super) fn of(error: &wasmtime::Error, limits: &InstanceLimits, work: Work) -> Self {
        if error.downcast_ref::<MemoryRefused>().is_some() {
            return Self::Memory(limits.memory);
        }
        match (error.downcast_ref::<Trap>(), limits.fuel) {
            (Some(Trap::Interrupt), _) => Self::Deadline(work.deadline(limits)),
            (Some(Trap::OutOfFuel), Some(fuel)) => Self::Fuel(fuel),
            _ => Self::Failed,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed => formatter.write_str("The engine or its host failed"),
            Self::Deadline(limit) => {
                write!(formatter, "The engine took longer than {} ms", limit.as_millis())
            }
            Self::Memory(limit) => write!(formatter, "The engine needed more than {limit} bytes of memory"),
            Self::Fuel(limit) => write!(formatter, "The engine needed more than {limit} units of fuel"),
        }
    }
}
