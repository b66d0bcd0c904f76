//! Rules that decide nothing, and allow rules that look at no argument.

use callgate_engine::judge::StructuralRule;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Lint, build, call_of, document, regions_of};
use crate::asked;
use crate::imagined::Imagined;
use crate::label::listed;
use crate::rows::is_about_form;
use crate::{Analysis, Comparison, Progress, Subject, ToolRegions, Watcher};
use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::Code;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{BuildError, Engine};
use callgate_engine::host::Host;
use callgate_engine::model::Effect;
use callgate_engine::program::{Program, Rule};
use callgate_engine::role::{RoleId, RoleSet};

impl Lint<'_> {
    /// Rules that decide nothing, and allow rules that look at no argument.
    pub(super) fn rules(&mut self, watcher: Watcher<'_>) -> Result<(), BuildError> {
        let program = self.imagined.program();
        let each_region = self.regions.iter().flat_map(regions_of);
        let deciding: BTreeSet<&str> = each_region.map(|(_, region)| &*region.rule).collect();
        let Some(policy) = document(self.parts, DocumentKind::Policy)? else {
            return Ok(());
        };
        let mut named: BTreeMap<&str, usize> = BTreeMap::new();
        for rule in &program.rules {
            *named.entry(&rule.name).or_default() += 1;
        }
        for (at, rule) in program.rules.iter().enumerate() {
            watcher(&Progress {
                subject: Subject::Rule(&rule.name),
                at: at + 1,
                of: program.rules.len(),
                part_of: None,
            });
            let path = format!("policy.rules[{at}]");
            // A verdict does not say which of the rules with one name decides.
            let is_told = named.get(&*rule.name) == Some(&1);
            if !rule.context.is_empty() || !rule.counts.is_empty() {
                // No call of the division says who asks, or what was counted.
                continue;
            }
            if !deciding.contains(&*rule.name) || !is_told {
                self.idle(&policy, at, rule, path)?;
            } else if rule.effect == Effect::Allow && looks_at_nothing(rule) {
                self.unconditional(program, rule, path);
            }
        }
        Ok(())
    }

    /// A rule by which no region is decided, if leaving it out changes no decision either.
    fn idle(&mut self, policy: &Value, at: usize, rule: &Rule, path: String) -> Result<(), BuildError> {
        let with = |keep: &dyn Fn(usize) -> bool| {
            let mut policy = policy.clone();
            if let Some(rules) = policy.get_mut("rules").and_then(Value::as_array_mut) {
                let mut place = 0;
                rules.retain(|_| {
                    place += 1;
                    keep(place - 1)
                });
            }
            policy
        };
        let build_with = |policy: Value| build(self.parts, Some(&policy), self.host);
        let without = build_with(with(&|place| place != at))?;
        let comparison = Comparison::on(self.engine, &without, self.disk);
        let mut tools = comparison.tools().into_iter();
        let changes = tools.any(|(server, tool)| {
            let changes = comparison.tool(server, tool);
            changes.is_some_and(|changes| !changes.is_empty())
        });
        if changes {
            return Ok(());
        }
        let alone = build_with(with(&|place| place == at))?;
        let mut found = self.decided_before(&alone, rule);
        if found.before.is_empty() && !looks_at_nothing(rule) {
            // What decides before any rule may leave nothing to it.
            let bare = bare(self.parts, &with(&|place| place == at), self.host)?;
            found = self.decided_before(&bare, rule);
        }
        if found.before.is_empty() {
            found = self.decided_by_world(rule).unwrap_or(found);
        }
        if found.before.is_empty() && looks_at_nothing(rule) {
            found.before = found.structural;
            found.call = found.structural_call;
        }
        // It decides about another argument of such a call, and comes after every rule.
        if found.before.len() > 1 {
            found.before.remove(StructuralRule::DefaultDeny.as_str());
        }
        let (message, help) = said_of(rule, &found.before);
        self.add(Code::NeverDecides, path, message, help, found.call);
        Ok(())
    }

    /// The rules that decide about the calls that a rule decides about in a program of its own.
    fn decided_before(&self, alone: &Engine, rule: &Rule) -> Before {
        let mut analysis = Analysis::on(Imagined::new(alone, self.disk));
        // So that what is decided apart is looked at apart.
        analysis.other = Some(Imagined::new(self.engine, self.disk));
        let mut found = Before::default();
        for (server, tool) in analysis.tools() {
            let Some(tool) = analysis.tool(server, tool) else {
                continue;
            };
            let program = analysis.imagined.program();
            let is_named = program.tool(&tool.server_name, &tool.tool_name);
            if is_named.is_some_and(|tool| program.rules_of(tool).next().is_some()) {
                // A structural check leaves nothing to the rules.
                let decided = || regions_of(&tool).filter(|(_, region)| !is_about_form(&region.rule));
                if decided().all(|(_, region)| region.decision != Effect::Deny.as_str()) {
                    for (_, region) in decided() {
                        found.structural.insert(region.rule.clone());
                        let call = || call_of(&tool, region);
                        found.structural_call.get_or_insert_with(call);
                    }
                }
            }
            for (_, region) in regions_of(&tool).filter(|(_, region)| *region.rule == *rule.name) {
                let (server, name) = (&tool.server_name, &tool.tool_name);
                let shown = asked::call(server, name, &region.arguments, region.context.as_ref());
                found.before.insert(self.imagined.judge(&shown).rule.to_string());
                found.call.get_or_insert_with(|| call_of(&tool, region));
            }
        }
        found
    }

    /// The part of the calls of the rule's tools that a world denies before any rule is asked; `None` where the rule is about no
    /// address.
    fn decided_by_world(&self, rule: &Rule) -> Option<Before> {
        let program = self.imagined.program();
        let is_concerned = |tool: &&ToolRegions| {
            let tool = program.tool(&tool.server_name, &tool.tool_name);
            tool.is_some_and(|tool| {
                let mut rules = program.rules_of(tool);
                let roles = tool.arguments.iter().flat_map(|one| one.roles.possible());
                let addresses = roles.collect::<RoleSet>().intersection(program.address_roles);
                rules.any(|(_, known)| std::ptr::eq(known, rule)) && rule.relevant.intersects(addresses)
            })
        };
        let mut found = Before::default();
        let regions = self.regions.iter().filter(is_concerned).flat_map(regions_of);
        for (tool, region) in regions {
            let own = StructuralRule::parse(&region.rule);
            if matches!(own, Some(StructuralRule::Visibility | StructuralRule::Operation)) {
                found.before.insert(region.rule.clone());
                found.call.get_or_insert_with(|| call_of(tool, region));
            }
        }
        (!found.before.is_empty()).then_some(found)
    }

    fn unconditional(&mut self, program: &Program, rule: &Rule, path: String) {
        let by_rule = self.regions.iter().flat_map(regions_of).find(|(tool, region)| {
            let tool = program.tool(&tool.server_name, &tool.tool_name);
            let bears = tool.is_some_and(|tool| {
                let mut roles = tool
                    .arguments
                    .iter()
                    .flat_map(|argument| argument.roles.possible());
                // What an allowlist lets pass is not left to the rule.
                let is_gated = program.server(&tool.server).allowlist.is_some();
                let is_free = |role: RoleId| !(is_gated && program.url_roles.contains(role));
                roles.any(|role| program.resource_roles.contains(role) && is_free(role))
            });
            bears && *region.rule == *rule.name && region.decision == Effect::Allow.as_str()
        });
        if let Some((tool, region)) = by_rule {
            let call = call_of(tool, region);
            let message = format!(
                "the rule `{}` allows calls whatever resources they name, for the reason `{}`",
                rule.name, rule.reason
            );
            let help = "if the reason means less, say so with `roles`, `paths`, `domains` or `lists`";
            self.add(Code::Unconditional, path, message, help, Some(call));
        }
    }
}

