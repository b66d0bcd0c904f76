//! Compares the Node host with the real host on the same repositories.

use std::path::Path;
use std::process::{Command, Stdio};

use callgate_engine::host::Host;
use callgate_host::RealHost;
use serde_json::{Value, json};

use super::generate::{self, Generated};
use super::text;

const REPOSITORIES: u64 = 500;

#[test]
fn node_answers_as_the_real_host_does() {
    let package = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../js/dist/node.js"));
    let has_node = Command::new("node")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if !package.exists() || !has_node.is_ok_and(|status| status.success()) {
        assert!(
            std::env::var_os("CI").is_none_or(|value| value != "true"),
            "Node or the built package is missing: run `npm ci` and `npm run build` in `js`"
        );
        eprintln!("skipped: Node or the built package is missing");
        return;
    }
    let folder = super::new_folder();
    let root = folder.path().canonicalize().expect("the folder is there");
    let mut requests = Vec::new();
    let mut expected = Vec::new();
    for number in 0..REPOSITORIES {
        let place = root.join(number.to_string());
        let generated = generate::generate(&place, number);
        let home = place.join("home");
        let ignored = [".env\n", "!.env\n", "*.{env}\n", "/.e*\n!.env/\n"];
        let lines = ignored
            .iter()
            .cycle()
            .nth(usize::try_from(number).expect("it is small"));
        std::fs::write(
            generated.directory.join(".gitignore"),
            lines.expect("there are some"),
        )
        .ok();
        requests.push(json!({
            "home": text(&home),
            "directory": text(&generated.directory),
            "names": generated.names,
            "urls": generated.urls,
        }));
        expected.push(answers(&home, &generated));
    }
    let file = root.join("requests.json");
    std::fs::write(&file, json!(requests).to_string()).expect("the requests can be written");
    let output = Command::new("node")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/git/node.mjs"))
        .args([package, &file])
        .stderr(Stdio::inherit())
        .output()
        .expect("node starts");
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).expect("node prints the answers");
    assert_eq!(answers.len(), expected.len());
    let mut count = 0;
    for ((request, ours), node) in requests.iter().zip(&expected).zip(&answers) {
        assert_eq!(node, ours, "{request}");
        count += ours
            .as_array()
            .map_or(0, |all| all.iter().filter(|one| !one.is_null()).count());
    }
    assert!(count > requests.len(), "most questions have an answer: {count}");
}

/// The real host's answers to the questions that Node is asked; `null` for an error.
fn answers(home: &Path, generated: &Generated) -> Value {
    let host = RealHost::new(text(home), text(home)).expect("the folder is absolute");
    let directory = text(&generated.directory);
    let mut answers = Vec::new();
    for name in &generated.names {
        answers.push(json!(host.git_remote_urls(directory, name).ok()));
        answers.push(json!(host.git_push_refs(directory, name, "main").ok()));
    }
    answers.push(json!(host.git_branch(directory).ok()));
    answers.push(json!(
        host.git_check_ignore(&format!("{directory}/.env")).ok().flatten()
    ));
    answers.push(json!(host.git_default_remote_urls(directory).ok()));
    answers.push(json!(host.git_push_refs(directory, "", "").ok()));
    for url in &generated.urls {
        answers.push(json!(host.git_url(directory, url).ok()));
    }
    json!(answers)
}
