//! Rules that do not apply under the defaults of the existing runtime (SPEC §8.4).

use crate::annotation::{Tool, Tools};
use crate::diagnostic::Code;
use crate::document::{JsonPath, Report};
use crate::model::Effect;
use crate::policy::Rule;
use crate::role::{Registry, RoleSet};

/// Warns about each rule that restricts by `roles` alone, if a tool bears such a role beside resource roles that the rule
/// does not name: under `compatibility: "runtime"` only the resource roles are judged there.
pub fn check(rules: &[Rule], place: &JsonPath<'_>, registry: &Registry, tools: Tools<'_>, report: &Report) {
    for (at, rule) in rules.iter().enumerate() {
        let mut tools = tools.iter();
        if let Some((server, tool, _)) = tools.find(|(server, name, tool)| {
            rule.conditions.includes(server, name) && !applies(tool, rule, registry)
        }) {
            report.warning(Code::Overridden, &JsonPath::Index(place, at), format_args!(
                    "the rule `{}` does not apply to `{}` on `{}`, which has a resource role that the rule does not name, \
                     expected a condition on values, or `compatibility: \"careful\"`",
                    rule.name, tool, server
                ));
        }
    }
}

fn applies(tool: &Tool, rule: &Rule, registry: &Registry) -> bool {
    let conditions = &rule.conditions;
    let Some(named) = conditions.roles.as_ref().filter(|_| rule.effect != Effect::Allow) else {
        return true;
    };
    if conditions.name_values() {
        return true;
    }
    let named: RoleSet = named.iter().copied().collect();
    let roles: RoleSet = tool
        .arguments
        .iter()
        .flat_map(|argument| argument.roles.possible())
        .collect();
    let resources: RoleSet = roles
        .iter()
        .filter(|role| registry.get(*role).is_resource_identifier())
        .collect();
    !named.intersects(roles) || resources == RoleSet::default() || resources.intersects(named)
}
