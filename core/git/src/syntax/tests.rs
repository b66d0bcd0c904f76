//! Parses files and compares the result with `git config --list`.

use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

/// The keys and values that git reads from `content`; `None` if it refuses. A line end separates a key from its value.
fn git_reads(content: &[u8]) -> Option<Vec<Vec<u8>>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    std::fs::write(&file, content).unwrap();
    let output = Command::new("git")
        .args(["config", "--list", "--null", "--file"])
        .arg(&file)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .output()
        .unwrap();
    let text = output.stdout.strip_suffix(b"\0").unwrap_or(&output.stdout);
    let entries = text.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    output
        .status
        .success()
        .then(|| entries.map(<[u8]>::to_vec).collect())
}

fn we_read(content: &[u8]) -> Option<Vec<Vec<u8>>> {
    let entries = parse(b"/config", content, &Steps::default()).ok()?;
    let text = |entry: Entry| match entry.value {
        Some(value) => [entry.key, b"\n".to_vec(), value].concat(),
        None => entry.key,
    };
    Some(entries.into_iter().map(text).collect())
}

/// Pieces of files, chosen so that most files are nearly well-formed.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "[remote \"o\"]",
        "[remote.O]",
        "[Remote \"A.b\"]",
        "[url \"x\\\\y\\\"z\\q\"]",
        "[URL.A.b \"C\"]",
        "[remote]",
        "[remote \"o\"",
        "[\"o\"]",
        "[ remote]",
        "[remote\t \"o\"]",
        "[remote\"o\"]",
        "[remote \"\"]",
        "url",
        "Url",
        "pushUrl",
        "url-x",
        "url2",
        "2url",
        "url_",
        "=",
        " = ",
        "=\t",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "\x0b",
        "\x0c",
        "a",
        "b c",
        "  ",
        "\"",
        "\"q  r\"",
        "\"\"",
        "\\",
        "\\\n",
        "\\\r\n",
        "\\n",
        "\\t",
        "\\b",
        "\\\"",
        "\\\\",
        "\\x",
        "\\ ",
        "#",
        ";",
        "# c\n",
        "; c\\\n",
        "é",
        "\u{feff}",
        "[",
        "]",
        "url = v\n",
        "\turl = \"a b\" c \n",
        "url\n",
        "insteadOf = gh:\n",
        "\u{a0}",
        "url=a\\\n  b\n",
        "url = \\\n \\\n x \\\n",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        // The same cases in every run.
        rng_seed: RngSeed::Fixed(20_261_123),
        ..ProptestConfig::default()
    })]

    /// A file that git accepts is read as git reads it, or refused; never read differently.
    #[test]
    fn files_are_read_as_git_reads_them(
        lead in prop::sample::select(vec!["[remote \"o\"]\n", "[url \"b\"]", ""]),
        pieces in prop::collection::vec(piece(), 0..14),
    ) {
        let content = [lead, &pieces.concat()].concat();
        if let (Some(git), Some(ours)) = (git_reads(content.as_bytes()), we_read(content.as_bytes())) {
            // A key before any section has no dot, though its value may have one.
            let relevant = |entry: &Vec<u8>| {
                let mut parts = entry.split(|byte| *byte == b'\n');
                parts.next().is_some_and(|key| key.contains(&b'.'))
            };
            prop_assert_eq!(
                git.into_iter().filter(relevant).collect::<Vec<_>>(),
                ours,
                "{:?}", content
            );
        }
    }
}
