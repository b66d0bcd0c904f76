//! The order in which the members of a call are looked at.

use std::borrow::Cow;

use super::value::Value;
use crate::program::{Program, ToolMember};
use crate::sort;

/// The places of the members that are looked at, in the order of the annotation, then in that of their names, so that no
/// verdict depends on the order in which the call has them; `None` where all members are in this order. The existing runtime
/// takes them as they come.
///
/// `known` is what the tool says about each, and empty without a tool.
pub(super) fn changed_order(
    program: &Program,
    known: &[&ToolMember],
    members: &[(Cow<'_, str>, Value<'_>)],
) -> Option<Vec<usize>> {
    let key = |at: usize| {
        let first = known.get(at).and_then(|member| member.arguments.first());
        let name = members.get(at).map(|(name, _)| &**name);
        (first.copied().unwrap_or(usize::MAX), name)
    };
    if !program.defaults.reads_names || (0..members.len()).is_sorted_by_key(key) {
        return None;
    }
    let places = members.iter().enumerate();
    let seen = places.filter(|(at, (_, value))| is_looked_at(known.get(*at).copied(), value));
    // The keys are kept together, since each is compared many times.
    let mut order: Vec<_> = seen.map(|(at, _)| (key(at), at)).collect();
    sort::sort_by(&mut order, |(one, _), (other, _)| one.cmp(other));
    Some(order.into_iter().map(|(_, at)| at).collect())
}

/// Returns `false` for a member that nobody looks into: neither is anything known or wanted of it, nor may it hold a text.
fn is_looked_at(known: Option<&ToolMember>, value: &Value<'_>) -> bool {
    let is_wanted = known.is_some_and(|member| !member.is_known || !member.arguments.is_empty());
    is_wanted
        || match value {
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Unread => false,
            Value::Text(_) | Value::IllFormed(_) | Value::Array(_) | Value::Object(_) => true,
            Value::Raw(raw) => raw.get().starts_with(['"', '[', '{']),
        }
}
