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
    /// Starting the component; none for the native engine.
    pub component: Option<Starting>,
    /// Loading the documents into the engine.
    pub loading: Duration,
}

/// How long the parts of starting a component took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Starting {
    /// Compiling it, or finding it compiled.
    pub compiling: Duration,
    /// `true` if it was compiled already.
    pub cached: bool,
    /// Making its first instance.
    pub instance: Duration,
}

impl Timings {
    /// All parts together.
    pub fn total(&self) -> Duration {
        let starting = self.component.map(|one| one.compiling + one.instance);
        self.reading + starting.unwrap_or_default() + self.loading
    }
}

impl fmt::Display for Timings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let mut parts = vec![("reading documents", self.reading)];
        if let Some(starting) = self.component {
            let compiling = match starting.cached {
                true => "component, from the cache",
                false => "component, compiled",
            };
            parts.push((compiling, starting.compiling));
            parts.push(("first instance", starting.instance));
        }
        parts.push(("loading documents", self.loading));
        for (name, took) in parts {
            let share = 100.0 * took.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE);
            let milliseconds = took.as_secs_f64() * 1e3;
            writeln!(formatter, "{name:<26}{milliseconds:>10.2} ms {share:>5.1} %")?;
        }
        write!(formatter, "{:<26}{:>10.2} ms", "ready", total.as_secs_f64() * 1e3)
    }
}
