//! Shapes of what the host is asked about: paths deep in the disk, links, names that are missing, and git's remotes.

use serde_json::json;

use super::{MOST, Shape, domains, each, list, rules};

pub(super) fn shapes() -> Vec<Shape> {
    let groups = [paths(), deep_paths(), remotes(), pushes()];
    groups.into_iter().flatten().collect()
}

fn gated(name: &'static str, count: usize, path: impl Fn(usize) -> String) -> Shape {
    let read = "read-path";
    let denied = rules(
        1,
        "deny",
        |_| json!({"paths": {"roles": [read], "within": "/no"}}),
    );
    let mut shape = Shape::new(name, denied, read, each(count, path));
    shape.gates = true;
    shape
}

/// As many paths as a role may have.
fn paths() -> Vec<Shape> {
    let deep = "directory/".repeat(20);
    let mut deleted = gated(
        "gate of 16,384 paths to delete in directories 20 deep",
        MOST,
        |at| format!("/srv/{deep}./f{at}"),
    );
    deleted.roles = json!({"values": ["delete-path"]});
    vec![
        deleted,
        gated("gate of 16,384 paths in directories 20 deep", MOST, |at| {
            format!("/srv/{deep}./f{at}")
        }),
        gated(
            "gate of 16,384 paths that climb out of 20 directories",
            MOST,
            |at| format!("/srv/{}f{at}", "d/../directory/".repeat(20)),
        ),
        gated(
            "gate of 16,384 paths that are missing in directories 20 deep",
            MOST,
            |at| format!("/srv/{deep}./new{at}"),
        ),
        gated(
            "gate of 16,384 paths whose 20 directories are missing",
            MOST,
            |at| format!("/srv/new{at}/{deep}./f"),
        ),
        gated("gate of 16,384 short paths that are missing", MOST, |at| {
            format!("/s/./new{at}")
        }),
        gated(
            "gate of 16,384 paths that are patterns in directories 20 deep",
            MOST,
            |at| format!("/srv/{deep}{at}/[a][b][c][d]"),
        ),
        gated(
            "gate of 16,384 paths behind a link in directories 20 deep",
            MOST,
            |at| format!("/srv/{deep}link/f{at}"),
        ),
    ]
}

/// As much text as a call may have, in paths of many short names.
fn deep_paths() -> Vec<Shape> {
    let longest = "a/".repeat(16_000);
    vec![
        gated("gate of 500 paths in directories 16,000 deep", 500, |at| {
            format!("/srv/{longest}{at}")
        }),
        gated("gate of 4,000 links in directories 2,000 deep", 4_000, |_| {
            format!("/srv/{}link", "a/".repeat(2_000))
        }),
        gated("gate of 500 links in directories 16,000 deep", 500, |_| {
            format!("/srv/{longest}link")
        }),
        gated(
            "gate of 500 paths that are missing in directories 16,000 deep",
            500,
            |at| format!("/srv/{longest}new{at}"),
        ),
        gated(
            "gate of 100 paths whose 16,000 directories are missing",
            100,
            |at| format!("/srv/new{at}/{}f", "a/".repeat(15_990)),
        ),
        gated(
            "gate of 500 paths that climb out of 4,500 directories",
            500,
            |at| format!("/srv/{}{at}", "a/b/../".repeat(4_500)),
        ),
    ]
}

/// Remotes in a repository that the call names.
fn remotes() -> Vec<Shape> {
    let remote = "git-remote-url";
    let in_repository = |name, count, value: &dyn Fn(usize) -> String| {
        let denied = rules(36, "deny", |at| domains(remote, &[format!("c{at}.test/a/*")]));
        let mut shape = Shape::new(name, denied, remote, json!(null));
        shape.roles = json!({"path": ["read-path"], "values": [remote]});
        shape.arguments = json!({"path": "/repo", "values": each(count, value)});
        shape
    };
    vec![
        in_repository("15,000 names of remotes", 15_000, &|at| format!("r{at}")),
        in_repository("6,000 remotes with hosts in other scripts", 6_000, &|at| {
            format!("https://BÜCHER{at}.例え.ελληνικά.test/a/b")
        }),
        in_repository("7,000 remotes that are not normalized", 7_000, &|at| {
            format!("HTTPS://H{at}.Test:443/a/b")
        }),
        in_repository("100 names of remotes with 1,000 URLs each", 100, &|at| {
            format!("many{at}")
        }),
        in_repository(
            "15,000 times the name of a remote with 1,000 URLs",
            15_000,
            &|_| "many".to_owned(),
        ),
    ]
}

/// Branches that a call pushes.
fn pushes() -> Vec<Shape> {
    let branch = "branch-name";
    let denied = rules(36, "deny", |at| list(branch, "identifiers", &[format!("b{at}x")]));
    let mut one = Shape::new("16,000 branches pushed to a remote", denied, branch, json!(null));
    one.roles = json!({"path": ["read-path"], "values": [branch], "remote": ["git-remote-url"]});
    let branches = each(16_000, |at| format!("b{at}"));
    one.arguments = json!({"path": "/repo", "values": branches, "remote": "https://h.test/a"});
    vec![one]
}
