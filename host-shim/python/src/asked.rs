//! What is asked about a call.

use std::time::{SystemTime, UNIX_EPOCH};

use callgate_engine::approval::Moment;
use callgate_host::{Audience, CallText, Paths, Request};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::value::RawValue;

use crate::approvals::Approvals;
use crate::json;

/// A call with everything that comes with it, copied out of Python so that its lock can be released.
pub(crate) struct Asked<'a> {
    server: &'a str,
    tool: &'a str,
    arguments: Option<Box<RawValue>>,
    context: Option<String>,
    container: Option<&'a str>,
    approvals: Option<(callgate_engine::approval::Approvals, Moment)>,
    is_prepared: bool,
    pub(crate) explain: Option<Audience>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(
        server: &'a str,
        tool: &'a str,
        arguments: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self {
            server,
            tool,
            arguments: json::raw(arguments)?,
            context: None,
            container: None,
            approvals: None,
            is_prepared: false,
            explain: None,
        })
    }

    /// The host's word about the call.
    pub(crate) fn within(mut self, context: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        self.context = context
            .map(|context| json::write(context, "context"))
            .transpose()?;
        Ok(self)
    }

    pub(crate) fn in_container(mut self, container: Option<&'a str>) -> Self {
        self.container = container;
        self
    }

    /// The approvals of the tool. Without a time they are judged by this machine's clock.
    pub(crate) fn approved(
        mut self,
        approvals: Option<&Bound<'_, Approvals>>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let now = now.map_or_else(clock, moment)?;
        self.approvals = approvals.map(|approvals| (approvals.get().of_tool(self.server, self.tool), now));
        Ok(self)
    }

    /// For arguments that were prepared before.
    pub(crate) fn prepared(mut self, is_prepared: bool) -> Self {
        self.is_prepared = is_prepared;
        self
    }

    pub(crate) fn explained(mut self, audience: &str) -> PyResult<Self> {
        self.explain = Some(match audience {
            "operator" => Audience::Operator,
            "agent" => Audience::Agent,
            other => {
                let why = format!("audience: found `{other}`, expected `operator` or `agent`");
                return Err(PyValueError::new_err(why));
            }
        });
        Ok(self)
    }

    pub(crate) fn request(&self) -> Request<'_> {
        let call = CallText::of(self.server, self.tool, self.arguments.as_deref());
        let call = match &self.context {
            Some(context) => call.within(context),
            None => call,
        };
        let paths = match self.is_prepared {
            true => Paths::Prepared,
            false => Paths::Gate {
                container_workspace_dir: self.container,
            },
        };
        let request = Request {
            paths,
            explain: self.explain,
            ..Request::gate(call)
        };
        match &self.approvals {
            Some((approvals, now)) => request.approved(approvals, Some(*now)),
            None => request,
        }
    }
}

fn clock() -> PyResult<Moment> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = since.ok().and_then(|since| i64::try_from(since.as_millis()).ok());
    milliseconds
        .map(Moment::from_millis)
        .ok_or_else(|| PyValueError::new_err("this machine's clock is before 1970"))
}

/// A moment: a `datetime` with a time zone, or RFC 3339 text.
fn moment(now: &Bound<'_, PyAny>) -> PyResult<Moment> {
    const EXPECTED: &str =
        "now: expected a datetime with a time zone, or RFC 3339 text such as 2026-03-01T12:00:00Z";
    let text = match (now.cast::<PyString>(), now.hasattr("isoformat")?) {
        (Ok(text), _) => text.to_str()?.to_owned(),
        (Err(_), true) => now.call_method0("isoformat")?.extract::<String>()?,
        (Err(_), false) => now.repr()?.to_string_lossy().into_owned(),
    };
    Moment::parse(&text).ok_or_else(|| PyValueError::new_err(format!("{EXPECTED}; found `{text}`")))
}
