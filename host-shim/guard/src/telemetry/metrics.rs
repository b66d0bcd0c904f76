//! Metrics for a collector.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, MeterProvider as _};
use opentelemetry_otlp::{MetricExporter, Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;

use super::endpoint::Endpoint;
use super::{LAST, error_type, trusting_the_list};
use crate::record::Record;

/// Where metrics are sent.
pub(super) struct Metrics {
    provider: SdkMeterProvider,
    decisions: Counter<u64>,
    judging: Histogram<f64>,
    serving: Histogram<f64>,
}

impl Metrics {
    /// Metrics for the collector whose URL takes spans, or for that of the environment; `None` if that takes spans alone.
    ///
    /// # Errors
    /// What the environment says cannot be used.
    pub(super) fn new(traces: Option<&str>, resource: Resource) -> Result<Option<Self>, String> {
        let Some(endpoint) = Endpoint::beside(traces, "metrics") else {
            return Ok(None);
        };
        let exporter = || {
            let exporter = MetricExporter::builder()
                .with_http()
                .with_protocol(Protocol::HttpBinary);
            match &endpoint {
                Endpoint::Url(url) => exporter.with_endpoint(url),
                Endpoint::Environment => exporter,
            }
        };
        let exporter = exporter().build().or_else(|error| match trusting_the_list() {
            Some(client) => exporter().with_http_client(client).build(),
            None => Err(error),
        });
        let provider = SdkMeterProvider::builder()
            .with_periodic_exporter(exporter.map_err(|error| error.to_string())?)
            .with_resource(resource)
            .build();
        let meter = provider.meter("callgate");
        let seconds = |name: &'static str, description: &'static str| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(description)
                .with_boundaries(vec![
                    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0,
                    60.0,
                ])
                .build()
        };
        Ok(Some(Self {
            decisions: meter
                .u64_counter("callgate.decisions")
                .with_unit("{call}")
                .with_description("Calls that were judged.")
                .build(),
            judging: seconds("callgate.decision.duration", "How long calls were judged."),
            serving: seconds(
                "mcp.server.operation.duration",
                "How long the server took for calls that it was sent.",
            ),
            provider,
        }))
    }

    /// Counts what is written to the log.
    pub(super) fn note(&self, server: &str, observes: bool, record: &Record<'_>) {
        let server = KeyValue::new("callgate.server", server.to_owned());
        match record {
            Record::Decision { decision, micros, .. } => {
                let decided = [
                    server,
                    KeyValue::new("callgate.decision", (*decision).to_owned()),
                    KeyValue::new("callgate.observed", observes),
                ];
                self.decisions.add(1, &decided);
                self.judging.record(seconds(*micros), &decided);
            }
            Record::Outcome {
                outcome,
                code,
                micros,
                ..
            } => {
                let mut ended = vec![server, KeyValue::new("mcp.method.name", "tools/call")];
                ended.extend(error_type(*outcome, *code).map(|error| KeyValue::new("error.type", error)));
                self.serving.record(seconds(*micros), &ended);
            }
            Record::Start { .. }
            | Record::Refused { .. }
            | Record::Reload { .. }
            | Record::Cut {}
            | Record::Stop { .. } => {}
        }
    }

    /// Sends what is left, if the collector takes it in time.
    pub(super) fn end(&self) {
        let _ = self.provider.shutdown_with_timeout(LAST);
    }
}

fn seconds(micros: u128) -> f64 {
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)).as_secs_f64()
}
