//! Explanations as JSON, with the members and the order that the core gives them.

use callgate_core::{Answer, Exchange, Question, Recording};
use serde_json::{Value, json};

use super::bindings::callgate::gate::types::{self, Effect};
use super::host::step_name;
use crate::gate::Verdict;

pub(super) fn explanation(explanation: types::Explanation) -> Value {
    let checks = explanation
        .checks
        .into_iter()
        .map(|step| json!({"check": step.check, "passed": step.passed, "detail": step.detail}));
    json!({
        "verdict": Verdict::from(explanation.verdict),
        "serverName": explanation.server_name,
        "toolName": explanation.tool_name,
        "values": explanation.values.into_iter().map(value).collect::<Vec<_>>(),
        "checks": checks.collect::<Vec<_>>(),
        "roles": explanation.roles.into_iter().map(judgement).collect::<Vec<_>>(),
        "stepsLeftOut": explanation.steps_left_out,
        "recording": recording(explanation.recording),
    })
}

fn value(step: types::ValueStep) -> Value {
    json!({"argument": step.argument, "role": step.role, "raw": step.raw, "canonical": step.canonical})
}

fn judgement(judgement: types::RoleJudgement) -> Value {
    json!({"role": judgement.role, "walks": judgement.walks.into_iter().map(walk).collect::<Vec<_>>()})
}

fn walk(walk: types::Walk) -> Value {
    let mut shown = serde_json::Map::new();
    if let Some(alone) = walk.alone {
        shown.insert("alone".to_owned(), alone.into());
    }
    shown.insert("rules".to_owned(), walk.rules.into_iter().map(rule).collect());
    shown.insert("decision".to_owned(), walk.effect.map_or("", effect).into());
    shown.insert("rule".to_owned(), walk.rule.into());
    Value::Object(shown)
}

fn rule(step: types::RuleStep) -> Value {
    let mut shown = serde_json::Map::new();
    shown.insert("rule".to_owned(), step.rule.into());
    shown.insert("effect".to_owned(), effect(step.effect).into());
    shown.insert("holds".to_owned(), step.holds.into());
    if let Some(condition) = step.condition {
        shown.insert("condition".to_owned(), condition.into());
    }
    shown.insert("detail".to_owned(), step.detail.into());
    Value::Object(shown)
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Escalate => "escalate",
        Effect::Deny => "deny",
    }
}

fn recording(recording: types::Recording) -> Recording {
    let exchanges = recording.exchanges.into_iter().map(|exchange| Exchange {
        question: question(exchange.question),
        answer: answer(exchange.answer),
    });
    Recording::new(&recording.home_dir, &recording.current_dir, exchanges.collect())
        .ignoring_path_case(recording.ignores_path_case)
}

fn question(question: types::Question) -> Question {
    match question {
        types::Question::Realpath(path) => Question::Realpath { path },
        types::Question::ReadLink(path) => Question::ReadLink { path },
        types::Question::IsDirectory(path) => Question::IsDirectory { path },
        types::Question::GitRemoteUrls(types::RemoteQuestion { repo, remote }) => {
            Question::GitRemoteUrls { repo, remote }
        }
        types::Question::GitDefaultRemoteUrls(repo) => Question::GitDefaultRemoteUrls { repo },
        types::Question::GitUrl(types::UrlQuestion { repo, url }) => Question::GitUrl { repo, url },
        types::Question::RoleValue(types::RoleQuestion { role, step, value }) => Question::RoleValue {
            role,
            step: step_name(step).to_owned(),
            value,
        },
        types::Question::Condition(types::ConditionQuestion { name, subject }) => {
            Question::Condition { name, subject }
        }
    }
}

fn answer(answer: types::Answer) -> Answer {
    match answer {
        types::Answer::Path(path) => Answer::Path(path),
        types::Answer::NoPath(failure) => match failure {
            types::PathFailure::NotFound => Answer::NotFound,
            types::PathFailure::TooManyLinks => Answer::Loop,
            types::PathFailure::Denied => Answer::Denied,
            types::PathFailure::NotUtf8 => Answer::NotUtf8,
            types::PathFailure::Other => Answer::Other,
        },
        types::Answer::Link(target) => Answer::Link(target),
        types::Answer::Directory(answer) => Answer::Directory(answer),
        types::Answer::Urls(urls) => Answer::Urls(urls),
        types::Answer::Text(text) => Answer::Text(text),
        types::Answer::Holds(holds) => Answer::Holds(holds),
        types::Answer::Failed(error) => Answer::Failed(error.message),
    }
}
