//! Decisions as spans, logs and metrics, for collectors of OpenTelemetry (OTLP over HTTP), beside the log.
//!
//! A span is a call as the client sees it: from when it was judged to its answer. Its names are those of the semantic
//! conventions for MCP and generative AI, which are still in development; what these do not name begins with `callgate.`. No
//! argument and no result is sent.
//!
//! Metrics are a counter of decisions and a histogram of how long servers take, a minute apart, without the names of tools: a client
//! can make these up.
//!
//! Nothing waits for a collector. Each of the three is sent by a thread of its own, and lost where it does not keep up: the log is what
//! counts.

mod endpoint;
mod logs;
mod metrics;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use callgate_jsontext::Members;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{Span as _, SpanBuilder, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span};

use logs::Logs;
use metrics::Metrics;

use super::message::{Request, text_of};
use super::record::{Outcome, Record};

/// How long the last spans may take to be sent when a guard ends.
const LAST: Duration = Duration::from_secs(3);

/// How long a request to a collector may take.
const SENDING: Duration = Duration::from_secs(10);

/// A client that trusts Mozilla's list. It is made in a thread of its own: its kind refuses to be made where tasks run.
fn trusting_the_list() -> Option<reqwest::blocking::Client> {
    let roots = crate::tls::built_in()?;
    let options = reqwest::blocking::Client::builder().timeout(SENDING);
    let made = std::thread::spawn(|| options.tls_certs_merge(roots).build()).join();
    made.ok()?.ok()
}

/// Where spans are sent.
pub struct Telemetry {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    /// `None` where the environment or the flag names a place for spans alone.
    metrics: Option<Metrics>,
    /// Likewise.
    logs: Option<Logs>,
    /// The spans of calls that were sent to the server, by their names in the log.
    open: Mutex<BTreeMap<String, Span>>,
}

