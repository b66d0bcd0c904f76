//! Fails with one line if the compiler has no target for WebAssembly: this script runs long before whatever needs it.

#[path = "src/target.rs"]
mod target;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/target.rs");
    match target::libraries() {
        // Once the target is removed, this is said again.
        Ok(folder) => println!("cargo::rerun-if-changed={}", folder.display()),
        Err(error) => println!("cargo::error={error}"),
    }
}
