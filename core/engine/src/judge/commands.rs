//! The commands of a shell (SPEC §8.9): each program that they run is judged as a call of the server `shell`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::mem::{replace, take};
use std::sync::Arc;

use callgate_programs::{Invocation, Role, describe};
use callgate_shell::{Place, Surroundings, Value, read};

use super::asking::Asking;
use super::canonical::PathBase;
use super::combine::{RoleVerdict, stricter, with_findings};
use super::explained::explain_steps;
use super::inputs::Inputs;
use super::links::Links;
use super::lookups::Lookups;
use super::operand::Operand;
use super::operands::base_of;
use super::part::{Part, quoted};
use super::reason::{host_failure, verdict_of};
use super::trace::{CommandStep, PartStep, Trace};
use super::trees::is_ignore_file;
use super::unjudged::untold;
use super::work_tree::Repository;
use super::{Decision, StructuralRule, Task, Verdict, checks, counted, rules};
use crate::bind::{Call, PointerToken};
use crate::cost::{COMMAND_BYTES, PROGRAM};
use crate::model::Effect;
use crate::named::Named as _;
use crate::program::{RuleId, Tool};
use crate::role::{Category, RoleId, RoleSet};
use crate::seed;

/// The characters of a command that a reason shows.
const SHOWN: usize = 120;

/// The verdicts of the parts of commands, put together.
#[derive(Default)]
struct Commands<'p> {
    /// The strictest of what rules and checks do not allow.
    restricted: Option<Verdict<'p>>,
    /// The first part that no rule decides about, or that is not understood.
    open: Option<Verdict<'p>>,
    /// Why everything else is allowed.
    allowed: Option<Verdict<'p>>,
}

/// The verdict of the rules, and of the parts of the call's commands, if it has any.
pub(super) fn judge_roles<'p>(
    inputs: &Inputs<'p, '_>,
    asking: &mut Asking,
    sandboxed: RoleSet,
) -> Verdict<'p> {
    let commands = inputs.tool.zip(judge(inputs, asking));
    let Some((tool, commands)) = commands else {
        return rules::judge_roles(inputs, asking, sandboxed);
    };
    let of_values = rules::judge_values(inputs, asking, tool, sandboxed);
    let of_call = rules::judge_without_role(inputs, asking, tool);
    let of_commands = commands.joined(inputs, asking, tool, of_call);
    match of_values {
        Some(values) => stricter(
            of_commands,
            verdict_of(inputs, asking, values.whole, values.escalated),
        ),
        None => of_commands,
    }
}

/// Judges the commands of a call; `None` if it has none.
fn judge<'p>(inputs: &Inputs<'p, '_>, asking: &mut Asking) -> Option<Commands<'p>> {
    let mut found: Option<Commands<'p>> = None;
    for operand in inputs
        .operands
        .iter()
        .filter(|operand| is_command(inputs, operand))
    {
        let commands = found.get_or_insert_default();
        let argument = inputs.pointer(&operand.bound);
        let is_item = matches!(operand.bound.place.last(), Some(PointerToken::Item(_)));
        match operand.bound.text.as_deref() {
            Some(text) if !is_item => {
                let directory = directory_of(inputs, asking, operand);
                let command = Command {
                    argument,
                    text,
                    directory,
                };
                command.judge(inputs, asking, commands);
            }
            Some(_) => commands.add_open("", "a list of words", StructuralRule::CommandNotUnderstood),
            None => commands.add_open(
                "",
                "text that is not Unicode",
                StructuralRule::CommandNotUnderstood,
            ),
        }
    }
    found
}

/// The command with the directory that it runs in, as a person may approve it.
pub(super) fn as_run(inputs: &Inputs, asking: &mut Asking, operand: &Operand<'_, '_>) -> String {
    let directory = directory_of(inputs, asking, operand);
    format!("cd {} && {}", quoted(&directory), operand.given())
}

fn is_command(inputs: &Inputs, operand: &Operand<'_, '_>) -> bool {
    let mut roles = operand.bound.roles.iter();
    roles.any(|role| inputs.program.registry.get(*role).category == Category::Command)
}

