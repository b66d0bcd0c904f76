//! A tool call: MCP's `tools/call` with the server that offers the tool.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::value::{Members, Text, Value};
use crate::world::Context;

/// A tool call as the agent made it.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    pub server: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    pub arguments: Arguments<'a>,
    /// The context that the host gives with the call, if any.
    pub context: Option<Arc<Context>>,
}

/// The `arguments` of a call.
#[derive(Clone, Debug)]
pub enum Arguments<'a> {
    /// The object's own members, in order, each name once. Absent arguments, and null, are an empty object.
    Members(Vec<(Cow<'a, str>, Value<'a>)>),
    /// Something else than an object, or an object that cannot be read: why.
    Unreadable(String),
}

/// Why JSON text is not a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// Line of the text, from 1.
    pub line: usize,
    /// Column of the line, from 1.
    pub column: usize,
    /// The fault, and what was expected instead.
    pub message: String,
}

impl fmt::Display for CallError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

impl std::error::Error for CallError {}

impl<'a> Call<'a> {
    /// A call of `tool` at `server`.
    pub fn new(
        server: impl Into<Cow<'a, str>>,
        tool: impl Into<Cow<'a, str>>,
        arguments: Arguments<'a>,
    ) -> Self {
        Self {
            server: server.into(),
            tool: tool.into(),
            arguments,
            context: None,
        }
    }

    /// The same call in a context, which an engine with a world judges addresses by.
    ///
    /// It is the host's word: what an agent sends must never become one, so [`Call::from_json`] reads none.
    #[must_use]
    pub fn within(self, context: impl Into<Arc<Context>>) -> Self {
        let context = Some(context.into());
        Self { context, ..self }
    }

    /// The same call in the context that JSON text describes.
    ///
    /// # Errors
    /// When the text is not a JSON object, or holds a key twice.
    pub fn within_json(self, context: &str) -> Result<Self, CallError> {
        let context = Context::from_json(context).map_err(|why| CallError {
            line: 1,
            column: 1,
            message: format!("the context: {why}"),
        })?;
        Ok(self.within(context))
    }

    /// A call with parsed arguments.
    pub fn from_value(server: &'a str, tool: &'a str, arguments: &'a serde_json::Value) -> Self {
        Self::new(server, tool, Arguments::from_value(arguments))
    }

    /// Reads `{serverName, toolName, arguments}`; other members are passed over.
    ///
    /// Argument values stay JSON text until a role or a condition needs them, so a large one costs little
    /// more than finding its end. Arguments that are not an object are a call that is denied, not an error.
    ///
    /// # Errors
    /// When the text is not JSON, not an object, holds a name twice, or lacks `serverName` or `toolName`.
    pub fn from_json(text: &'a str) -> Result<Self, CallError> {
        // The arguments are parsed along with the call. If that fails, the call is read again with its arguments kept
        // raw, so that a fault inside them denies the call instead of rejecting it.
        if let Ok(call) = read::<Members<'a, Value<'a>>>(text) {
            return Ok(call);
        }
        read::<&RawValue>(text).map_err(|error| {
            let message = strip_place(&error.to_string());
            CallError {
                line: error.line(),
                column: error.column(),
                message: match error.classify() {
                    Category::Syntax | Category::Eof => format!("not JSON: {message}"),
                    Category::Data | Category::Io => message,
                },
            }
        })
    }

    /// The server that offers the tool.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool's name.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The context that the host gives with the call; empty, without even a mode, if it gives none.
    pub fn context(&self) -> &Context {
        self.context.as_deref().unwrap_or(Context::EMPTY)
    }
}

impl<'a> Arguments<'a> {
    /// The arguments in a parsed document.
    pub fn from_value(arguments: &'a serde_json::Value) -> Self {
        match Value::from(arguments) {
            Value::Object(members) => Self::Members(members),
            Value::Null => Self::Members(Vec::new()),
            _ => Self::not_an_object(&arguments.to_string()),
        }
    }

    /// The arguments in JSON text.
    pub fn from_json(text: &'a str) -> Self {
        // Only what is no object that can be read is read twice.
        if let Ok(members) = serde_json::from_str::<Members<'a, Value<'a>>>(text) {
            return members.into();
        }
        match serde_json::from_str::<&RawValue>(text) {
            Ok(raw) => raw.into(),
            Err(_) => Self::Unreadable("`arguments` are not JSON".to_owned()),
        }
    }

