//! The two views of a call's arguments, without a verdict.

use std::fmt;

use super::Engine;
use crate::bind::{Arguments, Call, Prepared, Replacement, ShapeError, shape};
use crate::host::{Host, HostError};
use crate::judge::{Judging, PathBase, Task, heuristic};
use crate::model::ServerKind;
use crate::program::RelativePaths;

/// Why arguments cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrepareError {
    /// The arguments are not an object, or contain a value under a resource role that cannot be read.
    Unreadable(String),
    /// The arguments contain both an alias and its key, or a required argument is missing.
    Shape(ShapeError),
    /// The host failed.
    Host(HostError),
}

impl fmt::Display for PrepareError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => formatter.write_str(why),
            Self::Shape(error) => write!(formatter, "{error}"),
            Self::Host(error) => write!(formatter, "the host failed to answer: {error}"),
        }
    }
}

impl std::error::Error for PrepareError {}

impl Engine {
    /// The two views of a call's arguments (SPEC §6), for a tool of this engine.
    ///
    /// # Errors
    /// The arguments are not an object, or the host fails. A value is never an error: one without a canonical form
    /// stays as given.
    pub fn prepare(
        &self,
        call: &Call<'_>,
        allowed_directory: Option<&str>,
        container_workspace_dir: Option<&str>,
        host: &dyn Host,
    ) -> Result<Prepared, PrepareError> {
        if let Arguments::Unreadable(why) = &call.arguments {
            return Err(PrepareError::Unreadable(why.clone()));
        }
        let (settings, tool) = self.program.server_and_tool(call.server(), call.tool());
        let base = allowed_directory.map(|given| crate::path::lexical(given, &self.program.current));
        let keeps_relative =
            allowed_directory.is_some() && self.program.relative_paths == RelativePaths::AsGiven;
        let paths = PathBase {
            directory: base.as_deref().unwrap_or(&self.program.current),
            container: container_workspace_dir.zip(allowed_directory),
            keeps_relative,
            may_send_given: keeps_relative,
            is_git: settings.kind == Some(ServerKind::Git),
            server_paths: settings.paths.as_deref(),
        };
        let shape = shape(call, tool).map_err(PrepareError::Shape)?;
        if tool.is_none() {
            return Ok(self.prepare_unknown(call));
        }
        let task = Task {
            settings,
            tool,
            given: call,
            shape: &Ok(shape),
            base: &paths,
            traced: false,
            approving: None,
        };
        let mut judging = Judging::new(&self.program, self.known(), &task, host);
        judging.prepare().map_err(PrepareError::Host)
    }

    /// Without an annotation, both views contain the lexical form of whatever looks like a path.
    fn prepare_unknown(&self, call: &Call<'_>) -> Prepared {
        let program = &self.program;
        let mut replacements = Vec::new();
        for (argument, (_, value)) in call.arguments.members().iter().enumerate() {
            for (place, text) in value.strings(program.limits.depth) {
                let lexical = heuristic(&text, &program.home, &program.current);
                replacements.extend(lexical.map(|lexical| Replacement {
                    argument,
                    place,
                    transport: Some(lexical.clone()),
                    policy: Some(lexical),
                }));
            }
        }
        Prepared {
            renamed: Vec::new(),
            replacements,
        }
    }
}
