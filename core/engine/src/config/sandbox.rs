//! The sandbox of `workspaceRoots: "sandbox"`.

use crate::policy::Ceiling;

/// The ceiling's workspace roots, if they can be the sandbox.
pub(super) fn of_ceiling<'c>(
    ceiling: Option<&'c Ceiling>,
    allowed_directory: &[Box<str>],
) -> Result<&'c [Box<str>], &'static str> {
    let roots = ceiling.map_or(&[][..], |ceiling| &ceiling.workspace_roots);
    if !allowed_directory.is_empty() {
        return Err("found `\"sandbox\"` beside `sandbox`, which is the sandbox, expected one of them");
    }
    if roots.is_empty() {
        return Err("found `\"sandbox\"`, but the ceiling has no workspace root, expected at least one");
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::document::DocumentSource;

    #[test]
    fn roots_may_be_the_sandbox() {
        for (roots, allowed, expected) in [
            (json!(["~/a"]), None, Ok(&["~/a"][..])),
            (json!(["/b", "/a", "/b"]), None, Ok(&["/b", "/a", "/b"])),
            (json!([]), None, Err("no workspace root")),
            (Value::Null, None, Err("no workspace root")),
            (json!(["/a"]), Some("/a"), Err("beside `sandbox`")),
            (json!(["/a", "/b"]), Some("/c"), Err("beside `sandbox`")),
            (json!([]), Some("/c"), Err("beside `sandbox`")),
        ] {
            let document = json!({"workspace_roots": roots});
            let ceiling =
                (!roots.is_null()).then(|| Ceiling::load(DocumentSource::Value(&document)).unwrap());
            let allowed: Vec<Box<str>> = allowed.into_iter().map(Box::from).collect();
            match (of_ceiling(ceiling.as_ref(), &allowed), expected) {
                (Ok(found), Ok(expected)) => {
                    let found: Vec<&str> = found.iter().map(|root| &**root).collect();
                    assert_eq!(found, expected);
                }
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                (found, _) => panic!("{document}: {found:?}, expected {expected:?}"),
            }
        }
    }
}
