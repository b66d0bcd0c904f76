//! The schema of scenarios, and of the worlds that they are judged in.

use serde_json::{Value, json};

use super::shape::{about, document, either, flag, map, name, object, text, texts, word};
use crate::scenario::Expectation;
use callgate_engine::document::keys;

/// A file of scenarios, or a line of one.
pub(super) fn scenarios() -> Value {
    let file = document(keys::SCENARIOS, &["scenarios"], true, |key| match key {
        "scenarios" => about(some(), "The scenarios."),
        "world" => about(world_of(), "The world of scenarios that name no other."),
        "context" => about(context_of(), "The context of scenarios that name no other."),
        "description" => text("What the scenarios are for."),
        "generatedAt" | "constitutionHash" | "inputHash" => {
            text("Of the existing runtime; it decides nothing.")
        }
        _ => json!(false),
    });
    about(
        either([
            one(),
            some(),
            about(file, "Scenarios with what they have in common."),
        ]),
        "Calls, each with what is expected of it: a file, or a line of one.",
    )
}

/// The definitions that the schema refers to.
pub(super) fn definitions() -> Value {
    json!({
        "scenario": either([scenario(), recorded()]),
        "world": world(),
        "context": context(),
        "call": call(),
    })
}

fn one() -> Value {
    json!({"$ref": "#/$defs/scenario"})
}

fn some() -> Value {
    json!({"type": "array", "items": one(), "minItems": 1})
}

fn world_of() -> Value {
    json!({"$ref": "#/$defs/world"})
}

fn context_of() -> Value {
    json!({"$ref": "#/$defs/context"})
}

fn call_of() -> Value {
    json!({"$ref": "#/$defs/call"})
}

fn scenario() -> Value {
    let mut schema = document(keys::SCENARIO, &["call"], true, |key| match key {
        "name" => text("What it is called."),
        "call" => call_of(),
        "world" => world_of(),
        "recording" => about(
            json!({"type": "object"}),
            "The answers that a host gave once, as `callgate explain` writes them.",
        ),
        "context" => context_of(),
        "expect" => word::<Expectation>("The decision; `not-allow` is met by `escalate` and `deny`."),
        "rule" => name("The rule that decides."),
        _ => json!(false),
    });
    if let Some(members) = schema.as_object_mut() {
        members.insert(
            "anyOf".to_owned(),
            json!([{"required": ["expect"]}, {"required": ["rule"]}]),
        );
        members.insert("not".to_owned(), json!({"required": ["world", "recording"]}));
    }
    about(schema, "A call, and what is expected of it.")
}

fn recorded() -> Value {
    let verdict = object(keys::RECORDED_VERDICT, &["decision"], true, |key| match key {
        "decision" => word::<Expectation>("The decision."),
        "rule" => name("The rule."),
        "reason" => text("It is not compared."),
        "escalatedRoles" => texts("They are not compared."),
        _ => json!(false),
    });
    let mut schema = document(keys::RECORDED_SCENARIO, &["request"], true, |key| match key {
        "description" => text("What it is called."),
        "request" => call_of(),
        "expectedDecision" => word::<Expectation>("The decision."),
        "verdict" => about(verdict.clone(), "A verdict that was recorded."),
        "reasoning" | "source" => text("For people."),
        _ => json!(false),
    });
    if let Some(members) = schema.as_object_mut() {
        members.insert(
            "oneOf".to_owned(),
            json!([{"required": ["expectedDecision"]}, {"required": ["verdict"]}]),
        );
    }
    about(
        schema,
        "A test of the existing runtime, or a verdict that it recorded.",
    )
}

fn call() -> Value {
    let call = object(
        keys::SCENARIO_CALL,
        &["serverName", "toolName"],
        true,
        |key| match key {
            "serverName" => text("The server that offers the tool."),
            "toolName" => text("The tool's name."),
            "arguments" => json!({"description": "The arguments. Whatever is not an object is denied."}),
            _ => json!(false),
        },
    );
    either([call, text("The JSON text of a call.")])
}

