//! The smallest rules that allow calls which are not allowed, and what else they would let through.

mod values;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::lint::{annotated, build, document};
use super::{Comparison, ToolChanges};
use crate::imagined::Imagined;
use callgate_authoring::draft::propose_annotations;
use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::{Audience, BuildError, Engine, Request};
use callgate_engine::host::Host;
use callgate_engine::judge::{Decision, Explanation};
use callgate_engine::role::{Category, Registry, RoleDefinition};
use values::{Borne, Values};

/// Rules that would allow calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "advice")]
pub enum Advice {
    /// Nothing: they are allowed.
    Allowed,
    /// Rules.
    Rules(Suggestion),
    /// The annotation: the roles of an argument are not those that a draft would give it, and the verdict is theirs.
    Annotation {
        /// The argument: its name, or a JSON Pointer.
        argument: String,
        /// The roles that its annotation may give it.
        roles: Vec<String>,
        /// Those that a draft from the tool's schema gives it.
        drafted: Vec<String>,
        /// The evidence for that, in a sentence.
        why: String,
    },
    /// No rule turns the verdict. That of the rule has to be seen to first.
    NoRule {
        /// The rule that decides, whatever the policy says.
        rule: String,
        /// Its reason.
        reason: String,
    },
}

/// Rules that allow calls, and what else they let through.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suggestion {
    /// The rules, in the order in which they are to stand, as a policy has them.
    pub rules: Vec<Value>,
    /// The rule before which they have to stand; `None`: they may stand anywhere, at the end too.
    pub before: Option<String>,
    /// The place in the policy's `rules` that the first of them gets.
    pub at: usize,
    /// The tools whose calls are judged less strictly with them, and how. What `unknown` says is not known.
    pub looser: Vec<ToolChanges>,
}

