//! A place in a world, and the command of a tool there.

use super::reply::{Reply, ReplyData};
use crate::model::ReplyCode;
use crate::path::CanonicalPath;

/// A place: its path and its address.
#[derive(Clone, Debug)]
pub struct Located {
    /// `root:<key>/<rel>` or `mod:<name>/<rel>`, without links, `.` and `..`.
    pub address: String,
    pub path: CanonicalPath,
    /// The path without `.` and `..`, with its links.
    pub lexical: Box<str>,
    pub root: Box<str>,
    /// The first name below the root.
    pub subdirectory: Option<Box<str>>,
    /// Everything after the first `/` of the address.
    pub(super) relative: Box<str>,
    pub mod_name: Option<Box<str>>,
}

impl Located {
    /// The beginning of the address: `root:<key>` or `mod:<name>`.
    pub fn base(&self) -> &str {
        self.address.split('/').next().unwrap_or_default()
    }

    /// The reply given to the agent.
    pub fn reply(&self) -> Reply {
        Reply {
            code: ReplyCode::Resolved,
            data: ReplyData::Place {
                resolved: self.address.clone(),
                root_key: self.root.to_string(),
                subdirectory: self.subdirectory.as_deref().map(str::to_owned),
                relative_path: self.relative.to_string(),
                mod_name: self.mod_name.as_deref().map(str::to_owned),
            },
        }
    }
}

/// A tool's command.
#[derive(Clone, Copy, Debug)]
pub struct Action<'s> {
    pub tool: &'s str,
    /// Without a command, rules that name commands do not apply.
    pub command: Option<&'s str>,
}
