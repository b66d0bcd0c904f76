//! Programs and tests share what they are built from: whatever is built, the crates from outside have the same features.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::search::check;

/// Crates of this machine alone, and those of procedural macros and build scripts too, which have features of their own.
const PLACES: [&str; 2] = ["normal,no-proc-macro", "normal,build"];

/// The crates from outside that a build uses, with their features: `serde v1.0.0 derive,std`.
fn crates(packages: &[&str], edges: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--locked", "--offline", "--edges", edges])
        .args(["--prefix", "none", "--format", "{p} {f}"])
        .args(packages)
        .current_dir(root)
        .output()
        .expect("cargo");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|line| line.trim_end_matches(" (*)"));
    // A package of the checkout is followed by its folder.
    let outside = lines.filter(|line| !line.is_empty() && !line.contains(" (/"));
    outside.map(str::to_owned).collect()
}

/// `serde v1.0.0`
fn release(line: &str) -> &str {
    line.rsplit_once(' ').map_or(line, |(release, _)| release)
}

/// A crate with other features is compiled again, and so is whatever uses it. `tests/Cargo.toml` asks for features that only
/// other packages need.
#[test]
fn no_crate_is_compiled_for_two_choices_of_features() {
    for edges in PLACES {
        let of = |features: &[&str]| {
            let used = crates(&[&["--package", "conformance"], features].concat(), edges);
            let used: BTreeSet<&str> = used.iter().map(|line| release(line)).collect();
            assert!(used.len() > 50, "{} crates", used.len());
            let mut all = crates(&[&["--workspace"], features].concat(), edges);
            all.retain(|line| used.contains(release(line)));
            all
        };
        let native = of(&["--no-default-features"]);
        let show = of(&["--no-default-features", "--features", "conformance/component"]);
        let all = ["--workspace", "--features", "conformance/component"];
        let programs = crates(&all, edges);
        let tests = crates(&all, &format!("{edges},dev"));
        let what = "has other features in a larger build";
        check(what, native.difference(&show).cloned().collect());
        check(what, show.difference(&programs).cloned().collect());
        check(what, programs.difference(&tests).cloned().collect());
    }
}
