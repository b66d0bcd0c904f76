//! The shape of a call, before anything else is judged: aliases renamed, required arguments there (SPEC §6.1).

use std::borrow::Cow;

use super::call::{Arguments, Call};
use super::value::Value;
use crate::program::Tool;
use crate::table::Table;

/// Why the arguments do not have the shape that the annotation describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// An alias and the key that it stands for are both there.
    AliasConflict {
        /// The alias as it was given.
        alias: String,
        /// The key that it stands for.
        key: String,
    },
    /// A required argument is missing or null.
    MissingRequired {
        /// The argument's key.
        key: String,
    },
}

impl std::fmt::Display for ShapeError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AliasConflict { alias, key } => {
                write!(
                    formatter,
                    "the arguments hold `{key}` and its alias `{alias}`, expected one of them"
                )
            }
            Self::MissingRequired { key } => {
                write!(
                    formatter,
                    "the argument `{key}` is missing or null, expected a value"
                )
            }
        }
    }
}

/// A call that has been given canonical keys.
pub struct Renamed<'c> {
    pub(crate) call: Call<'c>,
    /// The place and the key of each member that was renamed, in the order of the members.
    pub members: Vec<(usize, &'c str)>,
}

/// Renames aliases and checks what is required; `None` for a call that stays as it is.
pub fn shape<'c>(call: &Call<'c>, tool: Option<&'c Tool>) -> Result<Option<Renamed<'c>>, ShapeError> {
    match tool {
        Some(tool) if !tool.aliases.is_empty() || !tool.semantics.arg_schema.required.is_empty() => {
            shape_as(call, tool)
        }
        Some(_) | None => Ok(None),
    }
}

/// The same for a tool that has aliases or required arguments.
fn shape_as<'c>(call: &Call<'c>, tool: &'c Tool) -> Result<Option<Renamed<'c>>, ShapeError> {
    let required = &tool.semantics.arg_schema.required;
    let given = call.arguments.members();
    let aliased = given.iter().enumerate().filter_map(|(at, (name, _))| {
        let key = tool.aliases.get(&**name)?;
        Some((at, &**key))
    });
    let aliased: Vec<(usize, &str)> = aliased.collect();
    check_keys(given, &aliased, required)?;
    if aliased.is_empty() {
        return Ok(None);
    }
    let mut members = given.to_vec();
    for (at, key) in &aliased {
        if let Some((name, _)) = members.get_mut(*at) {
            *name = Cow::Borrowed(key);
        }
    }
    let shaped = Call::new(
        call.server.clone(),
        call.tool.clone(),
        Arguments::Members(members),
    );
    let context = call.context.clone();
    Ok(Some(Renamed {
        call: Call { context, ..shaped },
        members: aliased,
    }))
}

/// Checks that no key is there under two names, and that the required ones are there. `aliased` has the place and the key of
/// each member under an alias, in the order of the members.
fn check_keys(
    given: &[(Cow<'_, str>, Value<'_>)],
    aliased: &[(usize, &str)],
    required: &[Box<str>],
) -> Result<(), ShapeError> {
    // Keys stand in the annotation: no call chooses what is in this table. No name is looked for among all members.
    let mut known: Table<&str, Option<&Value<'_>>> = Table::default();
    known.extend(aliased.iter().map(|(_, key)| (*key, None)));
    known.extend(required.iter().map(|key| (&**key, None)));
    let mut aliases = aliased.iter().peekable();
    for (at, (name, value)) in given.iter().enumerate() {
        // Once renamed, an alias is not there any more.
        if aliases.next_if(|(alias, _)| *alias == at).is_none()
            && let Some(found) = known.get_mut(&**name)
        {
            *found = Some(value);
        }
    }
    for (at, key) in aliased {
        let member = given.get(*at);
        let found = known.get_mut(key);
        if let Some(((alias, value), found)) = member.zip(found)
            && found.replace(value).is_some()
        {
            return Err(ShapeError::AliasConflict {
                alias: alias.to_string(),
                key: (*key).to_owned(),
            });
        }
    }
    let is_absent = |key: &&str| {
        let found = known.get(*key).copied().flatten();
        found.is_none_or(Value::is_null)
    };
    match required.iter().map(|key| &**key).find(is_absent) {
        Some(key) => Err(ShapeError::MissingRequired { key: key.to_string() }),
        None => Ok(()),
    }
}
