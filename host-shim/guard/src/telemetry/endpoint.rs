//! Where a collector takes what is not a span.

/// The end of a URL that takes spans.
const TRACES: &str = "/v1/traces";

/// Where something is sent.
pub(super) enum Endpoint {
    Url(String),
    /// Where the variables of the environment say, which the exporter reads.
    Environment,
}

impl Endpoint {
    /// The place for a signal (`logs`, `metrics`) at the collector whose URL takes spans, or at that of the environment; `None` if
    /// either takes spans alone.
    pub(super) fn beside(traces: Option<&str>, signal: &str) -> Option<Self> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match traces {
            Some(traces) => {
                let base = traces.strip_suffix(TRACES)?;
                Some(Self::Url(format!("{base}/v1/{signal}")))
            }
            None => {
                let own = format!("OTEL_EXPORTER_OTLP_{}_ENDPOINT", signal.to_uppercase());
                (is_set("OTEL_EXPORTER_OTLP_ENDPOINT") || is_set(&own)).then_some(Self::Environment)
            }
        }
    }
}
