//! Judging what an agent asks about.

use std::time::Instant;

use callgate_engine::approval::Approvals;
use callgate_engine::engine::Audience;
use callgate_engine::judge::{Decision, StructuralRule, ValueStep, Verdict};
use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use super::agents::Step;
use super::answer::{Answered, HookAnswer, fault_at};
use super::arguments::{is_patch, is_relative, leads_elsewhere, make_absolute, paths, top};
use super::call::HookCall;
use super::globs::{Protected, named};
use super::names::Called;
use super::options::HookOptions;
use callgate_guard::{Answerer, Caller, Counted, Counters, Counting, Journal, JournalEntry, now, said};
use callgate_host::{CallText, Gate, Request, Response};

/// One reading of a call, judged.
pub(super) struct Judged {
    pub(super) server: String,
    pub(super) tool: String,
    pub(super) response: Response,
    /// The values that were judged.
    values: Vec<ValueStep>,
    /// The arguments as the engine was asked about them last.
    pub(super) asked: Value,
    /// The arguments that were judged and can be sent, as the agent gives them.
    pub(super) sent: Option<Value>,
    /// Who was asked and answered.
    pub(super) answered_by: Option<Answerer>,
    /// The counts that the engine was told.
    pub(super) counted: Option<Counted>,
}

/// What is read of an explanation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Explained {
    values: Vec<ValueStep>,
    steps_left_out: usize,
}

impl HookCall {
    /// Judges the call, writes the log, and gives the answer.
    pub fn answer(&self, gate: &Gate, options: &HookOptions) -> HookAnswer {
        if self.called == Called::Later {
            return HookAnswer::of(self, Answered::Allow, "it is judged before it runs", None);
        }
        match self.decide(gate, options) {
            Ok(answer) => answer,
            Err(reason) => fault_at(self.event, &reason),
        }
    }

    fn decide(&self, gate: &Gate, options: &HookOptions) -> Result<HookAnswer, String> {
        let begun = Instant::now();
        let journal = options.audit.clone().map(Journal::open).transpose();
        let journal = journal.map_err(|error| format!("the log cannot be written: {}", error.kind()))?;
        let approvals = options
            .queue
            .as_ref()
            .and_then(|(queue, _)| queue.approvals().ok());
        let counters = Counters::of(gate);
        let mut counting = self.begin_counting(&counters, options);
        let counted = counting.as_ref().map(Counting::counted);
        let mut strictest: Option<Judged> = None;
        let readings = self.readings();
        let is_ambiguous = readings.len() > 1;
        for (server, tool) in readings {
            let judged = self.judge(gate, server, tool, (approvals.as_ref(), counted.clone()))?;
            let is_stricter = strictest.as_ref().is_none_or(|known| {
                judged.response.verdict.decision.strictness() > known.response.verdict.decision.strictness()
            });
            if is_stricter {
                strictest = Some(judged);
            }
        }
        let mut judged = strictest.ok_or("the call has no reading")?;
        let escalates = matches!(judged.response.verdict.decision, Decision::Escalate(_));
        let is_left = self.is_left(options);
        if let Some((queue, patience)) = options
            .queue
            .as_ref()
            .filter(|_| escalates && !is_left && !self.asks(options))
        {
            // Others may count while a person is asked.
            counting = None;
            judged = self.decided_by_a_person(gate, judged, queue, *patience, options)?;
        }
        let mut answered = self.answered(&judged, options);
        let is_counted = !answered.passes()
            || self.count(&counters, counting, judged.response.explanation.as_ref(), options);
        if !is_counted && judged.answered_by.is_none() && judged.response.verdict.decision == Decision::Allow
        {
            judged.response.verdict = uncounted();
            answered = self.answered(&judged, options);
        }
        let verdict = &judged.response.verdict;
        let sent = judged.sent.as_ref().filter(|_| answered.passes());
        if let Some(journal) = journal {
            let text = sent.map(Value::to_string);
            let given = to_raw_value(&self.arguments).ok();
            let entry = JournalEntry {
                server: &judged.server,
                tool: &judged.tool,
                arguments: given.as_deref(),
                caller: &Caller::of(self.caller.added_to(None).as_deref()),
                counted: judged.counted.as_ref(),
                response: &judged.response,
                sent: text.as_deref(),
                gate,
                answered_by: judged.answered_by,
                took: begun.elapsed(),
            };
            journal
                .write(&entry)
                .map_err(|error| format!("the log cannot be written: {}", error.kind()))?;
        }
        let advice = match StructuralRule::parse(&verdict.rule) {
            Some(StructuralRule::UnknownTool) if is_ambiguous => {
                "; the tool's name can be read in several ways, and `--mcp-server` says which servers there are".to_owned()
            }
            Some(StructuralRule::UnknownTool) => self.help_for_unknown_tool(&judged.server, &judged.tool),
            Some(StructuralRule::ProtectedPath) if self.touches_settings(&judged) => {
                "; the hook protects the agent's own settings, whatever the documents say".to_owned()
            }
            _ => String::new(),
        };
        let reason = format!("{}{advice} (rule `{}`)", verdict.reason, verdict.rule);
        let is_other = sent.is_some_and(|sent| *sent != self.given);
        Ok(HookAnswer::of(self, answered, &reason, sent.filter(|_| is_other)))
    }

