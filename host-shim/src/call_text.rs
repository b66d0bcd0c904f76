//! A call as text.

use std::borrow::Cow;

use callgate_engine::bind::{Arguments, Call, CallError};
use serde_json::Value;
use serde_json::value::RawValue;

/// The JSON text of a call, and that of its context if it has one.
///
/// The context is the host's word about the call. It stands beside the call, never in it: whatever an agent writes there
/// is ignored.
#[derive(Clone, Copy, Debug)]
pub struct CallText<'c> {
    source: Source<'c>,
    pub(crate) context: Option<&'c str>,
}

/// How a call came.
#[derive(Clone, Copy, Debug)]
enum Source<'c> {
    Whole(&'c str),
    /// In parts, of a message that has a call. Joined they would be a copy of arguments that may be large.
    Parts {
        server: &'c str,
        tool: &'c str,
        /// `None` for a call without arguments.
        arguments: Option<&'c RawValue>,
    },
}

impl<'c> CallText<'c> {
    /// A call of a tool, with its arguments as JSON text, if it has any.
    pub fn of(server: &'c str, tool: &'c str, arguments: Option<&'c RawValue>) -> Self {
        Self {
            source: Source::Parts {
                server,
                tool,
                arguments,
            },
            context: None,
        }
    }

    /// The call in a context, `{mode, command, …}` as [`Context`](callgate_engine::world::Context) has it.
    #[must_use]
    pub fn within(self, context: &'c str) -> Self {
        let context = Some(context);
        Self { context, ..self }
    }

    /// The text of the call itself.
    pub fn text(self) -> Cow<'c, str> {
        match self.source {
            Source::Whole(text) => text.into(),
            Source::Parts {
                server,
                tool,
                arguments,
            } => {
                let arguments = arguments.map_or("{}", RawValue::get);
                let (server, tool) = (Value::from(server), Value::from(tool));
                format!(r#"{{"serverName":{server},"toolName":{tool},"arguments":{arguments}}}"#).into()
            }
        }
    }

    /// The call that the text is.
    ///
    /// # Errors
    /// When the text is not a call, or the context is not an object.
    pub fn read(self) -> Result<Call<'c>, CallError> {
        let call = match self.source {
            Source::Whole(text) => Call::from_json(text)?,
            Source::Parts {
                server,
                tool,
                arguments,
            } => {
                let none = Arguments::Members(Vec::new());
                Call::new(server, tool, arguments.map_or(none, Arguments::from))
            }
        };
        match self.context {
            Some(context) => call.within_json(context),
            None => Ok(call),
        }
    }
}

impl<'c> From<&'c str> for CallText<'c> {
    fn from(call: &'c str) -> Self {
        Self {
            source: Source::Whole(call),
            context: None,
        }
    }
}

impl<'c> From<&'c String> for CallText<'c> {
    fn from(call: &'c String) -> Self {
        Self::from(call.as_str())
    }
}
