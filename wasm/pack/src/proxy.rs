//! The filter for proxies: a module that imports the ABI of proxy-wasm and nothing else.

use std::error::Error;
use std::fs;
use std::path::Path;

use callgate_pack::{Face, compile};
use wasmparser::{Parser, Payload};

use crate::panics;

/// Builds the module from the workspace at `root`, in the target directory `target`. Only the compiler optimizes it; panics become
/// traps, which name no file of this machine.
///
/// # Errors
/// When a step fails, or the module imports anything but functions of a proxy.
pub(crate) fn build(root: &Path, target: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let compiled = fs::read(compile(root, target, Face::Proxy)?)?;
    let module = without_panics(&compiled).map_err(|error| format!("{error:#}"))?;
    let foreign = foreign_imports(&module)?;
    match foreign.is_empty() {
        true => Ok(module),
        false => Err(format!(
            "the module imports {}, expected nothing besides `env.proxy_…`",
            foreign.join(", ")
        )
        .into()),
    }
}

fn without_panics(module: &[u8]) -> walrus::Result<Vec<u8>> {
    let mut config = walrus::ModuleConfig::new();
    config
        .generate_name_section(false)
        .generate_producers_section(false);
    let mut module = config.parse(module)?;
    panics::make_traps(&mut module);
    walrus::passes::gc::run(&mut module);
    Ok(module.emit_wasm())
}

/// The imports of a module that no proxy has to have.
fn foreign_imports(module: &[u8]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut foreign = Vec::new();
    for payload in Parser::new(0).parse_all(module) {
        let Payload::ImportSection(imports) = payload? else {
            continue;
        };
        for import in imports.into_imports() {
            let import = import?;
            if import.module != "env" || !import.name.starts_with("proxy_") {
                foreign.push(format!("`{}.{}`", import.module, import.name));
            }
        }
    }
    Ok(foreign)
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{EntityType, ImportSection, Module, TypeSection};

    use super::*;

    #[test]
    fn only_the_proxy_may_be_imported() {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut imports = ImportSection::new();
        for (module, name) in [
            ("env", "proxy_log"),
            ("env", "abort"),
            ("wasi_snapshot_preview1", "fd_write"),
        ] {
            imports.import(module, name, EntityType::Function(0));
        }
        let mut module = Module::new();
        module.section(&types).section(&imports);
        let foreign = foreign_imports(&module.finish()).unwrap();
        assert_eq!(foreign, ["`env.abort`", "`wasi_snapshot_preview1.fd_write`"]);
    }
}