fn context() -> Value {
    let schema = object(keys::CONTEXT, &[], true, |key| match key {
        "mode" => json!({"description": "The mode of the world."}),
        "command" => json!({"description": "What the tool is to do."}),
        "subject" => json!({"description": "The person or the service that asks."}),
        "agent" => json!({"description": "The program that acts for one."}),
        "session" => json!({"description": "The conversation of that program."}),
        "counts" => json!({"description": "How many calls each counter of the policy has counted."}),
        _ => json!({}),
    });
    about(schema, "What the host says of the call.")
}

/// A machine that does not exist.
fn world() -> Value {
    let links = || map(text("The target."), "Symbolic links.");
    let fs = object(
        &[
            "dirs",
            "files",
            "links",
            "errors",
            "caseInsensitive",
            "normalizationInsensitive",
            "ignorables",
        ],
        &[],
        true,
        |key| match key {
            "dirs" => texts("Directories."),
            "files" => texts("Files."),
            "links" => links(),
            "errors" => map(
                text("The code, such as `EACCES`."),
                "Directories below which every look fails with this error.",
            ),
            "caseInsensitive" => flag("Names that differ only in case are the same."),
            "normalizationInsensitive" => flag("Names that differ only in Unicode composition are the same."),
            "ignorables" => flag("Invisible characters in names do not count."),
            _ => json!(false),
        },
    );
    let schema = object(
        &["platform", "home", "cwd", "fs", "git", "conditions"],
        &["home", "cwd"],
        true,
        |key| match key {
            "platform" => json!({"enum": ["posix", "win32"]}),
            "home" => text("The home directory."),
            "cwd" => text("The current directory. In a scenario the bundle lies there."),
            "fs" => about(
                fs.clone(),
                "What exists; the directories above too, and nothing else.",
            ),
            "git" => map(repository(), "Repositories by their top directories."),
            "conditions" => map(
                either([
                    json!({"type": "boolean"}),
                    text("The message with which it fails."),
                    about(json!({"type": "object"}), "What the subject must have."),
                ]),
                "The predicates that `host:NAME` asks.",
            ),
            _ => json!(false),
        },
    );
    about(
        schema,
        "A machine with files, links and repositories that is not this one.",
    )
}

fn repository() -> Value {
    let nullable = |description: &str| about(json!({"type": ["string", "null"]}), description);
    let urls = |description: &str| {
        let url = either([
            json!({"type": "string"}),
            json!({"type": "array", "items": {"type": "string"}}),
        ]);
        map(url, description)
    };
    object(
        &[
            "branch",
            "branchRemotes",
            "branchRemote",
            "branchPushRemotes",
            "pushDefault",
            "pushMode",
            "branchMerges",
            "pushRefspecs",
            "mirrors",
            "remotes",
            "pushUrls",
            "insteadOf",
            "checkIgnore",
            "gitdir",
            "worktree",
        ],
        &[],
        true,
        |key| match key {
            "branch" => nullable("The branch that is checked out."),
            "branchRemotes" | "branchRemote" => map(text("A remote."), "`branch.NAME.remote`."),
            "branchPushRemotes" => map(text("A remote."), "`branch.NAME.pushRemote`."),
            "pushDefault" => nullable("`remote.pushDefault`."),
            "pushMode" => about(
                json!({"enum": ["simple", "current", "upstream", "matching", "nothing"]}),
                "`push.default`.",
            ),
            "branchMerges" => map(text("A ref of the remote."), "`branch.NAME.merge`."),
            "pushRefspecs" => urls("`remote.NAME.push`."),
            "mirrors" => about(
                json!({"type": "array", "items": {"type": "string"}}),
                "The remotes with `remote.NAME.mirror`.",
            ),
            "remotes" => urls("`remote.NAME.url`."),
            "pushUrls" => urls("`remote.NAME.pushurl`."),
            "insteadOf" => map(text("What the key stands for."), "`url.KEY.insteadOf`."),
            "checkIgnore" => map(
                json!({"enum": ["ignored", "included", "unmentioned", null]}),
                "What git's ignore files say, by absolute path; `null` where it cannot be told.",
            ),
            "gitdir" => nullable("The repository's own directory."),
            "worktree" => nullable("The work tree."),
            _ => json!(false),
        },
    )
}
