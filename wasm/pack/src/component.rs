//! From a module to a component that imports the host and nothing else.

use std::error::Error;
use std::fs;
use std::path::Path;

use wit_component::{ComponentEncoder, DecodedWasm};
use wit_parser::{Resolve, WorldId, WorldItem};

use crate::compile::{Face, compile};

/// The interfaces that the component may import, with whether they have functions.
const IMPORTS: [(&str, bool); 2] = [
    ("callgate:gate/host@0.1.0", true),
    // Types only, nothing to call.
    ("callgate:gate/types@0.1.0", false),
];

/// Builds the component from the workspace at `root`, in the target directory `target`. Only the compiler
/// optimizes it.
///
/// # Errors
/// When a step fails, or the component imports anything but the host.
pub fn build(root: &Path, target: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let module = compile(root, target, Face::Component)?;
    encode(&fs::read(module)?)
}

/// Makes a component of a module that was built from the contract.
///
/// # Errors
/// When the module does not fit the contract in it, or imports anything but the host.
pub fn encode(module: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let encoder = ComponentEncoder::default().validate(true).module(module);
    let component = encoder.and_then(|mut encoder| encoder.encode());
    let component = component.map_err(|error| format!("{error:#}"))?;
    let foreign = foreign_imports(&component)?;
    if foreign.is_empty() {
        Ok(component)
    } else {
        let allowed = IMPORTS.map(|(name, _)| format!("`{name}`"));
        Err(format!(
            "the component imports {}, expected nothing besides {}",
            foreign.join(", "),
            allowed.join(" and ")
        )
        .into())
    }
}

/// The imports of a component that are not allowed.
fn foreign_imports(component: &[u8]) -> Result<Vec<String>, Box<dyn Error>> {
    let decoded = wit_component::decode(component).map_err(|error| format!("{error:#}"))?;
    let DecodedWasm::Component(resolve, world) = decoded else {
        return Err("the encoder made a package, expected a component".into());
    };
    Ok(imports(&resolve, world)
        .filter(|import| !IMPORTS.contains(&(&import.0, import.1)))
        .map(|(name, _)| format!("`{name}`"))
        .collect())
}

fn imports(resolve: &Resolve, world: WorldId) -> impl Iterator<Item = (String, bool)> + '_ {
    resolve.worlds[world].imports.iter().map(|(key, item)| {
        let has_functions = match item {
            WorldItem::Interface { id, .. } => !resolve.interfaces[*id].functions.is_empty(),
            WorldItem::Function(_) | WorldItem::Type { .. } => true,
        };
        (resolve.name_world_key(key), has_functions)
    })
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{EntityType, ImportSection, Module, TypeSection, ValType};
    use wit_component::{StringEncoding, embed_component_metadata};

    use super::*;

    const WORLD: &str = "
        package a:b;
        world w { IMPORTS }
        package callgate:gate@0.1.0 { interface types { type t = u8; } interface host { f: func() -> u64; } }
        package wasi:cli@0.2.0 { interface exit { f: func() -> u64; } }";

    /// A module of a world with these imports, that imports these functions of these interfaces.
    fn module(imports: &str, functions: &[(&str, &str)]) -> Vec<u8> {
        let mut resolve = Resolve::default();
        let package = resolve
            .push_str("w.wit", &WORLD.replace("IMPORTS", imports))
            .unwrap();
        let world = resolve.select_world(&[package], Some("w")).unwrap();
        let mut types = TypeSection::new();
        types.ty().function([], [ValType::I64]);
        let mut section = ImportSection::new();
        for (interface, name) in functions {
            section.import(interface, name, EntityType::Function(0));
        }
        let mut module = Module::new();
        module.section(&types).section(&section);
        let mut module = module.finish();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
        module
    }

    #[test]
    fn only_the_host_may_be_imported() {
        #[track_caller]
        fn check(imports: &str, functions: &[(&str, &str)], expected: &[&str]) {
            let refused = encode(&module(imports, functions))
                .err()
                .map(|error| error.to_string());
            assert_eq!(refused.is_some(), !expected.is_empty(), "{refused:?}");
            for name in expected {
                assert!(
                    refused.as_ref().is_some_and(|text| text.contains(name)),
                    "{refused:?}"
                );
            }
        }
        const HOST: (&str, &str) = ("callgate:gate/host@0.1.0", "f");
        check("import callgate:gate/host@0.1.0;", &[HOST], &[]);
        check(
            "import callgate:gate/host@0.1.0; import wasi:cli/exit@0.2.0;",
            &[HOST, ("wasi:cli/exit@0.2.0", "f")],
            &["`wasi:cli/exit@0.2.0`"],
        );
        check("import now: func() -> u64;", &[("$root", "now")], &["`now`"]);
    }
}
