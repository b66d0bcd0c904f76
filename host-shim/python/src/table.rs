//! Many calls at once: a stream of Arrow's record batches in, one out, batch by batch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::{Array, LargeStringArray, RecordBatch, RecordBatchReader};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use callgate_engine::bind::{Arguments, Call};
use callgate_engine::engine::Engine;
use callgate_engine::host::{Host, Recording};
use callgate_engine::judge::Decision;
use callgate_host::{Gate, Paths};
use serde::de::IgnoredAny;

/// The columns that have the calls, by their names.
pub(crate) struct Columns {
    pub(crate) server: String,
    pub(crate) tool: String,
    /// JSON text; a call without arguments has none.
    pub(crate) arguments: String,
    /// JSON text of what the host said of the call.
    pub(crate) context: Option<String>,
    /// JSON text of what the host answered, in place of the gate's host.
    pub(crate) recording: Option<String>,
}

/// Judges a stream of calls as it is read.
pub(crate) struct Judged {
    calls: Box<dyn RecordBatchReader + Send>,
    columns: Columns,
    paths: Paths<'static>,
    gate: Arc<Gate>,
    engine: Arc<Engine>,
    schema: SchemaRef,
}

impl Judged {
    pub(crate) fn new(
        calls: Box<dyn RecordBatchReader + Send>,
        columns: Columns,
        paths: Paths<'static>,
        gate: Arc<Gate>,
        engine: Arc<Engine>,
    ) -> Self {
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let roles = Field::new_list(
            "escalated_roles",
            Field::new_list_field(DataType::Utf8, true),
            false,
        );
        let fields = [
            text("decision"),
            text("rule"),
            text("reason"),
            roles,
            text("arguments"),
            text("error"),
        ];
        Self {
            calls,
            columns,
            paths,
            gate,
            engine,
            schema: Arc::new(Schema::new(fields.to_vec())),
        }
    }

    fn judge(&self, calls: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let servers = column(calls, &self.columns.server)?;
        let tools = column(calls, &self.columns.tool)?;
        let arguments = column(calls, &self.columns.arguments)?;
        let optional = |name: &Option<String>| name.as_ref().map(|name| column(calls, name)).transpose();
        let (contexts, recordings) = (
            optional(&self.columns.context)?,
            optional(&self.columns.recording)?,
        );
        let mut answers = Answers::default();
        for row in 0..calls.num_rows() {
            let call = Row {
                server: text(&servers, row),
                tool: text(&tools, row),
                arguments: text(&arguments, row),
                context: contexts.as_ref().and_then(|texts| text(texts, row)),
                recording: recordings.as_ref().map(|texts| text(texts, row)),
            };
            match self.answer(&call, &mut answers) {
                Ok(()) => answers.error.append_null(),
                Err(why) => answers.fail(&why),
            }
        }
        answers.finish(&self.schema)
    }

    /// Judges one call. Nothing is added to the answers before it is known that there is a verdict.
    fn answer(&self, row: &Row<'_>, answers: &mut Answers) -> Result<(), String> {
        let server = row.server.ok_or("the call has no server")?;
        let tool = row.tool.ok_or("the call has no tool")?;
        let arguments = row
            .arguments
            .map_or(Arguments::Members(Vec::new()), Arguments::from_json);
        if let (Arguments::Unreadable(_), Some(text)) = (&arguments, row.arguments) {
            // What is JSON is a call, and denied.
            serde_json::from_str::<IgnoredAny>(text).map_err(|error| format!("arguments: {error}"))?;
        }
        let call = Call::new(server, tool, arguments);
        let call = match row.context {
            Some(context) => call.within_json(context).map_err(|error| error.to_string())?,
            None => call,
        };
        let recording = match row.recording {
            None => None,
            Some(None) => return Err("the call has no recording".to_owned()),
            Some(Some(recording)) => {
                let read = serde_json::from_str::<Recording>(recording);
                Some(read.map_err(|error| format!("recording: {error}"))?)
            }
        };
        let host = match &recording {
            Some(recording) => recording as &dyn Host,
            None => self.gate.host(),
        };
        let request = callgate_engine::engine::Request {
            call: &call,
            paths: self.paths,
            explain: None,
            approvals: None,
        };
        let response = self.engine.judge(&request, host);
        answers.decision.append_value(response.verdict.decision.as_str());
        answers.rule.append_value(&response.verdict.rule);
        answers.reason.append_value(&response.verdict.reason);
        if let Decision::Escalate(roles) = &response.verdict.decision {
            for role in roles {
                answers.roles.values().append_value(role);
            }
        }
        answers.roles.append(true);
        answers.arguments.append_option(response.arguments());
        Ok(())
    }
}

impl Iterator for Judged {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let calls = self.calls.next()?;
        let judged = catch_unwind(AssertUnwindSafe(|| calls.and_then(|calls| self.judge(&calls))));
        // Whoever reads the stream is C.
        let failed = |_| Err(ArrowError::ComputeError("the engine failed".to_owned()));
        Some(judged.unwrap_or_else(failed))
    }
}

impl RecordBatchReader for Judged {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// A call as a row has it.
struct Row<'r> {
    server: Option<&'r str>,
    tool: Option<&'r str>,
    arguments: Option<&'r str>,
    context: Option<&'r str>,
    /// The outer `None` is for a table without recordings.
    recording: Option<Option<&'r str>>,
}

/// The column's texts, whatever kind of text they are.
fn column(calls: &RecordBatch, name: &str) -> Result<LargeStringArray, ArrowError> {
    let Some(column) = calls.column_by_name(name) else {
        let schema = calls.schema();
        let known: Vec<&str> = schema.fields().iter().map(|field| &**field.name()).collect();
        let why = format!("the table has no column `{name}`, only `{}`", known.join("`, `"));
        return Err(ArrowError::SchemaError(why));
    };
    // What comes over the C interface is not looked at by anybody else, and one that is malformed must not end the process.
    column.to_data().validate_full()?;
    let texts = match column.data_type() {
        DataType::LargeUtf8 => Arc::clone(column),
        DataType::Utf8 | DataType::Utf8View | DataType::Null => cast(column, &DataType::LargeUtf8)?,
        DataType::Dictionary(_, texts) if texts.is_string() => cast(column, &DataType::LargeUtf8)?,
        other => {
            let why = format!("the column `{name}` is of {other}, expected text");
            return Err(ArrowError::SchemaError(why));
        }
    };
    Ok(texts.as_string::<i64>().clone())
}

fn text(texts: &LargeStringArray, row: usize) -> Option<&str> {
    texts.is_valid(row).then(|| texts.value(row))
}

#[derive(Default)]
struct Answers {
    decision: StringBuilder,
    rule: StringBuilder,
    reason: StringBuilder,
    roles: ListBuilder<StringBuilder>,
    arguments: StringBuilder,
    error: StringBuilder,
}

impl Answers {
    /// A row that is no call: without a decision, which no query takes for an allowance.
    fn fail(&mut self, why: &str) {
        self.decision.append_null();
        self.rule.append_null();
        self.reason.append_null();
        self.roles.append(true);
        self.arguments.append_null();
        self.error.append_value(why);
    }

    fn finish(mut self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let columns: Vec<Arc<dyn Array>> = vec![
            Arc::new(self.decision.finish()),
            Arc::new(self.rule.finish()),
            Arc::new(self.reason.finish()),
            Arc::new(self.roles.finish()),
            Arc::new(self.arguments.finish()),
            Arc::new(self.error.finish()),
        ];
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}
