//! Calls that a policy counts (SPEC §8.4, *Counts*), in one document that guards, hooks and services share: a file, or a value in
//! Redis.
//!
//! Whoever judges a call locks the document, gives the engine the counts as they are, and adds the call before it lets go, if it is
//! to be made. So of two calls at once the second sees the first.

mod clock;
#[cfg(feature = "redis")]
mod redis;
mod store;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use callgate_engine::config::DocumentKind;
use callgate_engine::judge::CounterStep;
use callgate_engine::model::Caller as Respect;
use callgate_host::Gate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::caller::Caller;
use clock::Clock;
use store::{Locked, Store};

const FORMAT: &str = "counts/1";

/// How many calls are kept, those of one second as one. A file of them has less than the bytes that are read of one.
const MOST: usize = 16_384;

/// The highest count at which a rule looks; no more calls are kept for one.
const HIGHEST: u64 = 1_000;

/// How many calls each counter has counted, by its name.
pub type Counted = BTreeMap<String, u64>;

/// What a policy counts.
#[derive(Clone)]
pub struct Counters(Arc<[Counter]>);

#[derive(Deserialize)]
struct Counter {
    name: String,
    seconds: u64,
    #[serde(default)]
    per: Per,
}

/// The respects in which callers are counted by themselves.
#[derive(Deserialize)]
#[serde(untagged)]
enum Per {
    One(Respect),
    Several(Vec<Respect>),
}

impl Default for Per {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

#[derive(Deserialize)]
struct Documented {
    #[serde(default)]
    counters: Vec<Counter>,
}

impl Counters {
    /// What the policies of a gate and of the layers above it count. No two have a counter of one name.
    pub fn of(gate: &Gate) -> Self {
        let layers = gate.above().iter().map(AsRef::as_ref).chain([gate]);
        Self(layers.flat_map(counters_of).collect())
    }

    /// Returns `true` if it counts nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn counters_of(gate: &Gate) -> Vec<Counter> {
    let mut documents = gate.documents().iter();
    let policy = documents.find(|document| document.part == DocumentKind::Policy);
    // The engine has read it before.
    let read = policy.and_then(|policy| serde_json::from_str::<Documented>(&policy.text).ok());
    read.map(|read| read.counters).unwrap_or_default()
}

impl Counter {
    fn per(&self) -> &[Respect] {
        match &self.per {
            Per::One(respect) => std::slice::from_ref(respect),
            Per::Several(respects) => respects,
        }
    }

    /// Who asks, as far as it is counted by itself.
    fn caller(&self, caller: &Caller) -> Caller {
        caller.only(self.per())
    }

    /// Returns `true` if it counts the call for this caller. Whoever is not named may be anybody.
    fn counts(&self, call: &Call, caller: &Caller) -> bool {
        let is_same = |respect: &Respect| {
            let names = (call.caller.name(*respect), caller.name(*respect));
            names.0.is_none() || names.1.is_none() || names.0 == names.1
        };
        call.counter == self.name && self.per().iter().all(is_same)
    }
}

/// Calls of one second that a counter has counted.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Call {
    counter: String,
    /// How many they are.
    count: u64,
    /// When it was, by both clocks, in seconds.
    at: i64,
    up: i64,
    /// For how many seconds they count.
    seconds: u64,
    #[serde(flatten)]
    caller: Caller,
    /// The tool of a call about which its agent may ask once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
}

/// The document.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    format: String,
    boot: Option<String>,
    calls: Vec<Call>,
}

/// Where calls are counted.
#[derive(Clone, Debug)]
pub struct Counts {
    store: Store,
}

