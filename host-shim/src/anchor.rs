//! Paths of documents, made absolute: they are relative to the folder of the file that names them.

use serde_json::Value;

use crate::members::Members;

/// `path` as the engine takes it: a relative one lies in `folder`, which is absolute.
///
/// What begins with `~`, a pattern that begins with `**`, and what the engine refuses by its spelling (empty, `$NAME`, `file:`), stays as it is.
pub fn anchored(path: &str, folder: &str) -> String {
    let spelled = path.starts_with(['/', '~', '$']) || path.contains(['\0']) || path.contains("${");
    let uri = path
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let everywhere = path == "**" || path.starts_with("**/");
    if path.is_empty() || spelled || uri || everywhere {
        return path.to_owned();
    }
    let folder = folder.trim_end_matches('/');
    match path.trim_end_matches('/') {
        "." if folder.is_empty() => "/".to_owned(),
        "." => folder.to_owned(),
        _ => format!("{folder}/{}", path.strip_prefix("./").unwrap_or(path)),
    }
}

/// The document of a world with the directories of its roots and mounts anchored; what is malformed stays as it
/// is, repeated keys included, for the engine to refuse.
pub(crate) fn anchored_world(text: &str, folder: &str) -> String {
    let rewritten = |text: &str, change: &dyn Fn(&str, &str) -> String| {
        let Members(members) = serde_json::from_str(text).ok()?;
        let members = members
            .iter()
            .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), change(name, value.get())));
        Some(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
    };
    let directory = |_: &str, value: &str| match serde_json::from_str::<String>(value) {
        Ok(path) => Value::from(anchored(&path, folder)).to_string(),
        Err(_) => value.to_owned(),
    };
    let member = |name: &str, value: &str| match name {
        "roots" | "mounts" => rewritten(value, &directory).unwrap_or_else(|| value.to_owned()),
        _ => value.to_owned(),
    };
    rewritten(text, &member).unwrap_or_else(|| text.to_owned())
}

/// The JSON text of a ceiling with its workspace roots anchored. The members are written again one by one, so that a
/// repeated one is still there to be refused.
pub(crate) fn anchored_ceiling(text: &str, folder: &str) -> String {
    let Ok(Members(members)) = serde_json::from_str(text) else {
        return text.to_owned();
    };
    let members = members.into_iter().map(|(name, value)| {
        let value = match name.as_str() {
            "workspace_roots" => anchored_strings(value.get(), folder),
            _ => value.get().to_owned(),
        };
        format!("{}:{value}", Value::from(name))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The JSON text with every string of the outermost level anchored; what is not a string is for the engine to refuse.
pub(crate) fn anchored_strings(text: &str, folder: &str) -> String {
    let anchor = |value: &mut Value| {
        if let Value::String(path) = value {
            *path = anchored(path, folder);
        }
    };
    let Ok(mut read) = serde_json::from_str::<Value>(text) else {
        return text.to_owned();
    };
    match &mut read {
        Value::Array(items) => items.iter_mut().for_each(anchor),
        one => anchor(one),
    }
    read.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_anchored_and_no_others() {
        for (path, expected) in [
            (".", "/srv/app"),
            ("./", "/srv/app"),
            ("./box", "/srv/app/box"),
            ("box/a", "/srv/app/box/a"),
            ("../other", "/srv/app/../other"),
            ("C:\\x", "/srv/app/C:\\x"),
            ("/etc", "/etc"),
            ("~", "~"),
            ("~/.ssh", "~/.ssh"),
            ("~root", "~root"),
            ("$HOME/x", "$HOME/x"),
            ("a/${HOME}", "a/${HOME}"),
            ("FILE:/etc", "FILE:/etc"),
            ("a\0", "a\0"),
            ("**/.env", "**/.env"),
            ("**", "**"),
            ("*.pem", "/srv/app/*.pem"),
            ("", ""),
        ] {
            assert_eq!(anchored(path, "/srv/app"), expected, "{path:?}");
            assert_eq!(anchored(path, "/srv/app/"), expected, "{path:?}");
        }
        assert_eq!(anchored(".", "/"), "/");
        assert_eq!(anchored("etc", "/"), "/etc");
    }

    #[test]
    fn the_directories_of_a_world_are_anchored_and_nothing_else_changes() {
        let world = r#"{"roots": {"a": "src", "b": "/srv", "a": "~/x", "c": 5}, "mounts": [], "operations": [ ], "x": 1, "x": 2}"#;
        let expected =
            r#"{"roots":{"a":"/f/src","b":"/srv","a":"~/x","c":5},"mounts":[],"operations":[ ],"x":1,"x":2}"#;
        assert_eq!(anchored_world(world, "/f"), expected);
        assert_eq!(anchored_world("[1", "/f"), "[1");
    }
}