/// The smallest rules that allow all of these calls of one tool, and what else they would let through.
///
/// Values of resources are allowed as they are: a path, or the directory that holds the paths where the calls are several; a
/// host, a repository, a name. The rules are added to the policy and the engine is asked, so that what is suggested works; what
/// becomes looser is found as [`Comparison`] finds it.
///
/// # Errors
/// When no engine can be built from the documents.
pub fn suggest_rules(
    parts: &[(DocumentKind, DocumentSource<'_>)],
    host: &dyn Host,
    requests: &[Request<'_>],
) -> Result<Advice, BuildError> {
    let engine = build(parts, None, host)?;
    let Some(first) = requests.first() else {
        return Ok(Advice::Allowed);
    };
    if blocked(&engine, host, requests).is_none() {
        return Ok(Advice::Allowed);
    }
    let policy = document(parts, DocumentKind::Policy)?.unwrap_or_default();
    let mut search = Search {
        parts,
        host,
        requests,
        engine: &engine,
        policy: &policy,
        server: first.call.server(),
        tool: first.call.tool(),
    };
    search.advice()
}

/// The verdict of the first call that is not allowed: its rule and reason.
fn blocked(engine: &Engine, host: &dyn Host, requests: &[Request<'_>]) -> Option<(String, String)> {
    requests.iter().find_map(|request| {
        let verdict = engine.judge(request, host).verdict;
        let is_allowed = verdict.decision == Decision::Allow;
        (!is_allowed).then(|| (verdict.rule.into_owned(), verdict.reason.into_owned()))
    })
}

/// The names of the roles in the draft of an argument, whatever they depend on.
fn names_of(draft: &Value) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut left = vec![draft];
    while let Some(one) = left.pop() {
        match one {
            Value::String(name) => found.push(name.clone()),
            Value::Array(names) => left.extend(names.iter().rev()),
            Value::Object(members) => {
                left.extend(members.get("default").or(members.get("roles")));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

struct Search<'s> {
    parts: &'s [(DocumentKind, DocumentSource<'s>)],
    host: &'s dyn Host,
    requests: &'s [Request<'s>],
    engine: &'s Engine,
    policy: &'s Value,
    server: &'s str,
    tool: &'s str,
}

impl Search<'_> {
    fn advice(&mut self) -> Result<Advice, BuildError> {
        if let Some(advice) = self.annotation()? {
            return Ok(advice);
        }
        // Where everything is allowed that rules can allow, what is left is not for rules.
        let open = self.open()?;
        if let Some((rule, reason)) = blocked(&open, self.host, self.requests) {
            return Ok(Advice::NoRule { rule, reason });
        }
        let rules = self.rules(&open);
        let mut at = self.names().len();
        loop {
            let Some((rule, reason)) = blocked(&self.with(&rules, at)?, self.host, self.requests) else {
                return self.suggestion(rules, at);
            };
            // Before the rule that decides so.
            let names = self.names();
            match names
                .iter()
                .position(|name| *name == rule)
                .filter(|place| *place < at)
            {
                Some(place) => at = place,
                None => return Ok(Advice::NoRule { rule, reason }),
            }
        }
    }

    /// What is wrong with the annotation of the tool, where its schema says that an argument has fewer roles of resources, and the
    /// verdict is another one with those.
    fn annotation(&self) -> Result<Option<Advice>, BuildError> {
        let Some(annotations) = document(self.parts, DocumentKind::Annotations)? else {
            return Ok(None);
        };
        let Some((at, tool)) = annotated(Some(&annotations), self.server, self.tool) else {
            return Ok(None);
        };
        let Some(schema) = tool.get("inputSchema") else {
            return Ok(None);
        };
        let tools = json!([{"name": self.tool, "inputSchema": schema}]);
        let Ok(proposal) = propose_annotations(DocumentSource::Value(&tools), self.server, None) else {
            return Ok(None);
        };
        let drafts = annotated(Some(&proposal.annotations), self.server, self.tool);
        let drafts = drafts.and_then(|(_, tool)| tool.get("args")?.as_object());
        let given = blocked(self.engine, self.host, self.requests);
        let registry = self.registry();
        let is_resource = |role: &str| {
            let role = registry.find(role);
            role.is_some_and(|role| registry.get(role).is_resource_identifier())
        };
        for (argument, draft) in drafts.into_iter().flatten() {
            let (roles, drafted) = (self.roles_of(argument), names_of(draft));
            let is_wider = roles
                .iter()
                .any(|role| is_resource(role) && !drafted.contains(role))
                && drafted
                    .iter()
                    .all(|role| !is_resource(role) || roles.contains(role));
            if !is_wider {
                continue;
            }
            let mut other = annotations.clone();
            let place = format!(
                "/servers/{}/tools/{at}/args",
                callgate_engine::text::escape_token(self.server)
            );
            if let Some(args) = other.pointer_mut(&place).and_then(Value::as_object_mut) {
                args.insert(argument.clone(), draft.clone());
            }
            let mut parts = self.parts.to_vec();
            parts.retain(|(kind, _)| *kind != DocumentKind::Annotations);
            parts.push((DocumentKind::Annotations, DocumentSource::Value(&other)));
            let found = blocked(&build(&parts, None, self.host)?, self.host, self.requests);
            if found.map(|(rule, _)| rule) != given.as_ref().map(|(rule, _)| rule.clone()) {
                let all = [&proposal.drafted, &proposal.unsure, &proposal.unnamed];
                let mut said = all.into_iter().flatten().filter(|one| one.argument == *argument);
                return Ok(Some(Advice::Annotation {
                    argument: argument.clone(),
                    roles,
                    drafted,
                    why: said.next().map(|one| one.why.clone()).unwrap_or_default(),
                }));
            }
        }
        Ok(None)
    }

    /// The names of the roles that the annotation may give an argument.
    fn roles_of(&self, argument: &str) -> Vec<String> {
        let imagined = Imagined::new(self.engine, None);
        let program = imagined.program();
        let tool = program.tool(self.server, self.tool);
        let mut arguments = tool.iter().flat_map(|tool| &tool.arguments);
        let found = arguments.find(|one| one.name.to_string() == argument);
        let roles = found.into_iter().flat_map(|one| one.roles.possible());
        roles.map(|role| program.registry.name(role).to_owned()).collect()
    }

    fn suggestion(&self, mut rules: Vec<Value>, at: usize) -> Result<Advice, BuildError> {
        for place in (0..rules.len()).rev() {
            let others = rules.iter().enumerate().filter(|(at, _)| *at != place);
            let fewer: Vec<Value> = others.map(|(_, rule)| rule.clone()).collect();
            if !fewer.is_empty() && blocked(&self.with(&fewer, at)?, self.host, self.requests).is_none() {
                rules = fewer;
            }
        }
        let mut looser = Vec::new();
        let new = self.with(&rules, at)?;
        let comparison = Comparison::new(self.engine, &new);
        for (server, tool) in comparison.tools() {
            let changes = comparison.tool(server, tool);
            looser.extend(changes.filter(|one| !one.looser.is_empty() || !one.unknown.is_empty()));
        }
        Ok(Advice::Rules(Suggestion {
            before: self.names().get(at).map(|name| (*name).to_owned()),
            rules,
            at,
            looser,
        }))
    }

    /// The names of the policy's rules, in order.
    fn names(&self) -> Vec<&str> {
        let rules = self.policy.get("rules").and_then(Value::as_array);
        let names = rules
            .into_iter()
            .flatten()
            .map(|rule| rule.get("name").and_then(Value::as_str));
        names.map(Option::unwrap_or_default).collect()
    }

    /// The engine with these rules at that place of the policy.
    fn with(&self, rules: &[Value], at: usize) -> Result<Engine, BuildError> {
        let own = self.policy.get("rules").and_then(Value::as_array);
        let mut all = own.cloned().unwrap_or_default();
        let at = at.min(all.len());
        all.splice(at..at, rules.iter().cloned());
        let mut policy = self.policy.as_object().cloned().unwrap_or_default();
        policy.insert("rules".to_owned(), all.into());
        build(self.parts, Some(&policy.into()), self.host)
    }

    /// An engine whose rules allow every call of the tool, and look at what each of its URLs names.
    fn open(&self) -> Result<Engine, BuildError> {
        let registry = self.registry();
        let urls = registry.iter().filter(|(_, role)| role.category == Category::Url);
        let urls: Vec<String> = urls.map(|(_, role)| role.name.to_string()).collect();
        let looks = json!({
            "server": self.server, "tool": self.tool, "domains": {"roles": urls, "allowed": ["*.invalid"]},
        });
        let rule = |name: &str, conditions: Value, effect: &str| json!({"name": name, "if": conditions, "then": effect, "reason": ""});
        let rules = json!([
            rule("look", looks, "allow"),
            rule("open", json!({"server": self.server, "tool": self.tool}), "allow"),
        ]);
        build(self.parts, Some(&json!({"rules": rules})), self.host)
    }

    fn registry(&self) -> Registry {
        Imagined::new(self.engine, None).program().registry.clone()
    }

    /// A rule for each role that the calls are judged by.
    fn rules(&self, open: &Engine) -> Vec<Value> {
        let registry = self.registry();
        let explained = |engine: &Engine| -> Vec<Explanation> {
            let requests = self.requests.iter();
            requests
                .filter_map(|request| {
                    let request = request.explained(Audience::Operator);
                    engine.judge(&request, self.host).explanation
                })
                .collect()
        };
        let values = Values {
            registry: &registry,
            judged: explained(open),
            given: explained(self.engine),
        };
        let mut conditions = Vec::new();
        let roles = self.resource_roles(&registry);
        values.paths(&roles, self.requests.len() == 1, &mut conditions);
        values.others(&roles, &mut conditions);
        for role in &roles {
            if values.are_missing(role.id) {
                let mut condition = Map::new();
                condition.insert("roles".to_owned(), json!(role.name));
                let absent = role
                    .arguments
                    .iter()
                    .map(|name| json!({"arg": name, "is": "absent"}));
                if role.arguments.iter().all(|name| !name.contains('*')) {
                    condition.insert("args".to_owned(), absent.collect());
                }
                conditions.push((Some(role.name.clone()), Value::Object(condition)));
            }
        }
        if roles.is_empty() {
            conditions.push((None, values.listed(&self.opaque(&registry))));
        }
        let also = match roles.is_empty() {
            true => Vec::new(),
            false => values.fixed(&self.opaque(&registry)),
        };
        let named = conditions
            .into_iter()
            .map(|(role, condition)| self.rule(role, condition, &also));
        self.unique(named.collect())
    }

    fn rule(&self, role: Option<String>, condition: Value, also: &[Value]) -> Value {
        let mut conditions = Map::new();
        conditions.insert("server".to_owned(), self.server.into());
        conditions.insert("tool".to_owned(), self.tool.into());
        if let Value::Object(own) = condition {
            conditions.extend(own);
        }
        if !also.is_empty() {
            let args = conditions.entry("args").or_insert_with(|| json!([]));
            if let Some(args) = args.as_array_mut() {
                args.extend(also.iter().cloned());
            }
        }
        let role = role.map(|role| format!("-{role}")).unwrap_or_default();
        json!({
            "name": format!("allow-{}{role}", self.tool),
            "if": conditions, "then": "allow",
            "reason": "suggested by callgate: say here why such calls are allowed",
        })
    }

    /// The rules with names that no rule has yet.
    fn unique(&self, mut rules: Vec<Value>) -> Vec<Value> {
        let mut known: BTreeSet<String> = self.names().into_iter().map(str::to_owned).collect();
        for rule in &mut rules {
            let name = rule
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let numbered = (2..).map(|number: usize| format!("{name}-{number}"));
            let free = std::iter::once(name.clone()).chain(numbered);
            if let Some(free) = free.into_iter().find(|name| !known.contains(name)) {
                known.insert(free.clone());
                if let Some(members) = rule.as_object_mut() {
                    members.insert("name".to_owned(), free.into());
                }
            }
        }
        rules
    }

    /// The roles of resources that the tool's arguments bear in one of the calls.
    fn resource_roles(&self, registry: &Registry) -> Vec<Borne> {
        self.borne(registry, |definition| definition.is_resource_identifier())
    }

    /// The other roles that rules look at.
    fn opaque(&self, registry: &Registry) -> Vec<Borne> {
        let imagined = Imagined::new(self.engine, None);
        let ruled = imagined.program().ruled_roles;
        let mut found = self.borne(registry, |definition| !definition.is_resource_identifier());
        found.retain(|role| ruled.contains(role.id));
        found
    }

    fn borne(&self, registry: &Registry, is_wanted: impl Fn(&RoleDefinition) -> bool) -> Vec<Borne> {
        let mut found: Vec<Borne> = Vec::new();
        let annotations = self
            .requests
            .iter()
            .filter_map(|one| self.engine.annotation(one.call));
        for (argument, roles) in annotations.flatten() {
            for name in roles {
                let Some(id) = registry.find(name).filter(|id| is_wanted(registry.get(*id))) else {
                    continue;
                };
                let at = found.iter().position(|role| role.id == id).unwrap_or(found.len());
                if at == found.len() {
                    found.push(Borne {
                        id,
                        name: name.to_owned(),
                        arguments: Vec::new(),
                    });
                }
                if let Some(role) = found.get_mut(at)
                    && !role.arguments.contains(&argument)
                {
                    role.arguments.push(argument.clone());
                }
            }
        }
        found
    }
}
