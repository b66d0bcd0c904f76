//! The collector of OpenTelemetry that a guard sends its decisions to.

use callgate_guard::{Guard, Telemetry};
use clap::Args;

use crate::terminal::Failure;

/// The variables of the environment that name a collector.
const VARIABLES: [&str; 2] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
];

#[derive(Args)]
pub(crate) struct Collector {
    /// Send each decision to this collector of OpenTelemetry too, as spans, logs and metrics over HTTP [default: what OTEL_EXPORTER_OTLP_ENDPOINT says]
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
}

impl Collector {
    /// The guard, which sends its decisions to the collector if one is named.
    pub(crate) fn added_to(&self, guard: Guard) -> Result<Guard, Failure> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if self.otlp.is_none() && !VARIABLES.into_iter().any(is_set) {
            return Ok(guard);
        }
        let telemetry = Telemetry::new(self.otlp.as_deref())
            .map_err(|error| Failure::Fault(format!("cannot send telemetry: {error}")))?;
        Ok(guard.with_telemetry(telemetry))
    }
}
