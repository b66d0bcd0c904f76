//! What the host counts, and the conditions of rules on how much that is (SPEC §8.4, *Counts*).

use super::Rule;
use super::conditions::read_conditions;
use crate::diagnostic::{Code, Severity};
use crate::document::{Node, did_you_mean, keys, listed};
use crate::limits::Limits;
use crate::model::{Caller, Effect};
use crate::role::Registry;

/// Counters of one policy: a call is held against each of them.
const COUNTERS: usize = 64;

/// Bytes of the longest name of one.
const NAME: usize = 64;

/// The highest count that a rule may look at. The host keeps no more calls for it.
const HIGHEST: u64 = 1_000;

/// The longest time for which a call counts: 31 days.
const SECONDS: u64 = 2_678_400;

/// Calls that the host counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// The calls: those about which a rule that asks may hold. Its name is the counter's.
    pub rule: Rule,
    /// For how long a call counts.
    pub seconds: u64,
    /// The respects in which whoever asks is counted by themselves.
    pub per: Vec<Caller>,
}

/// Reads the counters of a policy.
pub(super) fn read_counters(node: &Node<'_, '_>, registry: &Registry, limits: &Limits) -> Vec<Counter> {
    let mut names: Vec<Box<str>> = Vec::new();
    let counters = node.each("an array of counters", |item| {
        let counter = item.object_of(keys::COUNTER, Severity::Error)?;
        let name = counter.require("name", "the name of a counter", |node| {
            let name: Box<str> = node.name()?.into();
            let is_new = name.len() <= NAME && !names.contains(&name);
            if !is_new {
                node.refuse(
                    Code::InvalidValue,
                    "expected a name of at most 64 bytes that no other counter has",
                );
            }
            names.push(name.clone());
            is_new.then_some(name)
        });
        let description = counter.optional_string("description");
        let conditions = counter.require("if", "an object of conditions", |node| {
            if node.value().get("counts").is_some() {
                node.refuse(
                    Code::InvalidValue,
                    "expected no `counts` in the conditions of a counter",
                );
                return None;
            }
            read_conditions(node, registry, limits)
        });
        let seconds = counter.require("seconds", "for how long a call counts", |node| {
            read_number(node, 1, SECONDS)
        });
        let per = counter.read_if_present("per", |node| {
            node.one_or_each("an array of `subject`, `agent`, `session`", |item| item.word())
        });
        Some(Counter {
            rule: Rule {
                index: 0,
                name: name?,
                description: description?.into(),
                principle: Box::default(),
                reason: Box::default(),
                effect: Effect::Escalate,
                conditions: conditions?,
            },
            seconds: seconds?,
            per: per?.unwrap_or_default(),
        })
    });
    let mut counters = counters.unwrap_or_default();
    for (at, counter) in counters.iter_mut().enumerate() {
        counter.rule.index = at;
    }
    match node.check_limit(counters.len(), "counters", "counters", COUNTERS) {
        true => counters,
        false => Vec::new(),
    }
}

/// The bounds of counts in the conditions of a rule with this effect.
///
/// A count may be too high, and is never too low (SPEC §8.4): it grants by being low, and restricts by being high.
pub(super) fn read_counts(
    node: &Node<'_, '_>,
    effect: Effect,
    counters: Option<&[&str]>,
) -> Option<Vec<(Box<str>, u64)>> {
    let object = node.object()?;
    let Some(counts) = object.optional("counts") else {
        return Some(Vec::new());
    };
    let found = counts.object()?;
    let is_known = |name: &str| counters.is_none_or(|counters| counters.contains(&name));
    let mut all_known = true;
    for (name, item) in found.entries().filter(|(name, _)| !is_known(name)) {
        all_known = false;
        item.fault(Severity::Error, Code::UnknownName, || {
            let known = || counters.into_iter().flatten().copied();
            let message = format!("found the count `{name}`, expected one of {}", listed(known()));
            (message, did_you_mean(name, known()))
        });
    }
    let (key, other, least, most) = match effect {
        Effect::Allow => ("atMost", "atLeast", 0, HIGHEST - 1),
        Effect::Escalate | Effect::Deny => ("atLeast", "atMost", 1, HIGHEST),
    };
    let count = found.entries().len();
    let bounds = counts.each_entry(|item| {
        let bound = item.object_of(keys::COUNT, Severity::Error)?;
        if bound.optional(other).is_some() {
            let then = effect.as_str();
            item.error(
                Code::InvalidValue,
                format_args!(
                    "found `{other}` in a rule that says `{then}`, expected `{key}`: a count may be too high"
                ),
            );
            return None;
        }
        bound.require(key, "a count", |node| read_number(node, least, most))
    });
    if count == 0 {
        counts.refuse(Code::InvalidValue, "expected at least one count");
    }
    (all_known && count > 0 && bounds.len() == count).then_some(bounds)
}

fn read_number(node: &Node<'_, '_>, least: u64, most: u64) -> Option<u64> {
    let number = node.value().as_u64();
    let number = number.filter(|number| (least..=most).contains(number));
    if number.is_none() {
        node.refuse(
            Code::InvalidValue,
            &format!("expected an integer from {least} to {most}"),
        );
    }
    number
}