/// The rules that decide in the place of another one.
#[derive(Default)]
struct Before {
    before: BTreeSet<String>,
    /// Those that decide about whole tools, whatever other rules say.
    structural: BTreeSet<String>,
    /// A call of such a tool.
    structural_call: Option<Value>,
    /// A call that the rule is about.
    call: Option<Value>,
}

/// An engine of the rule and the annotations alone: nothing decides before the rule, but for the world that addresses need.
fn bare(
    parts: &[(DocumentKind, DocumentSource<'_>)],
    policy: &Value,
    host: &dyn Host,
) -> Result<Engine, BuildError> {
    let mut options = document(parts, DocumentKind::Options)?;
    if let Some(options) = options.as_mut().and_then(Value::as_object_mut) {
        // It needs the ceiling.
        options.remove("workspaceRoots");
    }
    let kept = parts.iter().filter(|(kind, _)| match kind {
        DocumentKind::Policy
        | DocumentKind::Annotations
        | DocumentKind::Lists
        | DocumentKind::Programs
        | DocumentKind::Roles
        | DocumentKind::World
        | DocumentKind::Folder => true,
        DocumentKind::Sandbox
        | DocumentKind::ProtectedPaths
        | DocumentKind::DomainAllowlists
        | DocumentKind::TrustedServers
        | DocumentKind::Ceiling
        | DocumentKind::Options
        | DocumentKind::Invariants => false,
    });
    let mut kept: Vec<(DocumentKind, DocumentSource<'_>)> = kept.copied().collect();
    kept.extend(
        options
            .iter()
            .map(|options| (DocumentKind::Options, DocumentSource::Value(options))),
    );
    build(&kept, Some(policy), host)
}

/// The message about a rule that decides nothing, and its help.
fn said_of(rule: &Rule, before: &BTreeSet<String>) -> (String, &'static str) {
    let name = &rule.name;
    if before.is_empty() {
        let message = format!("the rule `{name}` matches no call of any annotated tool, expected some");
        let help = "its conditions on servers, tools, roles and values hold together for no tool";
        return (message, help);
    }
    let is_own =
        |one: &str| StructuralRule::parse(one).is_some_and(|rule| rule != StructuralRule::DefaultDeny);
    let named = before.iter().map(|one| match **one == **name {
        true => "another rule of that name".to_owned(),
        false => format!("`{one}`"),
    });
    let list = listed(&named.collect::<Vec<_>>(), " and ");
    let message = format!("the rule `{name}` decides nothing: what it matches is decided by {list}");
    let help = match before.iter().all(|one| is_own(one)) {
        true => {
            "no rule comes before that: remove the rule, or change what decides; the page `structural-rules` has each"
        }
        false => "move it before those rules, or remove it",
    };
    (message, help)
}

/// Returns `true` if a rule looks at servers and tools alone.
fn looks_at_nothing(rule: &Rule) -> bool {
    rule.roles.is_none() && rule.value_conditions().is_empty() && rule.arguments.is_empty()
}