/// The directory that a command runs in: that of the argument which it is relative to, the server's, or the base of relative paths.
fn directory_of(inputs: &Inputs, asking: &mut Asking, operand: &Operand<'_, '_>) -> String {
    let base = base_of(inputs, asking, &operand.bound);
    let base = base.as_deref().or(inputs.settings.working_directory.as_deref());
    base.unwrap_or(asking.canonicalizer.base.directory).to_owned()
}

impl<'p> Commands<'p> {
    /// The verdict of the call: what rules say of it as a whole, and what its parts need.
    fn joined(
        mut self,
        inputs: &Inputs<'p, '_>,
        asking: &mut Asking,
        tool: &Tool,
        call: RoleVerdict,
    ) -> Verdict<'p> {
        let is_about_call = matches!(call, RoleVerdict::Rule(..));
        if !is_about_call && let Some(at) = untold(inputs, asking, tool, None) {
            // It may say where, as whom or by which shell the command is run.
            let why = format!(
                "the annotation does not name the argument `{}`",
                inputs.name_of(Some(at))
            );
            self.add_open("", &why, StructuralRule::CommandNotUnderstood);
        }
        let nothing = || Verdict::allow(StructuralRule::AgentTool, "The command runs no program");
        let of_parts = match call {
            // Whoever allows the call decides about what nothing else does.
            RoleVerdict::Rule(..) => {
                let role = inputs.program.registry.name(RoleId::SHELL_COMMAND);
                Some(verdict_of(inputs, asking, call, vec![role]))
            }
            RoleVerdict::Unjudged(Effect::Deny, _) => self.open.map(|open| Verdict {
                decision: Decision::Deny,
                ..open
            }),
            RoleVerdict::Unjudged(..) | RoleVerdict::Sandbox | RoleVerdict::Default(_) => self.open,
        };
        match (self.restricted, of_parts) {
            (Some(restricted), Some(of_parts)) => stricter(restricted, of_parts),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => self.allowed.unwrap_or_else(nothing),
        }
    }

    fn add_open(&mut self, shown: &str, why: &str, rule: StructuralRule) {
        let shown = in_quotes(shown);
        let reason = match rule {
            StructuralRule::CommandNotUnderstood => format!("The command{shown} is not understood: {why}"),
            _ => format!("No rule decides about the command{shown}: {why}"),
        };
        let verdict = Verdict::escalate(vec!["shell-command"], rule, reason);
        self.open.get_or_insert(verdict);
    }

    /// Adds the verdict of a part.
    fn add(&mut self, shown: &str, verdict: Verdict<'p>) {
        let rule = StructuralRule::find(&verdict.rule);
        match (&verdict.decision, rule) {
            (Decision::Allow, rule) => {
                // A rule of the policy says more than one of the engine.
                let is_better =
                    |known: &Verdict<'_>| rule.is_none() && StructuralRule::find(&known.rule).is_some();
                if self.allowed.as_ref().is_none_or(is_better) {
                    self.allowed = Some(verdict);
                }
            }
            (Decision::Deny, Some(StructuralRule::DefaultDeny)) => {
                self.add_open(shown, &verdict.reason, StructuralRule::UndecidedCommand);
            }
            // Programs may take the text for a name that the engine does not.
            (
                Decision::Deny,
                Some(StructuralRule::UnresolvableValue | StructuralRule::UnreadableArgument),
            ) => {
                self.add_open(shown, &verdict.reason, StructuralRule::CommandNotUnderstood);
            }
            (Decision::Deny | Decision::Escalate(_), _) => {
                let decision = match verdict.decision {
                    Decision::Escalate(_) => Decision::Escalate(vec![Cow::Borrowed("shell-command")]),
                    decided => decided,
                };
                let verdict = Verdict {
                    decision,
                    reason: format!("In the command{}: {}", in_quotes(shown), verdict.reason).into(),
                    ..verdict
                };
                self.restricted = Some(match self.restricted.take() {
                    Some(known) => stricter(known, verdict),
                    None => verdict,
                });
            }
        }
    }
}

/// A command, and where it runs.
struct Command<'t> {
    /// The argument that holds it, as a JSON Pointer.
    argument: String,
    text: &'t str,
    directory: String,
}

