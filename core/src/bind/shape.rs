//! The shape of a call, before anything else is judged: aliases renamed, required arguments there (SPEC §6.1).

use std::borrow::Cow;

use super::call::{Arguments, Call};
use super::value::Value;
use crate::program::Tool;
use crate::table::{Set, Table};

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
pub(crate) struct Renamed<'c> {
    pub(crate) call: Call<'c>,
    /// The place and the key of each member that was renamed.
    pub(crate) members: Vec<(usize, String)>,
}

/// Renames aliases and checks what is required; `None` for a call that stays as it is.
pub(crate) fn shape<'c>(
    call: &Call<'c>,
    tool: Option<&Tool>,
) -> Result<Option<Box<Renamed<'c>>>, Box<ShapeError>> {
    let Some(schema) = tool.map(|tool| &tool.semantics.arg_schema) else {
        return Ok(None);
    };
    if schema.arg_aliases.is_empty() && schema.required.is_empty() {
        return Ok(None);
    }
    let given = call.arguments.members();
    let aliased = given.iter().enumerate().filter_map(|(at, (name, value))| {
        let key = schema.arg_aliases.get(&**name)?;
        Some((at, &**name, &**key, value))
    });
    let aliased: Vec<(usize, &str, &str, &Value<'_>)> = aliased.collect();
    let required = schema.required.iter().map(|key| &**key);
    // Keys stand in the annotation: no call chooses what is in these tables.
    let keys: Set<&str> = aliased
        .iter()
        .map(|(_, _, key, _)| *key)
        .chain(required)
        .collect();
    // The values of the keys that matter: no name is looked for among all members.
    let named = given.iter().map(|(name, value)| (&**name, value));
    let mut known: Table<&str, &Value<'_>> = named.filter(|(name, _)| keys.contains(name)).collect();
    let mut renamed = Vec::new();
    for (at, alias, key, value) in aliased {
        if known.insert(key, value).is_some() {
            return Err(Box::new(ShapeError::AliasConflict {
                alias: alias.to_owned(),
                key: key.to_owned(),
            }));
        }
        // The alias is not there any more.
        known.swap_remove(alias);
        renamed.push((at, key.to_owned()));
    }
    for key in &schema.required {
        if known.get(&**key).is_none_or(|value| value.is_null()) {
            let key = key.to_string();
            return Err(Box::new(ShapeError::MissingRequired { key }));
        }
    }
    if renamed.is_empty() {
        return Ok(None);
    }
    let mut members = given.to_vec();
    for (at, key) in &renamed {
        if let Some(member) = members.get_mut(*at) {
            member.0 = Cow::Owned(key.clone());
        }
    }
    let shaped = Call::new(
        call.server.clone(),
        call.tool.clone(),
        Arguments::Members(members),
    );
    let context = call.context.clone();
    Ok(Some(Box::new(Renamed {
        call: Call { context, ..shaped },
        members: renamed,
    })))
}
