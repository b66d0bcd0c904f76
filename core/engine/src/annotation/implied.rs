//! The roles that a tool's kind implies for its `path_params` (SPEC §5, the last paragraph).

use super::Argument;
use crate::model::{ArgumentName, Roles, Semantics, ToolKind};
use crate::role::RoleId;

/// Adds the arguments that `path_params` names and `args` does not cover, in their order.
///
/// An alias stands for its key, since a call has its aliases renamed before it is judged.
pub(super) fn add(arguments: &mut Vec<Argument>, semantics: &Semantics) {
    for name in semantics.arg_schema.path_names() {
        if !arguments.iter().any(|argument| covers(&argument.name, &name)) {
            let roles = Roles::Fixed(roles(semantics.kind).to_vec());
            arguments.push(Argument {
                name,
                roles,
                relative_to: None,
                reach: None,
                is_uri: false,
                scheme: None,
                separator: None,
                absent: None,
            });
        }
    }
}

/// The roles of a path argument of a tool of this kind. A tool that runs processes, or whose kind is unknown, may do
/// anything to the path.
fn roles(kind: ToolKind) -> &'static [RoleId] {
    match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch => &[RoleId::READ_PATH],
        ToolKind::Edit => &[RoleId::WRITE_PATH],
        ToolKind::Delete => &[RoleId::DELETE_PATH],
        ToolKind::Move => &[RoleId::WRITE_PATH, RoleId::DELETE_PATH],
        ToolKind::Execute | ToolKind::Other => &[RoleId::READ_PATH, RoleId::WRITE_PATH, RoleId::DELETE_PATH],
    }
}

/// Returns `true` if an annotated name covers the parameter: they are the same, or one of them lies within the other.
fn covers(annotated: &ArgumentName, parameter: &ArgumentName) -> bool {
    let is_whole = |name: &ArgumentName| matches!(name, ArgumentName::Top(_));
    annotated == parameter
        || annotated.first().is_some()
            && annotated.first() == parameter.first()
            && (is_whole(annotated) || is_whole(parameter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ArgSchema, ConditionValue};

    #[track_caller]
    fn check(kind: ToolKind, args: &[&str], params: &[&str], expected: &[(&str, &[RoleId])]) {
        let name = |name: &str| ArgumentName::parse(name).unwrap();
        let mut arguments: Vec<Argument> = args
            .iter()
            .map(|one| Argument {
                name: name(one),
                roles: Roles::Fixed(vec![RoleId::NONE]),
                relative_to: None,
                reach: None,
                is_uri: false,
                scheme: None,
                separator: None,
                absent: None,
            })
            .collect();
        let semantics = Semantics {
            kind,
            arg_schema: ArgSchema {
                path_params: params.iter().map(|one| (*one).into()).collect(),
                arg_aliases: [("file".into(), "path".into())].into(),
                required: Vec::new(),
            },
            ..Semantics::default()
        };
        add(&mut arguments, &semantics);
        let found: Vec<(String, &[RoleId])> = arguments[args.len()..]
            .iter()
            .map(|argument| {
                (
                    argument.name.to_string(),
                    argument.roles.resolve(|_| ConditionValue::Absent),
                )
            })
            .collect();
        let expected: Vec<(String, &[RoleId])> = expected
            .iter()
            .map(|(name, roles)| ((*name).to_owned(), *roles))
            .collect();
        assert_eq!(found, expected, "{kind:?} {args:?} {params:?}");
    }

    #[test]
    fn a_kind_implies_what_its_paths_mean() {
        let (read, write, delete) = (RoleId::READ_PATH, RoleId::WRITE_PATH, RoleId::DELETE_PATH);
        for (kind, roles) in [
            (ToolKind::Read, &[read][..]),
            (ToolKind::Search, &[read]),
            (ToolKind::Think, &[read]),
            (ToolKind::Fetch, &[read]),
            (ToolKind::Edit, &[write]),
            (ToolKind::Delete, &[delete]),
            (ToolKind::Move, &[write, delete]),
            (ToolKind::Execute, &[read, write, delete]),
            (ToolKind::Other, &[read, write, delete]),
        ] {
            check(
                kind,
                &["mode"],
                &["from", "to"],
                &[("from", roles), ("to", roles)],
            );
        }
    }

    #[test]
    fn what_args_says_stands() {
        let read = &[RoleId::READ_PATH][..];
        let kind = ToolKind::Read;
        check(kind, &["path"], &["path", "other"], &[("other", read)]);
        check(kind, &["path"], &["file"], &[]);
        check(kind, &[], &["file", "path"], &[("path", read)]);
        check(kind, &["/edits/*/path"], &["edits"], &[]);
        check(kind, &["edits"], &["/edits/*/path"], &[]);
        check(
            kind,
            &["/edits/*/mode"],
            &["/edits/*/path"],
            &[("/edits/*/path", read)],
        );
        check(kind, &["/*"], &["path"], &[("path", read)]);
    }
}
