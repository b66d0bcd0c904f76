//! The order in which the members of a call are looked at.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::value::Value;
use crate::program::{Compatibility, Program, Tool, ToolMember};
use crate::sort;

/// A member of the arguments with what its tool says about it.
pub(super) struct Named<'p, 'c> {
    pub(super) at: usize,
    pub(super) name: &'c str,
    pub(super) value: &'c Value<'c>,
    pub(super) member: Option<&'p ToolMember>,
}

/// The members in the order of the annotation, then in that of their names, so that no verdict depends on the order in
/// which the call has them. The existing runtime takes them as they come.
pub(super) fn in_order<'p, 'c>(
    program: &Program,
    tool: Option<&'p Tool>,
    members: &'c [(Cow<'c, str>, Value<'c>)],
) -> SmallVec<[Named<'p, 'c>; 4]> {
    let named = members.iter().enumerate().map(|(at, (name, value))| Named {
        at,
        name,
        value,
        member: tool.map(|tool| tool.member(name)),
    });
    let members: SmallVec<[Named<'_, '_>; 4]> = named.collect();
    let place = |one: &Named<'p, 'c>| {
        let first = one.member.and_then(|member| member.arguments.first().copied());
        (first.unwrap_or(usize::MAX), one.name)
    };
    if program.compatibility == Compatibility::Runtime || members.is_sorted_by_key(place) {
        return members;
    }
    let mut members = members.into_vec();
    sort::sort_by(&mut members, |one, other| place(one).cmp(&place(other)));
    members.into()
}