    /// The arguments in JSON text that is something else.
    fn not_an_object(text: &str) -> Self {
        let found = match text.as_bytes().first() {
            Some(b't' | b'f') => "a boolean",
            Some(b'"') => "a string",
            Some(b'[') => "an array",
            _ => "a number",
        };
        Self::Unreadable(format!("`arguments` are {found}, expected an object"))
    }

    /// The members; none where the arguments cannot be read.
    pub fn members(&self) -> &[(Cow<'a, str>, Value<'a>)] {
        match self {
            Self::Members(members) => members,
            Self::Unreadable(_) => &[],
        }
    }
}

/// serde_json ends its messages with the place, which a [`CallError`] holds by itself.
fn strip_place(message: &str) -> String {
    message
        .split_once(" at line ")
        .map_or(message, |(text, _)| text)
        .to_owned()
}

impl<'a> From<Members<'a, Value<'a>>> for Arguments<'a> {
    fn from(Members(members): Members<'a, Value<'a>>) -> Self {
        Self::Members(members)
    }
}

impl<'a> From<&'a RawValue> for Arguments<'a> {
    fn from(raw: &'a RawValue) -> Self {
        // Some clients send null for none.
        if raw.get() == "null" {
            return Self::Members(Vec::new());
        }
        if !raw.get().starts_with('{') {
            return Self::not_an_object(raw.get());
        }
        match serde_json::from_str::<Members<'a, Value<'a>>>(raw.get()) {
            Ok(members) => members.into(),
            Err(error) => Self::Unreadable(format!("`arguments`: {}", strip_place(&error.to_string()))),
        }
    }
}

/// Reads a call whose arguments are read as `A`.
fn read<'a, A: Deserialize<'a> + Into<Arguments<'a>>>(text: &'a str) -> serde_json::Result<Call<'a>> {
    struct CallVisitor<A>(PhantomData<A>);

    impl<'de, A: Deserialize<'de> + Into<Arguments<'de>>> Visitor<'de> for CallVisitor<A> {
        type Value = Call<'de>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a call `{serverName, toolName, arguments}`")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut server: Option<Text<'de>> = None;
            let mut tool: Option<Text<'de>> = None;
            let mut arguments: Option<Arguments<'de>> = None;
            while let Some(Text(name)) = map.next_key()? {
                let first = match &*name {
                    "serverName" => server.replace(map.next_value()?).is_none(),
                    "toolName" => tool.replace(map.next_value()?).is_none(),
                    "arguments" => arguments.replace(map.next_value::<A>()?.into()).is_none(),
                    _ => {
                        map.next_value::<IgnoredAny>()?;
                        true
                    }
                };
                if !first {
                    return Err(M::Error::custom(format_args!("`{name}` occurs twice")));
                }
            }
            Ok(Call::new(
                server.ok_or_else(|| M::Error::missing_field("serverName"))?.0,
                tool.ok_or_else(|| M::Error::missing_field("toolName"))?.0,
                arguments.unwrap_or(Arguments::Members(Vec::new())),
            ))
        }
    }

    let mut reader = serde_json::Deserializer::from_str(text);
    let call = reader.deserialize_map(CallVisitor::<A>(PhantomData))?;
    reader.end()?;
    Ok(call)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn members_found_at_once_are_those_found_later(
            members in prop::collection::vec((
                prop::sample::select(vec!["a", "b", "c", r"\u0061", r"\ud800", "é", ""]),
                prop::sample::select(vec!["1", "-1e999", "null", r#""x""#, r#""\ud800""#, " [1, {}] ", r#"{"a": 1, "a": 2}"#, "x"]),
            ), 0..5),
            wrapped in prop::sample::select(vec!["{}", " {} ", "[{}]", "{}}", "1", "1e999", "null", r#""{""#]),
        ) {
            let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
            let object = format!("{{{}}}", members.join(", "));
            let arguments = wrapped.replace("{}", &object);
            let text = format!(r#"{{"serverName": "s", "arguments": {arguments}, "toolName": "t"}}"#);
            if let Ok(call) = read::<Members<'_, Value<'_>>>(&text) {
                let later = read::<&RawValue>(&text);
                prop_assert_eq!(format!("{:?}", Ok::<_, ()>(call)), format!("{:?}", later.map_err(drop)));
            }
        }
    }
}
