//! The engine's own rules are those of `StructuralRule`, in Rust and in TypeScript.

use std::fs;
use std::path::Path;

use callgate_engine::judge::StructuralRule;

use super::circles::typescript;
use super::search::check;
use super::source::sources;

const CRATES: &[(&str, &str)] = &[
    ("core/analysis/src", "lib.rs"),
    ("core/authoring/src", "lib.rs"),
    ("core/compat/src", "lib.rs"),
    ("core/engine/src", "lib.rs"),
    ("host-shim/src", "lib.rs"),
    ("host-shim/doctor/src", "lib.rs"),
    ("host-shim/guard/src", "lib.rs"),
    ("host-shim/hook/src", "lib.rs"),
    ("host-shim/serve/src", "lib.rs"),
    ("host-shim/command/src", "main.rs"),
    ("wasm/src", "lib.rs"),
];

#[test]
fn only_the_list_spells_the_name_of_a_rule() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut faults = Vec::new();
    for (folder, root) in CRATES {
        for source in sources(&checkout.join(folder), root) {
            if source.file == "judge/structural.rs" {
                continue;
            }
            let literals = source.tokens.iter().filter(|token| {
                let text = token.text.trim_matches('"');
                text.len() < token.text.len() && StructuralRule::parse(text).is_some()
            });
            // The check of an explanation has the name of the rule that it leads to.
            let wrong = literals.filter(|token| token.text != "\"trusted-server\"");
            faults.extend(
                wrong.map(|token| format!("{folder}/{}:{}: {}", source.file, token.line, token.text)),
            );
        }
    }
    check("names of rules as text", faults);
}

#[test]
fn the_package_names_no_other_rule() {
    let mut files = Vec::new();
    typescript(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../js/src"),
        &mut files,
    );
    let (mut named, mut faults) = (0, Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        for word in text.split('"').filter(|word| word.starts_with("structural-")) {
            named += 1;
            if StructuralRule::parse(word).is_none() {
                faults.push(format!("{}: {word}", file.display()));
            }
        }
    }
    check("rules that the engine does not know", faults);
    assert!(named > 4, "{named}");
}
