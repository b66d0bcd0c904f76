//! Limits of an instance of the component.

use std::time::Duration;

/// The bounds of every instance of the component.
///
/// ```
/// use std::time::Duration;
/// use callgate_host::InstanceLimits;
///
/// let limits = InstanceLimits { deadline: Duration::from_millis(50), ..InstanceLimits::default() };
/// assert_eq!(limits.memory, 512 * 1024 * 1024);
/// ```
///
/// A call that meets a bound is denied by rule `structural-engine-fault`, its instance is thrown away, and the next
/// call gets another one. Documents that meet a bound are an error of [`GateBuilder::build`](crate::GateBuilder::build).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceLimits {
    /// Bytes of linear memory of one instance; it begins with one or two MiB and grows with the documents and calls.
    pub memory: usize,
    /// How long one call may take, its questions to the host included. A question that is being answered is not
    /// interrupted; the call is denied when the answer is there. Rounded up to 5 ms.
    pub deadline: Duration,
    /// The same for loading the documents into an instance.
    pub load_deadline: Duration,
    /// Units of wasmtime's fuel for one call, about one an instruction; without it there is only the deadline.
    /// Counting makes calls slower.
    pub fuel: Option<u64>,
    /// How many instances are kept between calls, with their documents loaded. More calls at once than this are
    /// served by instances that are thrown away afterwards.
    pub idle_instances: usize,
}

impl Default for InstanceLimits {
    fn default() -> Self {
        Self {
            memory: 512 * 1024 * 1024,
            deadline: Duration::from_secs(5),
            load_deadline: Duration::from_secs(60),
            fuel: None,
            idle_instances: std::thread::available_parallelism().map_or(2, usize::from),
        }
    }
}
