//! Servers in containers, which see the disk under other names.

/// The folders of the host that a command gives to a container, each with its name there: `docker run -v A:B`, `--volume`, and
/// `--mount type=bind,src=A,dst=B`. One that is not absolute is left out: who starts the server decides what it is.
pub(super) fn mounts(words: &[String]) -> Vec<(String, String)> {
    let program = words.first().and_then(|word| word.rsplit('/').next());
    if !matches!(program, Some("docker" | "podman")) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value)),
            _ => (&**word, None),
        };
        let mut value = || value.or_else(|| rest.next().map(String::as_str));
        let pair = match flag {
            "-v" | "--volume" => value().and_then(volume),
            "--mount" => value().and_then(mount),
            _ => None,
        };
        found.extend(pair.filter(|(host, inside)| host.starts_with('/') && inside.starts_with('/')));
    }
    found
}

fn volume(value: &str) -> Option<(String, String)> {
    let (host, inside) = value.split_once(':')?;
    let inside = inside.split(':').next()?;
    Some((host.to_owned(), inside.to_owned()))
}

fn mount(value: &str) -> Option<(String, String)> {
    let of = |names: &[&str]| {
        let mut pairs = value.split(',').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(name, _)| names.contains(name))
            .map(|(_, value)| value.to_owned())
    };
    Some((of(&["src", "source"])?, of(&["dst", "destination", "target"])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_a_container_has_are_found() {
        let pair = |host: &str, inside: &str| (host.to_owned(), inside.to_owned());
        for (line, expected) in [
            ("docker run -i -v /a:/b mcp/git", vec![pair("/a", "/b")]),
            (
                "/usr/bin/podman run --volume=/a:/b:ro mcp/git",
                vec![pair("/a", "/b")],
            ),
            (
                "docker run --mount type=bind,src=/a,dst=/b --mount type=bind,source=/c,target=/d,ro mcp/git",
                vec![pair("/a", "/b"), pair("/c", "/d")],
            ),
            ("docker run -v data:/b -v ${workspaceFolder}:/c mcp/git", vec![]),
            ("npx -v /a:/b", vec![]),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(mounts(&words), expected, "{line}");
        }
    }
}
