//! The order in which the members of a call are looked at.

use std::borrow::Cow;

use super::value::Value;
use crate::program::{Compatibility, Program, ToolMember};
use crate::sort;

/// The places of the members in the order of the annotation, then in that of their names, so that no verdict depends on the
/// order in which the call has them; empty where they are in this order. The existing runtime takes them as they come.
///
/// `known` is what the tool says about each, and empty without a tool.
pub(super) fn changed_order(
    program: &Program,
    known: &[&ToolMember],
    members: &[(Cow<'_, str>, Value<'_>)],
) -> Vec<usize> {
    let place = |at: usize| {
        let first = known.get(at).and_then(|member| member.arguments.first());
        let name = members.get(at).map(|(name, _)| &**name);
        (first.copied().unwrap_or(usize::MAX), name)
    };
    if program.compatibility == Compatibility::Runtime || (0..members.len()).is_sorted_by_key(place) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..members.len()).collect();
    sort::sort_by(&mut order, |one, other| place(*one).cmp(&place(*other)));
    order
}
