//! The steps of `action.yml`, run by a shell as GitHub runs them, in a repository of its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A step that a shell runs.
#[derive(Default)]
struct Step {
    name: String,
    id: String,
    condition: String,
    environment: Vec<(String, String)>,
    script: String,
}

/// The steps. The file is written in one form, which this reads and nothing else.
fn steps(text: &str) -> Vec<Step> {
    let (_, text) = text.split_once("  steps:\n").expect("steps");
    let mut steps: Vec<Step> = Vec::new();
    let mut part = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("    - name: ") {
            steps.push(Step {
                name: name.to_owned(),
                ..Step::default()
            });
            continue;
        }
        let step = steps.last_mut().expect("a step");
        let member = line.strip_prefix("      ").filter(|rest| !rest.starts_with(' '));
        match (member.and_then(|rest| rest.split_once(':')), part) {
            (Some(("id", value)), _) => value.trim().clone_into(&mut step.id),
            (Some(("if", value)), _) => value.trim().clone_into(&mut step.condition),
            (Some(("shell", value)), _) => assert_eq!(value.trim(), "bash"),
            (Some(("env", "")), _) => part = "env",
            (Some(("run", " |")), _) => part = "run",
            (Some(other), _) => panic!("{other:?}"),
            (None, "env") => {
                let (name, value) = line.trim().split_once(": ").expect("a variable");
                step.environment.push((name.to_owned(), value.to_owned()));
            }
            (None, _) => step.script.push_str(&format!(
                "{}\n",
                line.strip_prefix("        ").unwrap_or_default()
            )),
        }
    }
    assert!(steps.iter().all(|step| !step.script.is_empty()));
    steps
}

/// A repository with a bundle, and what the action is told.
struct Repository {
    folder: TempDir,
    values: BTreeMap<String, String>,
}

const BUNDLE: &str = r#"{
  "sandbox": ".",
  "policy": {"rules": [{"name": "docs", "if": {"paths": {"roles": "read-path", "within": "/srv/docs"}}, "then": "allow", "reason": "r"},
    {"name": "etc", "if": {"paths": {"roles": "read-path", "within": "/etc"}}, "then": "escalate", "reason": "r"}]},
  "annotations": {"servers": {"files": {"tools": [{"toolName": "read", "args": {"path": "read-path"}}]}}},
  "tests": ["scenarios.jsonl"]
}"#;

const SCENARIO: &str = r#"{"call": {"serverName": "files", "toolName": "read", "arguments": {"path": "/srv/docs/a"}}, "expect": "allow"}"#;

impl Repository {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["repository", "temporary", "home", "bin"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let mut repository = Self {
            folder,
            values: BTreeMap::new(),
        };
        for (name, value) in [
            ("inputs.bundle", "callgate.json"),
            ("inputs.command", env!("CARGO_BIN_EXE_callgate")),
            ("inputs.deny-warnings", "false"),
            ("inputs.scenarios", "true"),
            ("inputs.min-coverage", "0"),
            ("inputs.base", "HEAD~1"),
            ("inputs.fail-on", ""),
            ("inputs.comment", "true"),
            ("inputs.token", "token"),
            ("github.event.pull_request.number", "7"),
        ] {
            repository.values.insert(name.to_owned(), value.to_owned());
        }
        // What GitHub's runners have.
        repository.program("gh", GH);
        repository.shell("git init -q .");
        repository.commit("first", BUNDLE);
        repository
    }

    fn program(&self, name: &str, text: &str) {
        let file = self.folder.path().join("bin").join(name);
        fs::write(&file, text).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a program");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).expect(name)
    }

    fn shell(&self, line: &str) {
        let status = Command::new("bash")
            .args(["-ec", line])
            .current_dir(self.folder.path().join("repository"))
            .status();
        assert!(status.expect("a shell").success(), "{line}");
    }

