//! Tools of which every call is denied: what can be told before any argument is known.

use super::{Program, Rule, RuleId, ServerSettings, Tool};
use crate::model::{Effect, Roles, SandboxOrder};
use crate::role::{RoleId, RoleSet};
use crate::sort;

/// The roles that arguments of a tool bear.
#[derive(Clone, Copy, Default)]
struct Borne {
    /// In every call.
    always: RoleSet,
    /// In some call.
    possibly: RoleSet,
}

impl Program {
    /// Returns `true` if every call of the tool is denied, whatever its arguments, its context and the host's answers.
    ///
    /// Values are not looked at: if a rule that allows or escalates may hold for some call, the answer is `false`.
    pub fn denies_every_call(&self, server: &str, name: &str) -> bool {
        let (settings, tool) = self.server_and_tool(server, name);
        let Some(tool) = tool else {
            return !settings.is_trusted;
        };
        if settings.is_trusted || settings.is_introspection(name) {
            return false;
        }
        if crate::annotation::has_commands(&tool.arguments) {
            // Its parts may be allowed whatever is said of the call.
            return tool.ceiling.refusal.is_some();
        }
        tool.ceiling.refusal.is_some() || self.rules_deny_every_call(settings, tool)
    }

    fn rules_deny_every_call(&self, settings: &ServerSettings, tool: &Tool) -> bool {
        let borne = Borne::new(tool);
        let sandboxed = match settings.is_sandboxed && !self.sandbox.is_empty() {
            true => self.sandbox_roles,
            false => RoleSet::default(),
        };
        let denies = |judged: Option<RoleId>| {
            let is_sandboxed = judged.is_some_and(|role| sandboxed.contains(role));
            let order = is_sandboxed.then_some(self.sandbox_order);
            self.rules_deny(tool, borne, judged, order)
        };
        // Where the allowlist decides, a URL outside of it escalates, and no rule is asked.
        if !self.defaults.allowlist_asks
            && settings.allowlist.is_some()
            && borne.possibly.intersects(self.url_roles)
        {
            return false;
        }
        let certain = borne.always.intersection(self.resource_roles);
        if !certain.is_empty() {
            // One role that is denied is enough.
            return certain.iter().any(|role| denies(Some(role)));
        }
        let mut others = borne.possibly.intersection(self.resource_roles).iter();
        others.all(|role| denies(Some(role))) && denies(None)
    }

    /// Returns `true` if the rules deny each call of the tool in which that role is judged; with `None`, each in which
    /// no role is. `sandbox` says when the sandbox decides about the role, if it does.
    fn rules_deny(
        &self,
        tool: &Tool,
        borne: Borne,
        judged: Option<RoleId>,
        sandbox: Option<SandboxOrder>,
    ) -> bool {
        let is_before = sandbox == Some(SandboxOrder::BeforeRules);
        if is_before && !self.defaults.hears_granted {
            return false;
        }
        let resources = borne.possibly.intersection(self.resource_roles);
        for (_, rule) in self.rules_of(tool) {
            let is_asked = match judged {
                Some(role) => rule.relevant.contains(role),
                None => rule.paths.is_none(),
            };
            // Whether a rule about the whole call is heard for a role in the sandbox depends on the other roles.
            let is_unsure = is_before
                && rule.effect == Effect::Deny
                && rule.relevant == RoleSet::ALL
                && resources.iter().count() > 1;
            if !is_asked || is_unsure {
                continue;
            }
            if rule.effect == Effect::Deny {
                if rule.surely_holds(borne, judged) {
                    return true;
                }
            } else if rule.may_hold(borne) {
                return false;
            }
        }
        let is_denied = tool.unjudged.is_none_or(|effect| effect == Effect::Deny);
        // A value that no rule has decided about is denied, unless it lies within the sandbox.
        sandbox.is_none() && (judged.is_some() || is_denied)
    }

    /// The rules whose conditions on server and tool hold, in order.
    pub fn rules_of<'p>(&'p self, tool: &'p Tool) -> impl Iterator<Item = (RuleId, &'p Rule)> {
        let mut ids: Vec<RuleId> = Vec::new();
        for scope in self.scopes(tool) {
            ids.extend_from_slice(&scope.all);
        }
        sort::sort(&mut ids);
        ids.dedup();
        ids.into_iter().filter_map(|id| Some((id, self.rule(id)?)))
    }
}

impl Rule {
    /// Returns `true` if the conditions on roles can hold together for a tool that bears these.
    fn may_hold(&self, borne: Borne) -> bool {
        let mut conditions = self.value_conditions().into_iter().chain(self.roles);
        conditions.all(|roles| roles.intersects(borne.possibly))
    }

    /// Returns `true` if the rule holds for each call in which the role is judged.
    fn surely_holds(&self, borne: Borne, judged: Option<RoleId>) -> bool {
        let meets = |roles: RoleSet| {
            roles.intersects(borne.always) || judged.is_some_and(|role| roles.contains(role))
        };
        self.value_conditions().is_empty()
            && self.arguments.is_empty()
            && self.context.is_empty()
            && self.counts.is_empty()
            && self.roles.is_none_or(meets)
    }
}

impl Borne {
    fn new(tool: &Tool) -> Self {
        let mut borne = Self::default();
        for argument in &tool.arguments {
            let possibly: RoleSet = argument.roles.possible().collect();
            let always = match &argument.roles {
                Roles::Fixed(_) => possibly,
                Roles::Conditional { default, when } => {
                    let default: RoleSet = default.iter().copied().collect();
                    let of_clauses = when.iter().map(|clause| clause.roles.iter().copied().collect());
                    of_clauses.fold(default, RoleSet::intersection)
                }
            };
            borne.always = borne.always.union(always);
            borne.possibly = borne.possibly.union(possibly);
        }
        borne
    }
}
