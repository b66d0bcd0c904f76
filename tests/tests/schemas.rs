//! The schemas that the package ships are those of the readers. Whether these are right is the question of `tests/schemas`.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a failing test stops where it fails"
)]

use std::fs;
use std::path::Path;

use callgate_authoring::schema::Schema;
use callgate_engine::document::keys;

#[test]
fn the_package_ships_the_schemas() {
    for schema in Schema::ALL {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../js/schemas/{schema}.json"));
        let shipped = fs::read_to_string(path).expect("a schema");
        let written = format!("{:#}\n", schema.to_json());
        assert!(
            shipped == written,
            "js/schemas/{schema}.json is not the schema: `callgate schema --write js/schemas`"
        );
    }
}

/// One statement of a document's keys: the readers and the schemas take them from `keys`, and the package's types say the same.
#[test]
fn the_package_types_the_keys_of_the_documents() {
    let types = ["documents", "options", "programs", "world"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../js/src/types/{name}.ts"));
        fs::read_to_string(path).expect("types")
    });
    let types = types.concat();
    for (interface, known) in [
        ("CompiledPolicyFile", keys::POLICY),
        ("CompiledRule", keys::RULE),
        ("RuleConditions", keys::RULE_CONDITIONS),
        ("Counter", keys::COUNTER),
        ("RoleCondition", keys::CONDITION),
        ("ListDefinition", keys::LIST_DEFINITION),
        ("DynamicListsFile", keys::LISTS),
        ("ResolvedList", keys::RESOLVED_LIST),
        ("ProgramsFile", callgate_programs::keys::PROGRAMS),
        ("ProgramVariables", callgate_programs::keys::VARIABLES),
        ("DescribedProgram", callgate_programs::keys::PROGRAM),
        ("ProgramCase", callgate_programs::keys::CASE),
        ("AnnotationsFile", keys::ANNOTATIONS),
        ("ServerTools", keys::SERVER),
        ("ToolSemantics", keys::SEMANTICS),
        ("ConditionalRoles", keys::CONDITIONAL_ROLES),
        ("RoleSpec", keys::ROLE_SPEC),
        ("EngineOptions", keys::OPTIONS),
        ("HostRole", keys::ROLE),
        ("Ceiling", keys::CEILING),
        ("ToolArgConstraint", keys::CONSTRAINT),
        ("WorldDocument", keys::WORLD),
        ("WorldVisibility", keys::VISIBILITY),
        ("WorldOperations", keys::OPERATIONS),
        ("CallContext", keys::CONTEXT),
    ] {
        let mut found = members(&types, interface);
        found.retain(|key| *key != "$schema");
        found.sort_unstable();
        let mut known = known.to_vec();
        known.sort_unstable();
        assert_eq!(found, known, "the members of `{interface}`");
    }
    // A tool has the keys of its semantics besides, and older files one that nothing reads.
    let mut tool = members(&types, "DocumentedTool");
    tool.push("sideEffects");
    tool.sort_unstable();
    let mut known = keys::TOOL.to_vec();
    known.sort_unstable();
    assert_eq!(tool, known, "the members of `DocumentedTool`");
}

/// The members that an interface declares itself.
fn members<'t>(types: &'t str, interface: &str) -> Vec<&'t str> {
    let head = format!("interface {interface}");
    let begins = |at: usize| types[at + head.len()..].starts_with(['<', ' ']);
    let (at, _) = types
        .match_indices(&head)
        .find(|(at, _)| begins(*at))
        .expect(interface);
    let body = &types[at..];
    let body = &body[..body.find("\n}").expect("an end")];
    let lines = body.lines().filter_map(|line| line.strip_prefix("  readonly "));
    let names = lines.filter_map(|line| line.split(['?', ':']).next());
    names.filter(|name| !name.starts_with('[')).collect()
}
