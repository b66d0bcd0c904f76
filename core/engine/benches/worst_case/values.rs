//! Shapes of many or long values, and of many rules about them.

use serde_json::json;

use super::{MOST, Shape, domains, each, list, rules};

pub(super) fn shapes() -> Vec<Shape> {
    let labels = |count: usize| "a.".repeat(count);
    let mail = |at: usize| format!("u{at}@x.test");
    let url = |at: usize| format!("https://h{at}.ok.test/");
    let many = |at: usize, count: usize| -> Vec<String> {
        (0..count).map(|one| format!("d{one}.s{at}.test")).collect()
    };
    let remote = "git-remote-url";
    let (email, fetch, read) = ("email-address", "fetch-url", "read-path");
    let mut shapes = vec![
        Shape::new(
            "one URL of 16,370 labels",
            rules(65, "deny", |at| domains(fetch, &[format!("*.c{at}.test")])),
            fetch,
            json!(format!("https://{}ok.test/", labels(16_370))),
        ),
        Shape::new(
            "40 URLs of 16,370 labels",
            rules(65, "deny", |at| domains(fetch, &[format!("*.c{at}.test")])),
            fetch,
            each(40, |_| format!("https://{}ok.test/", labels(16_370))),
        ),
        Shape::new(
            "16,384 URLs of 120 labels, lists of 100 domains",
            rules(36, "deny", |at| domains(fetch, &many(at, 100))),
            fetch,
            each(MOST, |at| format!("https://{}h{at}.test/", labels(119))),
        ),
        Shape::new(
            "long suffixes",
            rules(36, "deny", |at| {
                domains(fetch, &[format!("*.{}.c{at}.test", "b".repeat(63))])
            }),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "10,000 e-mail addresses, 5 lists",
            rules(5, "allow", |at| list(email, "emails", &[mail(at + 90_000)])),
            email,
            each(10_000, mail),
        ),
        Shape::new(
            "16,384 e-mail addresses, 5 denied lists",
            rules(5, "deny", |at| list(email, "emails", &[mail(at + 90_000)])),
            email,
            each(MOST, mail),
        ),
        Shape::new(
            "16,384 recipients with names, 36 denied lists",
            rules(36, "deny", |at| list(email, "emails", &[mail(at + 90_000)])),
            email,
            each(MOST, |at| format!("\"U, {at}\" (x) <MAILTO:u{at}@x.test>")),
        ),
        Shape::new(
            "16,384 URLs, 36 rules",
            rules(36, "deny", |at| domains(fetch, &[format!("c{at}.test")])),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "16,384 URLs, 36 rules of 100 domains",
            rules(36, "deny", |at| domains(fetch, &many(at, 100))),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "16,384 URLs, each with its rule",
            rules(MOST, "allow", |at| domains(fetch, &[format!("h{at}.ok.test")])),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "16,384 URLs, 10,000 rules of 65 domains",
            rules(1_000, "deny", |at| domains(fetch, &many(at, 65))),
            fetch,
            each(MOST, url),
        ),
        Shape::new(
            "2,000 remote names",
            rules(36, "deny", |at| domains(remote, &[format!("c{at}.test")])),
            remote,
            each(2_000, |at| format!("r{at}")),
        ),
        Shape::new(
            "16,384 remotes as URLs",
            rules(36, "deny", |at| domains(remote, &[format!("c{at}.test/a/*")])),
            remote,
            each(MOST, |at| format!("git@h{at}.test:a/b")),
        ),
        Shape::new(
            "broken URLs with many hosts",
            rules(36, "deny", |at| domains(fetch, &[format!("c{at}.test")])),
            fetch,
            each(480, |_| format!("hxxp:{}", "a.b ".repeat(8_000))),
        ),
        Shape::new(
            "16,384 owners, 36 lists of 100",
            rules(36, "deny", |at| {
                list("github-owner", "identifiers", &many(at, 100))
            }),
            "github-owner",
            each(MOST, |at| format!("o{at}")),
        ),
        Shape::new(
            "16,384 paths, 36 directories",
            rules(
                36,
                "allow",
                |at| json!({"paths": {"roles": [read], "within": format!("/d{at}")}}),
            ),
            read,
            each(MOST, |at| format!("/srv/f{at}")),
        ),
        Shape::new(
            "16,384 paths, 10,000 directories",
            rules(
                10_000,
                "deny",
                |at| json!({"paths": {"roles": [read], "within": format!("/d{at}")}}),
            ),
            read,
            each(MOST, |at| format!("/srv/f{at}")),
        ),
        Shape::new(
            "deep paths",
            rules(1, "allow", |_| json!({"roles": [read]})),
            read,
            each(500, |at| format!("/{}{at}", "a/".repeat(2_000))),
        ),
        Shape::new(
            "an escalating rule over two roles",
            rules(
                36,
                "escalate",
                |at| json!({"domains": {"roles": [fetch], "allowed": ["*.ok.test"]}, "lists": [{"roles": [email], "allowed": [mail(at)], "matchType": "emails"}]}),
            ),
            fetch,
            each(8_192, url),
        ),
        Shape::new(
            "16,384 values under the role of no rule",
            rules(1, "deny", |_| list(email, "emails", &[mail(1)])),
            "commit-message",
            each(MOST, mail),
        ),
        Shape::new(
            "more values than a role may have",
            rules(1, "deny", |_| list(email, "emails", &[mail(1)])),
            email,
            each(300_000, mail),
        ),
    ];
    if let Some(shape) = shapes
        .iter_mut()
        .find(|shape| shape.name.contains("over two roles"))
    {
        shape.roles = json!({"values": [fetch], "to": [email]});
        shape.arguments = json!({"values": each(8_192, url), "to": each(8_192, mail)});
    }
    let mut paths = Shape::new(
        "gate of 16,384 paths that change",
        rules(
            1,
            "deny",
            |_| json!({"paths": {"roles": [read], "within": "/no"}}),
        ),
        read,
        each(MOST, |at| format!("/srv//f{at}")),
    );
    paths.gates = true;
    shapes.push(paths);
    let mut members = Shape::new(
        "gate of 16,384 members that change",
        rules(
            1,
            "deny",
            |_| json!({"paths": {"roles": [read], "within": "/no"}}),
        ),
        read,
        json!(null),
    );
    members.roles = json!({"/*": [read]});
    members.arguments = (0..MOST)
        .map(|at| (format!("m{at}"), json!(format!("/srv//f{at}"))))
        .collect::<serde_json::Map<_, _>>()
        .into();
    members.gates = true;
    shapes.push(members);
    for (name, text, count) in [
        (
            "a text of 8 MiB that looks like a path",
            format!("/{}x", "./".repeat(4_194_304)),
            1,
        ),
        ("500,000 texts that look like paths", "./a".to_owned(), 500_000),
    ] {
        let mut shape = Shape::new(
            name,
            rules(1, "deny", |_| json!({"server": ["none"]})),
            "none",
            each(count, |at| format!("{text}{at}")),
        );
        shape.protected = (0..20).map(|at| format!("/etc/p{at}")).collect();
        shapes.push(shape.clone());
        shape.name = match count {
            1 => "a text of 8 MiB that looks like a path, and patterns",
            _ => "500,000 texts that look like paths, and patterns",
        };
        shape.protected = (0..20).map(|at| format!("**/p{at}*")).collect();
        shapes.push(shape);
    }
    for (name, pattern) in [
        ("deep paths and a pattern", "**/x"),
        (
            "deep paths and a long pattern",
            "**/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/b",
        ),
        ("deep paths and a pattern with many stars", "**/*a*a*a*a*b/**/*c"),
    ] {
        let mut shape = Shape::new(
            name,
            rules(1, "deny", |_| json!({"server": ["none"]})),
            "read-path",
            each(400, |at| format!("{}/{at}", "/a".repeat(16_000))),
        );
        shape.protected = vec![pattern.to_owned()];
        shapes.push(shape);
    }
    let owner = "github-owner";
    for (name, role, count, text, pattern, constraints) in [
        (
            "16,384 owners and a constraint",
            owner,
            MOST,
            "acme".to_owned(),
            "*",
            1,
        ),
        (
            "16,384 owners and 5 constraints",
            owner,
            MOST,
            "acme".to_owned(),
            "acme*",
            5,
        ),
        (
            "16,384 paths and a constraint",
            read,
            MOST,
            "d".to_owned(),
            "**",
            1,
        ),
        (
            "16,384 texts like paths and a constraint",
            "none",
            MOST,
            "./d".to_owned(),
            "**",
            1,
        ),
        (
            "16,000 long texts and a pattern with many stars",
            "none",
            16_000,
            "a".repeat(900),
            "a*a*a*a*a*a*a*b",
            1,
        ),
        (
            "a text of 32,000 bytes and a pattern with many stars",
            "none",
            1,
            "a".repeat(32_000),
            "a*a*a*a*a*a*a*b",
            1,
        ),
    ] {
        let mut shape = Shape::new(
            name,
            rules(1, "deny", |_| json!({"server": ["none"]})),
            role,
            each(count, |at| format!("{text}{at}")),
        );
        shape.constraints = vec![pattern.to_owned(); constraints];
        shapes.push(shape);
    }
    shapes.push(Shape::new(
        "50,000 rules with conditions on a long argument",
        rules(50_000, "deny", |at| json!({"args": [{"arg": "values", "equals": format!("{at}{}", "x".repeat(8_000_000 / 50_000))}]})),
        "branch-name",
        json!("x".repeat(8_000_000)),
    ));
    shapes.push(Shape::new(
        "50,000 rules with patterns of names, and conditions on a path",
        rules(
            50_000,
            "deny",
            |at| json!({"tool": ["t*"], "args": [{"arg": "values", "in": ["a", format!("{at}")]}]}),
        ),
        "read-path",
        json!("/a/b"),
    ));
    shapes
}