impl Counts {
    /// In a file in the folder of questions and approvals, which is made once something is counted.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            store: Store::Folder(folder.into()),
        }
    }

    /// In a server of Redis, which several machines share: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, or `rediss://…` for TLS.
    /// It is asked for once something is counted.
    ///
    /// # Errors
    /// The URL is not one of Redis.
    #[cfg(feature = "redis")]
    pub fn in_redis(url: &str) -> Result<Self, String> {
        Ok(Self {
            store: Store::Redis(redis::Redis::new(url)?),
        })
    }

    /// Locks the document and reads it, for a call of somebody. `again` names the tool of a call about which its agent has asked before,
    /// which is not counted twice.
    ///
    /// # Errors
    /// It cannot be read, or others may write it, or another program keeps it locked. That is not the same as no calls.
    pub fn begin(&self, counters: &Counters, caller: &Caller, again: Option<&str>) -> io::Result<Counting> {
        self.begin_at(counters, caller, again, Clock::now())
    }

    fn begin_at(
        &self,
        counters: &Counters,
        caller: &Caller,
        again: Option<&str>,
        clock: Clock,
    ) -> io::Result<Counting> {
        let (locked, text) = self.store.lock()?;
        let kept = match text {
            Some(text) => serde_json::from_str(&text).map_err(io::Error::other)?,
            None => Kept {
                format: FORMAT.to_owned(),
                ..Kept::default()
            },
        };
        if kept.format != FORMAT {
            let reason = format!(
                "the counts have the format {:?}, expected {FORMAT:?}",
                kept.format
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let mut counting = Counting {
            locked,
            kept,
            counters: counters.clone(),
            caller: caller.clone(),
            again: again.map(str::to_owned),
            clock,
        };
        counting.forget();
        Ok(counting)
    }
}

/// The locked document.
pub struct Counting {
    locked: Locked,
    kept: Kept,
    counters: Counters,
    caller: Caller,
    again: Option<String>,
    clock: Clock,
}

impl Counting {
    /// What was counted, for the context of the call.
    pub fn counted(&self) -> Counted {
        let counters = self.counters.0.iter();
        let counted = counters.map(|counter| {
            let own = self.own(counter);
            let calls = self.kept.calls.iter().enumerate();
            let calls = calls.filter(|(at, call)| Some(*at) != own && counter.counts(call, &self.caller));
            let within = calls.filter(|(_, call)| self.clock.up - call.up <= seconds(counter.seconds));
            let count = within.map(|(_, call)| call.count).sum::<u64>();
            (counter.name.clone(), count.min(HIGHEST))
        });
        counted.collect()
    }

    /// Adds the call of an explanation, before it is made. `tool` names its tool if its agent may ask about it again.
    ///
    /// # Errors
    /// It is not certain that the call is counted.
    pub fn add(mut self, explanation: Option<&Value>, tool: Option<&str>) -> io::Result<()> {
        let (counters, adds) = (self.counters.clone(), adds(explanation));
        if adds.is_empty() {
            return Ok(());
        }
        for (name, count) in adds {
            let Some(counter) = counters.0.iter().find(|counter| counter.name == name) else {
                continue;
            };
            match self.own(counter).and_then(|at| self.kept.calls.get_mut(at)) {
                Some(call) => call.tool = None,
                None => self.push(counter, count, tool),
            }
        }
        if self.kept.calls.len() > MOST {
            let reason = format!(
                "{} calls are counted, expected at most {MOST}",
                self.kept.calls.len()
            );
            return Err(io::Error::new(io::ErrorKind::StorageFull, reason));
        }
        let longest = self.kept.calls.iter().map(|call| call.seconds).max();
        let text = serde_json::to_string(&self.kept)?;
        self.locked.write(&text, seconds(longest.unwrap_or_default()))
    }

    /// The call itself, which was counted when its agent asked about it before.
    fn own(&self, counter: &Counter) -> Option<usize> {
        let again = self.again.as_deref()?;
        let caller = counter.caller(&self.caller);
        let is_own = |call: &Call| {
            call.counter == counter.name && call.tool.as_deref() == Some(again) && call.caller == caller
        };
        self.kept.calls.iter().rposition(is_own)
    }

    fn push(&mut self, counter: &Counter, count: u64, tool: Option<&str>) {
        let caller = counter.caller(&self.caller);
        let (at, up) = (self.clock.at, self.clock.up);
        let calls = &mut self.kept.calls;
        let is_alike = |call: &Call| {
            call.counter == counter.name
                && call.caller == caller
                && call.up == up
                && call.tool.is_none()
                && tool.is_none()
        };
        match calls.iter_mut().rev().find(|call| is_alike(call)) {
            Some(call) => call.count = call.count.saturating_add(count),
            None => calls.push(Call {
                counter: counter.name.clone(),
                count,
                at,
                up,
                seconds: counter.seconds,
                caller: caller.clone(),
                tool: tool.map(str::to_owned),
            }),
        }
        // A count does not grow any more, so that the older ones of these say nothing.
        let mut newer = 0;
        let is_of_it = |call: &Call| call.counter == counter.name && call.caller == caller;
        let mut kept: Vec<Call> = std::mem::take(calls);
        kept.reverse();
        kept.retain(|call| {
            let is_needed = !is_of_it(call) || newer < HIGHEST;
            newer += if is_of_it(call) { call.count } else { 0 };
            is_needed
        });
        kept.reverse();
        *calls = kept;
    }

    /// Brings the times of the calls to those of this clock, and leaves out what counts no more.
    fn forget(&mut self) {
        let (clock, counters) = (&self.clock, &self.counters);
        let is_same_boot = clock.boot.is_some() && self.kept.boot == clock.boot;
        for call in &mut self.kept.calls {
            let age = match is_same_boot {
                true => clock.up.saturating_sub(call.up),
                false => clock.at.saturating_sub(call.at),
            };
            // A call of the future was made before now, whatever a clock said.
            let age = age.max(0);
            (call.at, call.up) = (clock.at - age, clock.up - age);
        }
        self.kept.boot.clone_from(&clock.boot);
        self.kept.calls.retain(|call| {
            let counter = counters.0.iter().find(|counter| counter.name == call.counter);
            let longest = counter.map_or(call.seconds, |counter| counter.seconds.max(call.seconds));
            clock.up - call.up <= seconds(longest)
        });
    }
}

fn seconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// Returns `true` if the call of an explanation counts.
pub fn is_counted(explanation: Option<&Value>) -> bool {
    !adds(explanation).is_empty()
}

/// How often a call counts, by the names of the counters.
fn adds(explanation: Option<&Value>) -> Vec<(String, u64)> {
    let steps = explanation.and_then(|explanation| explanation.get("counters"));
    let steps: Option<Vec<CounterStep>> = steps.and_then(|steps| Vec::deserialize(steps).ok());
    let steps = steps.unwrap_or_default().into_iter();
    steps
        .filter(|step| step.adds > 0)
        .map(|step| (step.counter, step.adds))
        .collect()
}

/// A context that says what was counted, beside what it says of other things.
pub fn said(context: Option<String>, counted: Option<&Counted>) -> Option<String> {
    let Some(counted) = counted else { return context };
    let read = context.as_deref().map(serde_json::from_str::<Map<String, Value>>);
    // What is no context stays one that is refused.
    let Ok(read) = read.transpose() else {
        return context;
    };
    let mut all = read.unwrap_or_default();
    all.insert("counts".to_owned(), Value::from_iter(counted.clone()));
    Some(Value::Object(all).to_string())
}

#[cfg(test)]
mod tests;