impl Command<'_> {
    fn judge<'p>(&self, inputs: &Inputs<'p, '_>, asking: &mut Asking, commands: &mut Commands<'p>) {
        let Some(known) = &inputs.program.shell else {
            // Without the table no program is known.
            return commands.add_open(
                self.text,
                "no program is known",
                StructuralRule::CommandNotUnderstood,
            );
        };
        asking.take_steps(self.text.len().saturating_mul(COMMAND_BYTES));
        if asking.has_failed() {
            return;
        }
        let home = &*inputs.program.home;
        let surroundings = Surroundings {
            directory: &self.directory,
            home,
        };
        let reading = read(self.text, &surroundings);
        let described = describe(&reading, &known.table, home);
        for one in &described.not_understood {
            let why = one.construct.to_string();
            if let Some(trace) = &mut asking.trace {
                trace.command(|| CommandStep {
                    not_understood: Some(why.clone()),
                    ..self.step(one.place)
                });
            }
            commands.add_open(self.shown(one.place), &why, StructuralRule::CommandNotUnderstood);
        }
        let mut links = Links::aside(asking, &reading, &described.invocations);
        let unsettled: Arc<[String]> = unsettled_by(asking, &described.invocations).into();
        for invocation in &described.invocations {
            asking.take_steps(PROGRAM + links.count().saturating_mul(invocation.operands.len()));
            if asking.has_failed() {
                return;
            }
            let git = (invocation.program == "git").then(|| Repository::of(asking, invocation, &links));
            let raised = match &git {
                Some(git) => git.with_work_tree(asking, invocation),
                None => without_scripts(asking, invocation),
            };
            let mut part = Part::of(raised.as_ref().unwrap_or(invocation), &self.directory);
            part.unsettle(&unsettled);
            if links.may_lead(invocation) {
                part.doubt("another program of the command may leave a link there");
            }
            if git.is_some_and(|git| git.is_doubtful(invocation)) {
                part.doubt("git may take the directory for a repository of its own, or for none");
            }
            self.judge_part(inputs, asking, (invocation, part), commands);
            links.add(asking, invocation);
        }
    }

    /// Judges one program as a call.
    fn judge_part<'p>(
        &self,
        inputs: &Inputs<'p, '_>,
        asking: &mut Asking,
        (invocation, part): (&Invocation, Part),
        commands: &mut Commands<'p>,
    ) {
        let shown = self.shown(invocation.place);
        let not_understood = StructuralRule::CommandNotUnderstood;
        let program = match invocation.program.as_str() {
            "" => seed::REDIRECTION,
            path if path.contains('/') => seed::PROGRAM_FILE,
            name => name,
        };
        let known = inputs.program.shell.as_ref();
        let Some((known, tool)) = known.and_then(|known| Some((known, known.tool(program)?))) else {
            return commands.add_open(shown, "the program is not in the table", not_understood);
        };
        let call = Call {
            context: inputs.call.context.clone(),
            ..Call::new(seed::SHELL, program, part.arguments())
        };
        let outer = Aside::put(asking);
        let base = asking.canonicalizer.base;
        let task = Task {
            settings: known.settings(program),
            tool: Some(tool),
            given: &call,
            shape: &Ok(None),
            base: &base,
            traced: false,
            approving: None,
        };
        let mut inner = Inputs::bind(inputs.program, &task);
        inner.patterns = part.patterns();
        let checked = checks::run(&mut inner, asking);
        let is_decided = checked.decided.is_some();
        let verdict = match checked.decided {
            Some(verdict) => verdict,
            None => rules::judge_roles(&inner, asking, checked.sandboxed),
        };
        if verdict.decision != Decision::Deny || StructuralRule::find(&verdict.rule).is_some() {
            counted::count(&inner, asking, is_decided);
        }
        let mut verdict = with_findings(verdict, checked.certain, checked.possible);
        if let Some(asks) = part.reads_protected(&inner, asking, program) {
            verdict = stricter(verdict, asks);
        }
        if asking.has_failed() {
            verdict = host_failure(&inner, asking);
        }
        let step = asking.trace.is_some().then(|| {
            let steps = explain_steps(&inner, asking, verdict.clone());
            PartStep {
                tool_name: steps.tool_name,
                verdict: steps.verdict,
                values: steps.values,
                checks: steps.checks,
                roles: steps.roles,
            }
        });
        outer.take_back(asking);
        if let (Some(trace), Some(step)) = (&mut asking.trace, step) {
            trace.command(|| CommandStep {
                judged: Some(step),
                ..self.step(invocation.place)
            });
        }
        commands.add(shown, verdict);
        if let Some(why) = part.doubt {
            commands.add_open(shown, why, not_understood);
        }
    }

    fn shown(&self, place: Place) -> &str {
        self.text.get(place.start..place.end).unwrap_or(self.text)
    }

    fn step(&self, place: Place) -> CommandStep {
        CommandStep {
            argument: self.argument.clone(),
            start: place.start,
            end: place.end,
            not_understood: None,
            judged: None,
        }
    }
}

