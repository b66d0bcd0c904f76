//! What arrives in a directory keeps its name.

use super::Operand;
use super::operand::operand;
use super::options::Words;
use super::role::Role;
use callgate_shell::{Construct, NotUnderstood, Value, Word};

/// Adds what the operands mean in the last one, or in the directory that an option names, where that is a directory.
pub(super) fn into(
    roles: &[(Role, Word)],
    found: &Words,
    directories: &Option<Vec<String>>,
    is_tree: bool,
    operands: &mut Vec<Operand>,
) -> Result<(), NotUnderstood> {
    let named = found.values.iter().find(|(_, role, _)| *role == Role::WritePath);
    let (others, role, target) = match (named, roles.split_last()) {
        (Some((_, role, word)), _) => (roles, *role, word),
        (None, Some(((role, word), others))) => (others, *role, word),
        (None, None) => return Ok(()),
    };
    for (_, source) in others {
        let names = (source.exact(), target.exact());
        let (Some(source), Some(target_text)) = names else {
            // What matches a pattern keeps its name, and a pipe has none.
            let is_plain = |word: &Word| !matches!(word.value, Value::Unknown { .. });
            if let (Value::Pattern { pattern, .. }, Some(target_text), Role::WritePath | Role::Transfer) =
                (&source.value, target.exact(), role)
            {
                let names = pattern
                    .trim_end_matches('/')
                    .rsplit('/')
                    .next()
                    .unwrap_or_default();
                let before = format!("{}/", target_text.trim_end_matches('/'));
                operands.push(Operand {
                    role: Role::WritePath,
                    value: Value::Pattern {
                        pattern: format!("{before}{names}"),
                        before,
                        is_many: true,
                    },
                    place: target.place,
                    directories: directories.clone(),
                    is_tree,
                    contents: None,
                    arrives: true,
                    is_edited_if_there: false,
                });
                continue;
            }
            if is_plain(source) && is_plain(target) {
                continue;
            }
            return Err(NotUnderstood {
                place: source.place,
                construct: Construct::UnknownWord,
            });
        };
        let name = source
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        let word = Word {
            place: target.place,
            value: Value::Exact(format!("{}/{name}", target_text.trim_end_matches('/'))),
        };
        let role = match role {
            Role::Transfer => Role::WritePath,
            role => role,
        };
        if !name.is_empty() && name != "." && name != ".." {
            operand(role, &word, directories, false, operands)?;
        }
    }
    Ok(())
}
