//! A tool with the names of a call's members, looked up once for all calls that have the same.

use std::borrow::Cow;
use std::sync::Arc;

use super::call::{Arguments, Call};
use super::value::Value;
use crate::program::{Identity, Program, Tool, ToolMember, VariesBy};

/// The names of a call's members in one order, as one engine knows them.
///
/// It costs a lookup of each name to make, and saves these in each call that has the same names. An engine takes a
/// call laid out by another engine like any other call.
#[derive(Debug)]
pub struct Layout {
    engine: Arc<Identity>,
    server: String,
    tool_name: String,
    tool: usize,
    members: Vec<Member>,
    varies_by: VariesBy,
}

#[derive(Debug)]
struct Member {
    name: String,
    known_as: ToolMember,
}

impl Layout {
    pub(crate) fn new(program: &Program, server: &str, tool_name: &str, names: Vec<String>) -> Option<Self> {
        let tool = program.place_of_tool(server, tool_name)?;
        let found = program.tools.get(tool)?;
        let members: Vec<Member> = names
            .into_iter()
            .map(|name| Member {
                known_as: found.member(&name).clone(),
                name,
            })
            .collect();
        let varies_by = program.varies_by(found, members.iter().map(|member| &member.known_as));
        Some(Self {
            engine: Arc::clone(&program.identity),
            server: server.to_owned(),
            tool_name: tool_name.to_owned(),
            tool,
            members,
            varies_by,
        })
    }

    /// The server that offers the tool.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool's name.
    pub fn tool_name(&self) -> &str {
        &self.tool_name
    }

    /// What the verdicts of its plain calls vary by.
    pub fn varies_by(&self) -> VariesBy {
        self.varies_by
    }

    /// A key for a cache of this layout's verdicts: the origin of the call's URL, or nothing. As long as the host is asked
    /// nothing, two calls that have the same key have the same verdict.
    ///
    /// `None` for a call that may have one of its own: in a context, or with a value that is neither a plain text
    /// ([`VariesBy`]) nor left unread.
    pub fn cache_key<'c>(&self, call: &'c Call<'_>) -> Option<&'c str> {
        let is_own = call.layout.is_some_and(|layout| std::ptr::eq(layout, self));
        if !is_own || call.context.is_some() {
            return None;
        }
        let mut key = "";
        for (at, (_, value)) in call.arguments.members().iter().enumerate() {
            match value {
                Value::Unread => {}
                Value::Text(text) => match self.varies_by.key_of(at, text)? {
                    "" => {}
                    origin => key = origin,
                },
                _ => return None,
            }
        }
        Some(key)
    }

    /// The call of the tool whose members have those values; `None` unless there is one for each name, and no more.
    pub fn call<'a>(&'a self, mut values: impl Iterator<Item = Value<'a>>) -> Option<Call<'a>> {
        let mut members = Vec::with_capacity(self.members.len());
        for member in &self.members {
            members.push((Cow::Borrowed(member.name.as_str()), values.next()?));
        }
        if values.next().is_some() {
            return None;
        }
        let arguments = Arguments::Members(members);
        let mut call = Call::new(self.server.as_str(), self.tool_name.as_str(), arguments);
        call.layout = Some(self);
        Some(call)
    }

    /// The tool, if this was made by the engine of that program.
    pub(crate) fn tool<'p>(&self, program: &'p Program) -> Option<&'p Tool> {
        let is_own = Arc::ptr_eq(&self.engine, &program.identity);
        program.tools.get(self.tool).filter(|_| is_own)
    }

    /// What the tool knows of the member at that place.
    pub(crate) fn member(&self, at: usize) -> Option<&ToolMember> {
        self.members.get(at).map(|member| &member.known_as)
    }
}