/// The program without words that are scripts of `sed` to GNU (`/x/d`), and files to BSD, where there are no such files to edit. What the
/// program makes, such as by a redirection, is not among them.
fn without_scripts(asking: &mut Asking, invocation: &Invocation) -> Option<Invocation> {
    if !invocation.operands.iter().any(|one| one.is_edited_if_there) {
        return None;
    }
    let mut edited = invocation.clone();
    edited.operands.retain(|one| {
        let text = one.value.exact().filter(|text| is_script(text));
        !one.is_edited_if_there || text.is_none_or(|text| asking.canonicalizer.resolver().may_exist(text))
    });
    Some(edited)
}

/// Returns `true` if the text is a pattern and a letter.
fn is_script(text: &str) -> bool {
    let mut names = text.split('/');
    let is_letter = names
        .next_back()
        .is_some_and(|last| last.len() == 1 && last != ".");
    let is_absolute = names.next() == Some("");
    let mut names = names.peekable();
    is_letter && is_absolute && names.peek().is_some() && names.all(|name| !matches!(name, "" | "." | ".."))
}

/// The directories below which the programs may change ignore files, links resolved.
fn unsettled_by(asking: &mut Asking, invocations: &[Invocation]) -> Vec<String> {
    let resolver = &mut asking.canonicalizer.resolver();
    let mut places = Vec::new();
    for invocation in invocations {
        let operands = invocation.operands.iter();
        let changed = operands.filter(|one| matches!(one.role, Role::WritePath | Role::DeletePath));
        for one in changed {
            for path in one.paths() {
                let place = match path.rsplit_once('/') {
                    // Git changes its whole work tree.
                    _ if one.is_tree && invocation.program == "git" => "/",
                    _ if one.is_tree || may_match_hidden(&one.value) => &path,
                    Some((above, _)) if is_ignore_file(&path) => above,
                    Some(_) | None => continue,
                };
                // Where it cannot be told, everything is below it.
                let real = resolver.resolve(place, "/");
                places.push(real.map_or_else(|_| "/".to_owned(), |real| real.as_str().to_owned()));
            }
        }
    }
    places
}

/// Returns `true` if the value is a pattern that may match a hidden name.
fn may_match_hidden(value: &Value) -> bool {
    let Value::Pattern { pattern, .. } = value else {
        return false;
    };
    let last = pattern.rsplit('/').next().unwrap_or_default();
    !last.starts_with(|one: char| one.is_alphanumeric() || matches!(one, '*' | '?'))
}

/// What belongs to the call that has the command, while a part of it is judged with the same answers and the same bound.
struct Aside<'h> {
    lookups: Lookups,
    trace: Option<Trace>,
    held: Option<BTreeSet<RuleId>>,
    base: PathBase<'h>,
}

impl<'h> Aside<'h> {
    fn put(asking: &mut Asking<'_, 'h>) -> Self {
        let trace = asking.trace.take();
        asking.trace = trace.as_ref().map(|trace| Trace::new(trace.room()));
        let base = PathBase {
            keeps_relative: false,
            is_git: false,
            ..asking.canonicalizer.base
        };
        Self {
            lookups: take(&mut asking.lookups),
            trace,
            held: asking.held.take(),
            base: replace(&mut asking.canonicalizer.base, base),
        }
    }

    fn take_back(self, asking: &mut Asking<'_, 'h>) {
        asking.lookups = self.lookups;
        asking.trace = self.trace;
        asking.held = self.held;
        asking.canonicalizer.base = self.base;
    }
}

/// The beginning of a text that is shown.
fn in_quotes(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let line = text.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(SHOWN).map_or(line.len(), |(at, _)| at);
    let rest = if end < text.len() { "…" } else { "" };
    format!(" `{}{rest}`", line.get(..end).unwrap_or_default())
}