    fn commit(&self, name: &str, bundle: &str) {
        self.write("callgate.json", bundle);
        self.write("scenarios.jsonl", SCENARIO);
        self.shell(&format!(
            "git add . && git -c user.name=n -c user.email=e commit -qm {name}"
        ));
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join("repository").join(name), text).expect("a file");
    }

    fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    fn filled(&self, text: &str) -> String {
        let mut text = text.to_owned();
        while let Some((before, rest)) = text.split_once("${{ ") {
            let (name, after) = rest.split_once(" }}").expect("an expression");
            let value = self
                .values
                .get(name)
                .unwrap_or_else(|| panic!("no value of {name}"));
            text = format!("{before}{value}{after}");
        }
        text
    }

    fn holds(&self, condition: &str) -> bool {
        condition
            .split(" && ")
            .filter(|part| !part.is_empty())
            .all(|part| {
                let (name, is_same, literal) = match (part.split_once(" == "), part.split_once(" != ")) {
                    (Some((name, literal)), _) => (name, true, literal),
                    (_, Some((name, literal))) => (name, false, literal),
                    _ => panic!("{part}"),
                };
                let value = self
                    .values
                    .get(name)
                    .unwrap_or_else(|| panic!("no value of {name}"));
                (format!("'{value}'") == literal) == is_same
            })
    }

    /// Runs the steps until one fails, and returns its name.
    fn run(&mut self) -> Option<String> {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action.yml"))
            .expect("a file");
        let root = self.folder.path().to_owned();
        let path = format!(
            "{}:{}",
            root.join("bin").display(),
            std::env::var("PATH").unwrap_or_default()
        );
        for step in steps(&text) {
            if !self.holds(&step.condition) {
                continue;
            }
            let (script, output) = (root.join("step.sh"), root.join("output"));
            fs::write(&script, &step.script).expect("a script");
            fs::write(&output, "").expect("a file");
            let mut command = Command::new("bash");
            command
                .args(["--noprofile", "--norc", "-eo", "pipefail"])
                .arg(&script);
            command
                .current_dir(root.join("repository"))
                .env("PATH", &path)
                .env("HOME", root.join("home"));
            command
                .env("RUNNER_TEMP", root.join("temporary"))
                .env("GITHUB_OUTPUT", &output);
            command
                .env("GITHUB_STEP_SUMMARY", root.join("summary"))
                .env("GITHUB_REPOSITORY", "o/r");
            for (name, value) in &step.environment {
                command.env(name, self.filled(value));
            }
            let done = command.output().expect("a shell");
            let told = fs::read_to_string(&output).expect("a file");
            for (name, value) in told.lines().filter_map(|line| line.split_once('=')) {
                self.set(&format!("steps.{}.outputs.{name}", step.id), value);
            }
            if !done.status.success() {
                return Some(step.name);
            }
        }
        None
    }

    fn written(&self, name: &str) -> String {
        let folder = &self.values["steps.find.outputs.folder"];
        fs::read_to_string(Path::new(folder).join(name)).expect(name)
    }
}

/// GitHub's command, with comments in one file: the address and the first line of each.
const GH: &str = r##"#!/bin/sh
[ "$GH_TOKEN" = token ] || exit 1
case "$1 $2" in
"pr view")
    case "$*" in *"--json comments --jq .comments[] | select(.viewerDidAuthor)"*) ;; *) exit 1 ;; esac
    [ ! -e ../comments ] || cat ../comments
    ;;
"pr comment")
    [ "$3 $4" = "7 --body-file" ] || exit 1
    echo "https://github.com/o/r/pull/7#issuecomment-$(date +%N) $(head -n 1 "$5")" >> ../comments
    cp "$5" ../commented
    ;;
"api --silent")
    [ "$3 $4" = "--method PATCH" ] || exit 1
    echo "$5" >> ../changed
    cp "${7#body=@}" ../commented
    ;;
*) exit 1 ;;
esac
"##;