    fn answered(&self, judged: &Judged, options: &HookOptions) -> Answered {
        match judged.response.verdict.decision {
            Decision::Allow if self.is_left_to_a_person() => Answered::Left,
            Decision::Allow => Answered::Allow,
            Decision::Escalate(_) if self.asks(options) => Answered::Ask,
            Decision::Escalate(_) if self.is_left(options) => Answered::Allow,
            Decision::Escalate(_) => Answered::Unasked,
            Decision::Deny => Answered::Deny,
        }
    }

    /// The command that annotates a tool: one of the agent's own has no server that could be asked for it.
    fn help_for_unknown_tool(&self, server: &str, tool: &str) -> String {
        const MOST_NAMES: usize = 16;
        let is_plain = |name: &str| {
            let is_part = |one: char| one.is_ascii_alphanumeric() || "-_.:/".contains(one);
            name.len() <= 128 && name.chars().all(is_part)
        };
        let (server, tool) = match is_plain(server) && is_plain(tool) {
            true => (server, tool),
            false => ("SERVER", "TOOL"),
        };
        let annotate = format!("callgate annotate --server {server} --into BUNDLE");
        match self.called {
            Called::Own(_) => {
                let names = self
                    .arguments
                    .keys()
                    .filter(|name| is_plain(name))
                    .take(MOST_NAMES);
                let properties: Map<String, Value> = names.map(|name| (name.clone(), json!({}))).collect();
                let tools = json!([{"name": tool, "inputSchema": {"properties": properties}}]);
                format!(
                    "; `echo '{tools}' | {annotate} -` annotates it, and a rule of the bundle may then allow it"
                )
            }
            Called::Mcp(_) | Called::Later => {
                format!(
                    "; `{annotate} -- COMMAND`, with the command that starts the server, annotates its tools"
                )
            }
        }
    }

    /// Returns `true` if the agent asks once more before the command runs, and can ask a person then.
    fn is_left(&self, options: &HookOptions) -> bool {
        let is_meant = |step| matches!((step, &self.called), (Step::Own { tool, .. }, Called::Own(called)) if tool == called);
        let is_trusted = options.leaves_execution && options.trusts_ask;
        is_trusted && self.event.step == Step::Tool && self.agent.asks_again(is_meant)
    }

    /// The servers and tools that the call may be of.
    pub(super) fn readings(&self) -> Vec<(String, String)> {
        match &self.called {
            Called::Own(tool) => vec![(self.agent.as_str().to_owned(), tool.clone())],
            Called::Mcp(readings) => readings.clone(),
            Called::Later => Vec::new(),
        }
    }

