//! Builds the component that the crate carries.
//!
//! The component is the crate `callgate-wasm` for another target, so cargo is run once more, with a target directory of its
//! own: the one that this build uses is locked until it is done. With `CALLGATE_COMPONENT` a file is carried instead.

#[cfg(feature = "component")]
mod component {
    use std::env;
    use std::error::Error;
    use std::fs;
    use std::path::{Path, PathBuf};

    /// The sources of the component, from this crate's folder.
    const SOURCES: [&str; 9] = [
        "../Cargo.lock",
        "../Cargo.toml",
        "../core/engine/Cargo.toml",
        "../core/engine/src",
        "../core/jsontext/Cargo.toml",
        "../core/jsontext/src",
        "../wasm/Cargo.toml",
        "../wasm/src",
        "../wasm/wit",
    ];

    pub(crate) fn carry() -> Result<(), Box<dyn Error>> {
        println!("cargo::rerun-if-env-changed=CALLGATE_COMPONENT");
        let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo gave no folder to build in")?);
        let bytes = match env::var_os("CALLGATE_COMPONENT") {
            Some(file) => {
                println!("cargo::rerun-if-changed={}", file.display());
                fs::read(&file).map_err(|error| format!("`{}`: {error}", file.display()))?
            }
            None => {
                for source in SOURCES {
                    println!("cargo::rerun-if-changed={source}");
                }
                let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
                callgate_pack::component::build(&root, &target(&out)?.join("component"))?
            }
        };
        fs::write(out.join("callgate.component.wasm"), bytes)?;
        Ok(())
    }

    /// The target directory that `out` lies in: cargo marks it for programs that make backups.
    fn target(out: &Path) -> Result<&Path, Box<dyn Error>> {
        let mut above = out.ancestors();
        let found = above.find(|folder| folder.join("CACHEDIR.TAG").exists());
        Ok(found.ok_or("the folder to build in lies in no target directory")?)
    }
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "component")]
    if let Err(error) = component::carry() {
        // A line of its own; an error of `main` is shown among all that the script printed.
        println!("cargo::error={}", error.to_string().replace('\n', " "));
    }
}