/// The part of a text between a heading and the next.
fn part<'t>(text: &'t str, heading: &str) -> &'t str {
    let after = text
        .split_once(&format!("### {heading}"))
        .map_or("", |(_, after)| after);
    after.split("### ").next().unwrap_or_default()
}

#[test]
fn a_change_is_compared_and_what_is_looser_stands_apart() {
    let mut repository = Repository::new();
    let changed = BUNDLE
        .replace("/srv/docs\"", "/srv\"")
        .replace("\"escalate\"", "\"deny\"");
    repository.commit("second", &changed);
    assert_eq!(repository.run(), None);
    let comparison = repository.written("comparison.md");
    let (looser, stricter) = (part(&comparison, "Looser"), part(&comparison, "Stricter"));
    assert!(
        looser.contains("under /srv") && !looser.contains("/etc"),
        "{comparison}"
    );
    assert!(
        stricter.contains("/etc") && !stricter.contains("/srv"),
        "{comparison}"
    );
    // The checkout of the base lies elsewhere, and nothing of that is a change.
    assert!(!comparison.contains("temporary"), "{comparison}");
    assert_eq!(repository.read("summary"), comparison);
    assert_eq!(
        repository.read("commented"),
        format!("<!-- callgate: callgate.json -->\n{comparison}")
    );
    assert!(repository.written("scenarios.xml").contains("<testsuite"));
    let sarif: serde_json::Value = serde_json::from_str(&repository.written("lint.sarif")).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    repository.set("inputs.fail-on", "looser");
    assert_eq!(repository.run().as_deref(), Some("Decide about the comparison"));
    repository.shell("git worktree prune; test \"$(git worktree list | wc -l)\" = 1");
    // A change that is looser nowhere passes.
    repository.commit("third", &changed.replace("\"allow\"", "\"escalate\""));
    repository.write("scenarios.jsonl", &SCENARIO.replace("allow", "escalate"));
    assert_eq!(repository.run(), None);
    assert!(part(&repository.written("comparison.md"), "Looser").is_empty());
}

#[test]
fn its_own_comment_is_changed_and_no_other() {
    let mut repository = Repository::new();
    repository.commit("second", &BUNDLE.replace("/srv/docs\"", "/srv\""));
    assert_eq!(repository.run(), None);
    let first = repository.read("comments");
    let number = first.split(['-', ' ']).nth(1).expect("a number");
    // Another workflow comments with the same token, and one more bundle is compared.
    repository.shell("echo 'https://github.com/o/r/pull/7#issuecomment-3 Deployed' >> ../comments");
    repository.commit("third", BUNDLE);
    assert_eq!(repository.run(), None);
    let changed = format!("repos/o/r/issues/comments/{number}\n");
    assert_eq!(repository.read("changed"), changed);
    assert!(repository.read("commented").contains("### Stricter"));
    repository.shell("mkdir 'be-->low'; cp callgate.json scenarios.jsonl 'be-->low'");
    repository.set("inputs.bundle", "be-->low");
    assert_eq!(repository.run(), None);
    let comments = repository.read("comments");
    assert!(
        comments.ends_with(" <!-- callgate: be___low -->\n") && comments.lines().count() == 3,
        "{comments}"
    );
    assert_eq!(repository.read("changed"), changed);
    // Without GitHub's answer there is the summary.
    repository.program("gh", "#!/bin/sh\nexit 1\n");
    assert_eq!(repository.run(), None);
}

