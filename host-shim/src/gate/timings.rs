//! Where the time of building a gate goes.

use std::fmt;
use std::time::Duration;

/// How long the parts of building a gate took.
///
/// Written out, it is a line a part with its share of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Reading the bundle and the documents from disk.
    pub reading: Duration,
    /// Compiling the component, or finding it compiled; zero for the native engine.
    pub component: Duration,
    /// Whether the component was compiled already.
    pub cached: bool,
    /// Making the first instance of the component; zero for the native engine.
    pub instance: Duration,
    /// Loading the documents into the engine.
    pub loading: Duration,
}

impl Timings {
    /// All parts together.
    pub fn total(&self) -> Duration {
        self.reading + self.component + self.instance + self.loading
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let component = match self.cached {
            true => "component, from the cache",
            false => "component, compiled",
        };
        let parts = [
            ("reading documents", self.reading),
            (component, self.component),
            ("first instance", self.instance),
            ("loading documents", self.loading),
        ];
        for (name, took) in parts {
            let share = 100.0 * took.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            let milliseconds = took.as_secs_f64() * 1e3;
            writeln!(formatter, "{name:<26}{milliseconds:>10.2} ms {share:>5.1} %")?;
        }
        write!(formatter, "{:<26}{:>10.2} ms", "ready", total.as_secs_f64() * 1e3)
    }
}
