//! The hosts under test, by name.

use callgate_host::replay::{ComponentSubject, NativeSubject, Subject};

use crate::node::NodeSubject;

/// The names of every host.
pub const ALL: [&str; 4] = ["native", "wasmtime", "node", "jco"];

/// The hosts of those names; all of them where none is named.
///
/// # Errors
/// When there is no host of a name, or it cannot be started.
pub fn start(names: &[String]) -> Result<Vec<Box<dyn Subject>>, String> {
    let start = |name: &str| -> Result<Box<dyn Subject>, String> {
        match name {
            "native" => Ok(Box::new(NativeSubject)),
            "wasmtime" => {
                let subject = ComponentSubject::new().map_err(|error| error.to_string())?;
                Ok(Box::new(subject))
            }
            "node" => Ok(Box::new(NodeSubject::package()?)),
            "jco" => Ok(Box::new(NodeSubject::component()?)),
            _ => Err(format!(
                "there is no host `{name}`, expected one of {}",
                ALL.join(", ")
            )),
        }
    };
    if names.is_empty() {
        ALL.iter().map(|name| start(name)).collect()
    } else {
        names.iter().map(|name| start(name)).collect()
    }
}