impl Telemetry {
    /// Spans for a collector, by the URL that takes them (`http://localhost:4318/v1/traces`); `None` for what the environment
    /// says (`OTEL_EXPORTER_OTLP_ENDPOINT` and its like).
    ///
    /// # Errors
    /// The URL, or what the environment says, cannot be used.
    pub fn new(endpoint: Option<&str>) -> Result<Self, String> {
        crate::tls::choose();
        let exporter = || {
            let exporter = SpanExporter::builder()
                .with_http()
                .with_protocol(Protocol::HttpBinary);
            match endpoint {
                Some(endpoint) => exporter.with_endpoint(endpoint),
                None => exporter,
            }
        };
        // On a machine without certificates the exporter has no client of its own.
        let exporter = exporter().build().or_else(|error| match trusting_the_list() {
            Some(client) => exporter().with_http_client(client).build(),
            None => Err(error),
        });
        let exporter = exporter.map_err(|error| error.to_string())?;
        let resource = Resource::builder()
            .with_service_name("callgate")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource.clone())
            .build();
        let tracer = provider.tracer("callgate");
        Ok(Self {
            provider,
            tracer,
            metrics: Metrics::new(endpoint, resource.clone())?,
            logs: Logs::new(endpoint, resource)?,
            open: Mutex::default(),
        })
    }

    /// Takes what is written to the log.
    pub(super) fn note(
        &self,
        server: &str,
        observes: bool,
        record: &Record<'_>,
        request: Option<&Request<'_>>,
    ) {
        if let Some(metrics) = &self.metrics {
            metrics.note(server, observes, record);
        }
        match record {
            Record::Decision {
                id,
                tool,
                sent,
                micros,
                ..
            } => {
                let now = SystemTime::now();
                let micros = u64::try_from(*micros).unwrap_or(u64::MAX);
                let begun = now.checked_sub(Duration::from_micros(micros)).unwrap_or(now);
                let carried = Carried::of(request);
                let attributes = attributes(server, observes, record, &carried);
                let builder = SpanBuilder::from_name(format!("tools/call {tool}"))
                    .with_kind(SpanKind::Server)
                    .with_start_time(begun)
                    .with_attributes(attributes.clone());
                let parent =
                    TraceContextPropagator::new().extract_with_context(&Context::new(), &carried.trace);
                let mut span = self.tracer.build_with_context(builder, &parent);
                self.log(server, record, &attributes, Some(&span));
                // Where a person is asked the answer has a span of its own.
                if sent.is_some() {
                    self.open().insert((*id).to_owned(), span);
                } else {
                    // The client gets a result that is an error.
                    span.set_attribute(KeyValue::new("error.type", "tool_error"));
                    span.end();
                }
            }
            Record::Outcome {
                id, outcome, code, ..
            } => {
                let span = self.open().remove(*id);
                self.log(server, record, &[], span.as_ref());
                let Some(mut span) = span else {
                    return;
                };
                if let (Outcome::Error, Some(code)) = (outcome, code) {
                    span.set_attribute(KeyValue::new("rpc.response.status_code", code.to_string()));
                }
                if let Some(error) = error_type(*outcome, *code) {
                    span.set_attribute(KeyValue::new("error.type", error));
                    span.set_status(Status::error(""));
                }
                span.end();
            }
            Record::Start { .. }
            | Record::Refused { .. }
            | Record::Reload { .. }
            | Record::Cut {}
            | Record::Stop { .. } => self.log(server, record, &[], None),
        }
        if let Record::Stop { .. } = record {
            self.end();
        }
    }

    fn log(&self, server: &str, record: &Record<'_>, attributes: &[KeyValue], span: Option<&Span>) {
        if let Some(logs) = &self.logs {
            logs.note(server, record, attributes, span.map(Span::span_context));
        }
    }

    /// Sends what is left.
    fn end(&self) {
        for mut span in std::mem::take(&mut *self.open()).into_values() {
            span.end();
        }
        // All at once: a collector that does not answer is waited for once. That it is not there is not a fault of the guard's.
        std::thread::scope(|scope| {
            scope.spawn(|| self.provider.shutdown_with_timeout(LAST));
            if let Some(metrics) = &self.metrics {
                scope.spawn(|| metrics.end());
            }
            if let Some(logs) = &self.logs {
                scope.spawn(|| logs.end());
            }
        });
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Span>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the span and the log say of a decision.
fn attributes(server: &str, observes: bool, record: &Record<'_>, request: &Carried) -> Vec<KeyValue> {
    let Record::Decision {
        id,
        tool,
        decision,
        rule,
        approval,
        answered_by,
        policy,
        ..
    } = record
    else {
        return Vec::new();
    };
    let text = |name: &'static str, value: &str| KeyValue::new(name, value.to_owned());
    let mut attributes = vec![
        text("mcp.method.name", "tools/call"),
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", tool),
        text("jsonrpc.request.id", &request.id),
        text("network.transport", "pipe"),
        text("callgate.server", server),
        text("callgate.call.id", id),
        text("callgate.decision", decision),
        text("callgate.rule", rule),
        text("callgate.policy", policy),
        KeyValue::new("callgate.observed", observes),
    ];
    attributes.extend(approval.map(|approval| text("callgate.approval", approval)));
    attributes.extend(answered_by.map(|by| text("callgate.answered_by", by)));
    let revision = request.revision.as_deref();
    attributes.extend(revision.map(|revision| text("mcp.protocol.version", revision)));
    attributes
}

/// What the conventions call the error of a call.
fn error_type(outcome: Outcome, code: Option<i64>) -> Option<String> {
    match (outcome, code) {
        (Outcome::Done | Outcome::Unfinished, _) => None,
        (Outcome::ToolError, _) => Some("tool_error".to_owned()),
        (Outcome::Error, Some(code)) => Some(code.to_string()),
        (Outcome::Error, None) => Some("error".to_owned()),
        (Outcome::NoAnswer, _) => Some("no_answer".to_owned()),
        (Outcome::Cancelled, _) => Some("cancelled".to_owned()),
    }
}

/// What a request says for telemetry, and not for the log.
#[derive(Default)]
struct Carried {
    id: String,
    /// The revision of the protocol, where each request says it.
    revision: Option<String>,
    /// The trace that the call is a part of: `traceparent` and `tracestate`.
    trace: HashMap<String, String>,
}

impl Carried {
    fn of(request: Option<&Request<'_>>) -> Self {
        let Some(request) = request else {
            return Self::default();
        };
        let params = request.members.get("params");
        let params: Option<Members<'_>> = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let meta = params.and_then(|params| params.get("_meta"));
        let meta: Option<Members<'_>> = meta.and_then(|meta| serde_json::from_str(meta.get()).ok());
        let text = |name: &str| text_of(meta.as_ref().and_then(|meta| meta.get(name)));
        let trace = ["traceparent", "tracestate"].into_iter();
        Self {
            id: request.id.text.clone(),
            revision: text("io.modelcontextprotocol/protocolVersion"),
            trace: trace
                .filter_map(|name| Some((name.to_owned(), text(name)?)))
                .collect(),
        }
    }
}
