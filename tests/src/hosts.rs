//! The hosts under test, by name.

mod agree;
mod batch_host;
#[cfg(feature = "component")]
mod component;
mod native;
mod process;
mod python;
mod session;

use crate::subject::Subject;

pub use agree::Agreeing;
#[cfg(test)]
pub(crate) use batch_host::BatchHost;
#[cfg(feature = "component")]
pub use component::ComponentSubject;
pub use native::NativeSubject;
use process::ProcessSubject;

/// The names of every host.
pub const ALL: &[&str] = &[
    "native",
    #[cfg(feature = "component")]
    "wasmtime",
    "node",
    "browser",
    "jco",
    "python",
    "wasmtime-py",
];

/// What a machine may lack.
const OPTIONAL: [&str; 3] = ["browser", "python", "wasmtime-py"];

/// The hosts with these names, or all hosts if `names` is empty.
///
/// If `names` is empty, a browser, Python or its packages that are missing are left out with a message, unless `CI=true`.
///
/// # Errors
/// A name is unknown, or a host cannot be started.
pub fn start(names: &[String]) -> Result<Vec<Box<dyn Subject>>, String> {
    if !names.is_empty() {
        return names.iter().map(|name| start_one(name)).collect();
    }
    let mut subjects = Vec::new();
    for &name in ALL {
        match start_one(name) {
            Ok(subject) => subjects.push(subject),
            Err(error) if OPTIONAL.contains(&name) && !is_continuous_integration() => {
                eprintln!("skipped: {error}");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(subjects)
}

fn start_one(name: &str) -> Result<Box<dyn Subject>, String> {
    match name {
        "native" => Ok(Box::new(NativeSubject)),
        #[cfg(feature = "component")]
        "wasmtime" => {
            let subject = ComponentSubject::new().map_err(|error| error.to_string())?;
            Ok(Box::new(subject))
        }
        "node" => Ok(Box::new(ProcessSubject::package("node")?)),
        "browser" => Ok(Box::new(ProcessSubject::package("browser")?)),
        "jco" => Ok(Box::new(ProcessSubject::component()?)),
        "python" => Ok(Box::new(ProcessSubject::python()?)),
        "wasmtime-py" => Ok(Box::new(ProcessSubject::component_in_python()?)),
        _ => Err(format!(
            "there is no host `{name}`, expected one of {}",
            ALL.join(", ")
        )),
    }
}

fn is_continuous_integration() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}