    pub(super) fn judge(
        &self,
        gate: &Gate,
        server: String,
        tool: String,
        (approvals, counted): (Option<&Approvals>, Option<Counted>),
    ) -> Result<Judged, String> {
        let is_own = matches!(self.called, Called::Own(_));
        let mut arguments = Value::Object(self.arguments.clone());
        let context = said(self.caller.added_to(None), counted.as_ref());
        let context = context.as_deref();
        let (mut response, mut values) = asked(gate, (&server, &tool), &arguments, context, approvals)?;
        match make_absolute(&mut arguments, &values, &self.directory) {
            Ok(true) => (response, values) = asked(gate, (&server, &tool), &arguments, context, approvals)?,
            Ok(false) => {}
            Err(reason) => {
                response.verdict = verdict_of(Decision::Deny, StructuralRule::UnresolvableValue, reason);
            }
        }
        // Agents may not know a pattern of names by its absolute path.
        let mut stays = Vec::new();
        if is_own {
            self.judge_globs(gate, &tool, &arguments, (&mut response, &values));
            let relative = paths(&values).filter(|path| path.relative_to.is_some());
            stays = relative.map(|path| top(&path.argument)).collect();
            stays.extend(self.table.patterns.get(&tool).cloned().unwrap_or_default());
        }
        if response.verdict.decision != Decision::Deny {
            self.check_unchanged(is_own, &stays, (&mut response, &values));
        }
        let moves = self
            .agent
            .moving_tool
            .as_ref()
            .is_some_and(|moving| moving.tool == tool);
        let sent = match is_own && (is_patch(&tool) || moves) {
            // The files of a patch, and where a command runs, are not arguments of the tool.
            true => Some(self.given.clone()),
            false => {
                let stays = if is_own { &stays[..] } else { &[] };
                sent(&response).map(|sent| Value::Object(self.with_given(sent, stays)))
            }
        };
        Ok(Judged {
            server,
            tool,
            response,
            values,
            asked: arguments,
            sent,
            answered_by: None,
            counted,
        })
    }

    /// Returns `true` if a path of the call is one of the agent's settings.
    fn touches_settings(&self, judged: &Judged) -> bool {
        let protected = self.agent.protected().map(Protected::of_settings);
        let protected: Vec<Protected> = protected.collect();
        let home = std::env::var("HOME").unwrap_or_default();
        paths(&judged.values).any(|path| {
            let directory = [self.directory.clone()];
            matches!(named(&path.raw, &directory, &protected, &home), Ok(Some(_)))
        })
    }

    /// Denies a call with a pattern of names that names a protected path.
    fn judge_globs(
        &self,
        gate: &Gate,
        tool: &str,
        arguments: &Value,
        (response, values): (&mut Response, &[ValueStep]),
    ) {
        let Some(globs) = self.table.globs.get(tool) else {
            return;
        };
        if response.verdict.decision == Decision::Deny {
            return;
        }
        let paths = paths(values).filter(|path| !globs.contains(&top(&path.argument)));
        let mut directories: Vec<String> = paths.map(|path| path.raw.clone()).collect();
        if directories.is_empty() {
            directories.push(self.directory.clone());
        }
        let protected = self.protected_in(gate);
        let home = std::env::var("HOME").unwrap_or_default();
        for name in globs {
            let texts = match arguments.get(name) {
                Some(Value::Array(texts)) => texts.as_slice(),
                Some(text) => std::slice::from_ref(text),
                None => &[],
            };
            for text in texts.iter().filter_map(Value::as_str) {
                let (rule, reason) = match named(text, &directories, &protected, &home) {
                    Ok(None) => continue,
                    Ok(Some(path)) => (
                        StructuralRule::ProtectedPath,
                        format!(
                            "Access to protected path is forbidden: a pattern names {path} (argument \"{name}\")"
                        ),
                    ),
                    Err(why) => (
                        StructuralRule::UnresolvableValue,
                        format!("Unresolvable value of argument \"{name}\": it {why}"),
                    ),
                };
                response.verdict = verdict_of(Decision::Deny, rule, reason);
                return;
            }
        }
    }

