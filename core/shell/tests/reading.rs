//! What is read of texts, and what is not understood, with its place.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failing test stops where it fails"
)]

use callgate_shell::{Surroundings, read};

const SURROUNDINGS: Surroundings<'static> = Surroundings {
    directory: "/repo",
    home: "/home/u",
};

/// The commands of a text: directory, words.
fn commands(text: &str) -> Vec<String> {
    let reading = read(text, &SURROUNDINGS);
    assert!(reading.is_understood(), "{text}: {:?}", reading.not_understood);
    let shown = reading
        .commands
        .iter()
        .filter(|command| !command.words.is_empty())
        .map(|command| {
            let words = command.words.iter().map(|word| word.exact().unwrap_or("…"));
            let directories = command
                .directories
                .as_ref()
                .map_or("?".to_owned(), |all| all.join(","));
            format!("{directories}: {}", words.collect::<Vec<_>>().join(" "))
        });
    shown.collect()
}

#[test]
fn words_are_expanded() {
    assert_eq!(
        commands("show 'a b' \"$HOME/c\" d\\ e"),
        ["/repo: show a b /home/u/c d e"]
    );
    assert_eq!(commands("x=1; show $x \"${x}2\""), ["/repo: show 1 12"]);
    assert_eq!(commands("show {a,b}"), ["/repo: show a b", "/repo: show {a,b}"]);
    assert_eq!(
        commands("show \"$(cat <<'E'\nit's\nE\n)\"")
            .last()
            .map(String::as_str),
        Some("/repo: show it's")
    );
}

#[test]
fn directories_are_followed() {
    assert_eq!(
        commands("cd a && show; show")[1..],
        ["/repo/a: show", "/repo/a,/repo: show"]
    );
    assert_eq!(commands("cd a || exit 1; show")[2..], ["/repo/a: show"]);
    assert_eq!(commands("(cd a); show")[1..], ["/repo: show"]);
    assert_eq!(commands("cd a & show")[1..], ["/repo: show"]);
    assert_eq!(commands("cd \"$x\" && show")[1..], ["?: show"]);
}

#[test]
fn places_are_told() {
    for (text, part, construct) in [
        ("ls; f() { rm x; }", "f", "a parenthesis after a word"),
        ("ls 'a", "'a", "a quote that does not end"),
        (
            "ls ${x:=y}",
            "${x:=y",
            "an expansion that may do more than give a value",
        ),
        ("ls a\u{202e}b", "\u{202e}", "the character U+202E"),
        ("ls a\rb", "\r", "the character U+000D"),
        ("ls a\u{a0}b", "\u{a0}", "the character U+00A0"),
        (
            "ls > $x",
            "$x",
            "a redirection to a file that the text does not name",
        ),
        ("$x y", "$x", "a program that the text does not name"),
        ("ls $((x++))", "$((x+", "arithmetic with more than known numbers"),
        ("ls | select x in a; do y; done", "select", "the keyword `select`"),
        ("cat <<E\nx", "E", "a here-document that does not end"),
    ] {
        let reading = read(text, &SURROUNDINGS);
        let fault = reading.not_understood.first().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(fault.construct.to_string(), construct, "{text}");
        let found = text.get(fault.place.start..fault.place.end).unwrap();
        assert!(found.starts_with(part), "{text}: {found}");
    }
}

#[test]
fn depth_and_size_are_bounded() {
    for (open, close) in [
        ("(", ")"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("if ", "; then b; fi"),
        ("`", "`"),
        ("<(", ")"),
        ("[", "]"),
    ] {
        for count in [15, 17, 5_000] {
            let text = format!("{}ls{}", open.repeat(count), close.repeat(count));
            let reading = read(&format!("a {text}"), &SURROUNDINGS);
            assert!(
                count < 17 || open == "`" || open == "[" || !reading.is_understood(),
                "{open} {count}"
            );
            let _ = read(&text, &SURROUNDINGS);
        }
    }
    // Loops over written words in each other.
    let text = format!(
        "{}show{}",
        "for x in 1 2 3 4 5 6 7 8; do ".repeat(12),
        "; done".repeat(12)
    );
    assert!(!read(&text, &SURROUNDINGS).is_understood());
    for (count, is_read) in [(256, true), (257, false), (300, false)] {
        assert_eq!(
            read(&"show;".repeat(count), &SURROUNDINGS).is_understood(),
            is_read,
            "{count}"
        );
    }
    let text = "show {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}";
    assert!(!read(text, &SURROUNDINGS).is_understood());
}