#[test]
fn callgate_is_installed_outside_of_what_is_judged() {
    let mut repository = Repository::new();
    repository.set("inputs.command", "");
    repository.set("inputs.base", "");
    let install = r#"#!/bin/sh
        pwd > ../npm; echo "$@" >> ../npm; mkdir -p node_modules/.bin
        ln -s PROGRAM node_modules/.bin/callgate"#;
    repository.program("npm", &install.replace("PROGRAM", env!("CARGO_BIN_EXE_callgate")));
    assert_eq!(repository.run(), None);
    let folder = repository.values["steps.find.outputs.folder"].clone();
    let npm = fs::read_to_string(Path::new(&folder).join("../npm")).expect("a file");
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("install --silent --no-save --prefix {folder} callgate@{version}");
    assert_eq!(npm.lines().collect::<Vec<_>>(), [folder.as_str(), &expected]);
    let command = format!("{folder}/node_modules/.bin/callgate");
    assert_eq!(repository.values["steps.find.outputs.command"], command);
    // The one in the PATH comes first.
    repository.program(
        "callgate",
        &format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_callgate")),
    );
    assert_eq!(repository.run(), None);
    let own = repository.folder.path().join("bin/callgate");
    assert_eq!(
        Path::new(&repository.values["steps.find.outputs.command"]),
        own.as_path()
    );
    fs::remove_file(own).expect("a file");
    repository.program("npm", "#!/bin/sh\nexit 1\n");
    assert_eq!(repository.run().as_deref(), Some("Find callgate"));
}

#[test]
fn a_change_that_cannot_be_known_fails_where_it_would_count() {
    // What another type of an argument lets pass is not what rules say.
    let bundle = |schema: &str| {
        let schema = format!("\"inputSchema\": {{\"properties\": {{\"path\": {schema}}}}}, \"args\"");
        BUNDLE.replace("\"args\"", &schema)
    };
    let mut repository = Repository::new();
    repository.commit("second", &bundle("{\"type\": \"string\"}"));
    repository.commit("third", &bundle("{}"));
    assert_eq!(repository.run(), None);
    let comparison = repository.written("comparison.md");
    assert!(
        part(&comparison, "Not known").contains("files/read"),
        "{comparison}"
    );
    repository.set("inputs.fail-on", "looser");
    assert_eq!(repository.run().as_deref(), Some("Decide about the comparison"));
}

#[test]
fn what_is_not_right_fails_its_step() {
    let mut repository = Repository::new();
    // The first commit has nothing before it.
    repository.set("inputs.base", "");
    assert_eq!(repository.run(), None);
    repository.set("inputs.deny-warnings", "true");
    repository.write("callgate.json", &BUNDLE.replace("/etc\"", "/srv/docs/a\""));
    assert_eq!(repository.run().as_deref(), Some("Lint"));
    assert!(repository.written("lint.sarif").contains("\"results\":[{"));
    repository.set("inputs.deny-warnings", "false");
    repository.write("scenarios.jsonl", &SCENARIO.replace("allow", "deny"));
    assert_eq!(repository.run().as_deref(), Some("Run the scenarios"));
    repository.set("inputs.scenarios", "false");
    assert_eq!(repository.run(), None);
    repository.write("callgate.json", &BUNDLE.replace("read-path", "raed-path"));
    assert_eq!(repository.run().as_deref(), Some("Validate the documents"));
    repository.set("inputs.command", "/gone/callgate");
    assert_eq!(repository.run().as_deref(), Some("Find callgate"));
}

#[test]
fn a_base_without_the_bundle_or_with_a_broken_one_is_said() {
    let mut repository = Repository::new();
    repository.commit("broken", "{");
    repository.commit("mended", BUNDLE);
    repository.set("inputs.fail-on", "any");
    assert_eq!(repository.run(), None);
    assert!(
        repository
            .written("comparison.md")
            .contains("The documents of the base cannot be read.")
    );
    repository.shell("mkdir below; cp callgate.json scenarios.jsonl below");
    repository.set("inputs.bundle", "below");
    assert_eq!(repository.run(), None);
    assert!(
        repository
            .written("comparison.md")
            .contains("The base has no such bundle.")
    );
    repository.set("inputs.base", "no-such-revision");
    assert_eq!(repository.run().as_deref(), Some("Compare with the base"));
}