    /// The arguments, of which some stay as they were given, with those that the agent takes for itself.
    fn with_given(&self, mut arguments: Map<String, Value>, stays: &[String]) -> Map<String, Value> {
        let given = self.given.as_object();
        for (name, value) in given.into_iter().flatten() {
            if stays.contains(name) {
                arguments.insert(name.clone(), value.clone());
            }
        }
        for name in &self.table.own {
            if let Some(value) = given.and_then(|given| given.get(name)) {
                arguments.insert(name.clone(), value.clone());
            }
        }
        arguments
    }

    /// Denies a call whose arguments mean one thing here and may mean another to whoever gets them.
    fn check_unchanged(
        &self,
        is_own: bool,
        stays: &[String],
        (response, values): (&mut Response, &[ValueStep]),
    ) {
        let takes = self.event.takes_arguments;
        let given = match &self.called {
            Called::Own(tool) if is_patch(tool) => &Value::Null,
            _ => &self.given,
        };
        let unclear = paths(values).find_map(|path| {
            // Values that the engine found under another name are judged as they are there.
            let given = given
                .pointer(&path.argument)
                .and_then(Value::as_str)
                .unwrap_or(&path.raw);
            let stays = stays.contains(&top(&path.argument));
            let is_unclear = (stays || !takes) && given.starts_with('~')
                || stays && leads_elsewhere(given)
                || !takes && !is_own && is_relative(given);
            is_unclear.then(|| given.to_owned())
        });
        if let Some(given) = unclear {
            let reason = format!(
                "The path `{}` may mean another place to the tool, expected an absolute one",
                given.chars().take(200).collect::<String>()
            );
            response.verdict = verdict_of(Decision::Deny, StructuralRule::UnresolvableValue, reason);
        }
    }
}

/// The answer to a call, with the values that were judged: all of them.
fn asked(
    gate: &Gate,
    (server, tool): (&str, &str),
    arguments: &Value,
    context: Option<&str>,
    approvals: Option<&Approvals>,
) -> Result<(Response, Vec<ValueStep>), String> {
    let call = call_text(server, tool, arguments);
    let mut request = Request::gate(within(&call, context)).explained(Audience::Operator);
    if let Some(approvals) = approvals {
        request = request.approved(approvals, Some(now()));
    }
    let response = gate.judge(&request).map_err(|error| error.message)?;
    let explanation = response.explanation.as_ref();
    let explanation = explanation.ok_or("the engine does not explain its verdict")?;
    let explained = Explained::deserialize(explanation).map_err(|error| error.to_string())?;
    match explained.steps_left_out {
        0 => Ok((response, explained.values)),
        _ => Err("the call has too many values to look at each".to_owned()),
    }
}

/// The text of a call, in its context.
pub(super) fn within<'c>(call: &'c str, context: Option<&'c str>) -> CallText<'c> {
    let call = CallText::from(call);
    context.map_or(call, |context| call.within(context))
}

pub(super) fn call_text(server: &str, tool: &str, arguments: &Value) -> String {
    json!({"serverName": server, "toolName": tool, "arguments": arguments}).to_string()
}

fn sent(response: &Response) -> Option<Map<String, Value>> {
    serde_json::from_str(response.arguments.as_deref()?).ok()
}

pub(super) fn verdict_of(
    decision: Decision<'static>,
    rule: StructuralRule,
    reason: String,
) -> Verdict<'static> {
    Verdict {
        decision,
        rule: rule.as_str().into(),
        reason: reason.into(),
        approval: None,
    }
}

/// The verdict on a call that counts and cannot be counted.
fn uncounted() -> Verdict<'static> {
    let reason = "The policy counts this call, and it cannot be counted".to_owned();
    verdict_of(
        Decision::Escalate(Vec::new()),
        StructuralRule::UnknownCount,
        reason,
    )
}
