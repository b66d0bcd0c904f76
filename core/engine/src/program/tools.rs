//! From the annotations of tools to what judging needs of them.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;

use super::{Ceiling, Index, RoleSets, Tool, ToolMember, UnknownArguments};
use crate::annotation;
use crate::model::{
    Absent, Argument, ArgumentName, PointerTree, SchemaDefault, SchemaType, Segment, Unjudged,
};
use crate::role::RoleSet;
use crate::sort;
use crate::table::TextTable;

/// What tools are compiled with.
pub(super) struct ToolCompiler<'c> {
    pub(super) ceiling: Option<&'c Ceiling>,
    pub(super) index: &'c Index,
    /// What holds for arguments that nobody names, and those that clients add.
    pub(super) unknown: (UnknownArguments, &'c [Box<str>]),
    pub(super) resource_roles: RoleSet,
    /// The roles for which the schema's default stands for an absent argument; `None` where it says nothing at all.
    pub(super) with_defaults: Option<RoleSet>,
    /// The places that conditions look at, by the scopes of their rules.
    pub(super) conditioned: BTreeMap<Vec<usize>, Arc<PointerTree>>,
}

impl ToolCompiler<'_> {
    /// The tools by server and name.
    pub(super) fn compile_all(&mut self, annotations: annotation::Annotations) -> Box<[Tool]> {
        let mut tools = annotations.tools;
        let order = sort::order_by(&tools, |one, other| {
            (&one.server, &one.name).cmp(&(&other.server, &other.name))
        });
        let mut compiled = Vec::with_capacity(order.len());
        for at in order {
            if let Some(tool) = tools.get_mut(at) {
                compiled.push(self.compile(tool));
            }
        }
        compiled.into()
    }

    /// Takes from the tool what the compiled one needs.
    pub(super) fn compile(&mut self, tool: &mut annotation::Tool) -> Tool {
        say_absent(tool, self.with_defaults);
        let has_schema = tool.schema.properties.is_some();
        let (unknown, added) = self.unknown;
        let schema = &tool.semantics.arg_schema;
        let shaped = schema.required.iter().chain(schema.arg_aliases.values());
        let shaped = shaped.chain(added).cloned();
        let properties = take(&mut tool.schema.properties);
        let (mut members, unnamed) = compile_members(&tool.arguments, properties, shaped, unknown);
        for (at, name) in tool.schema.required.iter().enumerate() {
            if let Some(member) = members.get_mut(name) {
                member.required = Some(at);
                member.schema.is_optional = false;
            }
        }
        let aliases = schema.arg_aliases.iter();
        let aliases = aliases.map(|(alias, key)| (alias.clone(), key.clone())).collect();
        let scopes = self.index.scopes_for(&tool.server, &tool.name);
        let conditions = tool.arguments.iter().flat_map(|one| one.roles.conditions());
        let mut compiled = Tool {
            ceiling: self
                .ceiling
                .map(|ceiling| ceiling.of_tool(&tool.server, &tool.name, &tool.semantics))
                .unwrap_or_default(),
            semantics: take(&mut tool.semantics),
            unjudged: tool
                .unjudged
                .or_else(|| annotation::has_commands(&tool.arguments).then_some(Unjudged::Ask))
                .map(Unjudged::effect),
            unnamed_roles: RoleSet::default(),
            is_program: false,
            conditioned: self
                .conditioned
                .entry(self.index.with_conditions(&scopes))
                .or_insert_with_key(|scopes| self.index.conditioned_in(scopes).into())
                .clone(),
            siblings: PointerTree::of_conditions(conditions.map(|condition| &condition.argument)),
            scopes: scopes.into(),
            server: take(&mut tool.server),
            name: take(&mut tool.name),
            settings: 0,
            fixed_roles: RoleSets::fixed(&tool.arguments),
            has_bases: tool
                .arguments
                .iter()
                .any(|argument| argument.relative_to.is_some()),
            arguments: take(&mut tool.arguments).into(),
            members,
            unnamed,
            aliases,
            required: take(&mut tool.schema.required).into(),
            default_reason: None,
        };
        compiled.take_unnamed(has_schema, self.resource_roles);
        compiled
    }
}

/// Lets the schema's default stand for an absent argument that may bear one of these roles, unless the annotation says what it
/// means; the existing runtime knows neither.
fn say_absent(tool: &mut annotation::Tool, with_defaults: Option<RoleSet>) {
    let properties = tool.schema.properties.iter().flatten();
    let properties: TextTable<&SchemaType> =
        properties.map(|(name, schema)| (name.clone(), schema)).collect();
    for argument in &mut tool.arguments {
        let Some(roles) = with_defaults else {
            argument.absent = None;
            continue;
        };
        if argument.absent.is_none()
            && let ArgumentName::Top(name) = &argument.name
            && argument.roles.possible().any(|role| roles.contains(role))
            && let Some(SchemaDefault::Text(value)) =
                properties.get(name).and_then(|schema| schema.default.as_ref())
        {
            argument.absent = Some(Absent::Value(value.clone()));
        }
    }
}

/// The members that the annotation or the schema names, and what holds for all others.
fn compile_members(
    arguments: &[Argument],
    schema_properties: Option<Vec<(Box<str>, SchemaType)>>,
    shaped: impl Iterator<Item = Box<str>>,
    unknown: UnknownArguments,
) -> (TextTable<ToolMember>, ToolMember) {
    let mut named: TextTable<Vec<usize>> = TextTable::default();
    let mut everywhere = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        match &argument.name {
            ArgumentName::Top(name) => named.entry(name.clone()).or_default().push(at),
            ArgumentName::Pointer(segments) => match segments.first() {
                Some(Segment::Key(name)) => named.entry(name.clone()).or_default().push(at),
                Some(Segment::Every) => everywhere.push(at),
                None => {}
            },
        }
    }
    let refuses_others = match unknown {
        UnknownArguments::Ignore => false,
        UnknownArguments::Schema => schema_properties.is_some(),
        UnknownArguments::Escalate | UnknownArguments::Deny => true,
    };
    let pointers = |indices: &[usize]| {
        let mut tree = PointerTree::default();
        for (rank, argument) in indices.iter().filter_map(|at| arguments.get(*at)).enumerate() {
            tree.insert(rank, &argument.name);
        }
        tree
    };
    let unnamed = ToolMember {
        is_known: !refuses_others || !everywhere.is_empty(),
        is_annotated: !everywhere.is_empty(),
        pointers: pointers(&everywhere),
        arguments: everywhere.clone().into(),
        schema: SchemaType::default(),
        required: None,
    };
    let mut types: TextTable<SchemaType> = schema_properties.into_iter().flatten().collect();
    for name in types.keys().cloned().chain(shaped) {
        named.entry(name).or_default();
    }
    let members = named.into_iter().map(|(name, mut indices)| {
        indices.extend_from_slice(&everywhere);
        let member = ToolMember {
            is_known: true,
            is_annotated: !indices.is_empty(),
            pointers: pointers(&indices),
            arguments: indices.into(),
            schema: SchemaType {
                is_optional: true,
                ..types.get_mut(&name).map(std::mem::take).unwrap_or_default()
            },
            required: None,
        };
        (name, member)
    });
    (members.collect(), unnamed)
}
