//! The log's lines for a collector, without what was asked: no argument, no reason and no result.

use std::time::SystemTime;

use opentelemetry::logs::{AnyValue, LogRecord as _, Logger as _, LoggerProvider as _, Severity};
use opentelemetry::trace::SpanContext;
use opentelemetry::{KeyValue, Value};
use opentelemetry_otlp::{LogExporter, Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::{SdkLogger, SdkLoggerProvider};

use super::endpoint::Endpoint;
use super::{LAST, error_type, trusting_the_list};
use crate::record::{Outcome, Record};

/// Where the lines are sent.
pub(super) struct Logs {
    provider: SdkLoggerProvider,
    logger: SdkLogger,
}

/// A line, as a collector gets it.
struct Event {
    name: &'static str,
    severity: Severity,
    body: String,
    attributes: Vec<KeyValue>,
}

impl Logs {
    /// Lines for the collector whose URL takes spans, or for that of the environment; `None` if that takes spans alone.
    ///
    /// # Errors
    /// What the environment says cannot be used.
    pub(super) fn new(traces: Option<&str>, resource: Resource) -> Result<Option<Self>, String> {
        let Some(endpoint) = Endpoint::beside(traces, "logs") else {
            return Ok(None);
        };
        let exporter = || {
            let exporter = LogExporter::builder()
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
        let provider = SdkLoggerProvider::builder()
            .with_batch_exporter(exporter.map_err(|error| error.to_string())?)
            .with_resource(resource)
            .build();
        let logger = provider.logger("callgate");
        Ok(Some(Self { provider, logger }))
    }

    /// Sends a line. `attributes` are those of the call's span.
    pub(super) fn note(
        &self,
        server: &str,
        record: &Record<'_>,
        attributes: &[KeyValue],
        span: Option<&SpanContext>,
    ) {
        let event = Event::of(record);
        let mut line = self.logger.create_log_record();
        line.set_timestamp(SystemTime::now());
        line.set_event_name(event.name);
        line.set_severity_number(event.severity);
        line.set_severity_text(event.severity.name());
        line.set_body(event.body.into());
        let all = attributes.iter().cloned().chain(event.attributes);
        for KeyValue { key, value, .. } in all {
            let value = match value {
                Value::Bool(value) => AnyValue::Boolean(value),
                value => AnyValue::from(value.as_str().into_owned()),
            };
            line.add_attribute(key, value);
        }
        if attributes.is_empty() {
            line.add_attribute("callgate.server", server.to_owned());
        }
        if let Some(span) = span {
            line.set_trace_context(span.trace_id(), span.span_id(), Some(span.trace_flags()));
        }
        self.logger.emit(line);
    }

    /// Sends what is left, if the collector takes it in time.
    pub(super) fn end(&self) {
        let _ = self.provider.shutdown_with_timeout(LAST);
    }
}

impl Event {
    fn of(record: &Record<'_>) -> Self {
        let event = |name, severity, body: String, attributes| Self {
            name,
            severity,
            body,
            attributes,
        };
        let text = |name: &'static str, value: &str| KeyValue::new(name, value.to_owned());
        match record {
            Record::Start { session, policy } => event(
                "callgate.start",
                Severity::Info,
                "the guard began".to_owned(),
                vec![text("callgate.session", session), text("callgate.policy", policy)],
            ),
            Record::Decision {
                decision, rule, tool, ..
            } => {
                let severity = match *decision {
                    "allow" => Severity::Info,
                    _ => Severity::Warn,
                };
                let body = format!("{decision} {tool} by rule {rule}");
                event("callgate.decision", severity, body, Vec::new())
            }
            Record::Outcome {
                id, outcome, code, ..
            } => {
                let error = error_type(*outcome, *code);
                let severity = match outcome {
                    Outcome::Done | Outcome::Unfinished | Outcome::Cancelled => Severity::Info,
                    Outcome::ToolError | Outcome::Error | Outcome::NoAnswer => Severity::Warn,
                };
                let body = error.as_ref().map_or("the call ended".to_owned(), |error| {
                    format!("the call failed: {error}")
                });
                let mut attributes = vec![text("callgate.call.id", id)];
                attributes.extend(error.map(|error| KeyValue::new("error.type", error)));
                event("callgate.outcome", severity, body, attributes)
            }
            Record::Refused { .. } => event(
                "callgate.refused",
                Severity::Warn,
                "a message of the client was not passed on".to_owned(),
                Vec::new(),
            ),
            Record::Reload {
                policy: Some(policy), ..
            } => event(
                "callgate.reload",
                Severity::Info,
                "the documents changed".to_owned(),
                vec![text("callgate.policy", policy)],
            ),
            Record::Reload { policy: None, .. } => event(
                "callgate.reload",
                Severity::Error,
                "the documents changed and are refused; the old ones stay".to_owned(),
                Vec::new(),
            ),
            Record::Cut {} => event(
                "callgate.cut",
                Severity::Error,
                "the log's last line is gone, or changed".to_owned(),
                Vec::new(),
            ),
            Record::Stop { why } => event("callgate.stop", Severity::Info, why.clone(), Vec::new()),
        }
    }
}
