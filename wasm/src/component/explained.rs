//! Explanations, field by field.

use callgate_core::{self as core, Answer, Question};

use super::encode::count;
use super::host::role_step;
use super::types::{self, Effect};

impl From<core::Explanation> for types::Explanation {
    fn from(explanation: core::Explanation) -> Self {
        Self {
            verdict: explanation.verdict.into(),
            server_name: explanation.server_name,
            tool_name: explanation.tool_name,
            values: explanation.values.into_iter().map(Into::into).collect(),
            checks: explanation.checks.into_iter().map(Into::into).collect(),
            roles: explanation.roles.into_iter().map(Into::into).collect(),
            steps_left_out: count(explanation.steps_left_out),
            recording: recording(&explanation.recording),
        }
    }
}

fn effect(name: &str) -> Option<Effect> {
    match name {
        "allow" => Some(Effect::Allow),
        "escalate" => Some(Effect::Escalate),
        "deny" => Some(Effect::Deny),
        _ => None,
    }
}

impl From<core::ValueStep> for types::ValueStep {
    fn from(step: core::ValueStep) -> Self {
        Self {
            argument: step.argument,
            role: step.role,
            raw: step.raw,
            canonical: step.canonical,
        }
    }
}

impl From<core::CheckStep> for types::CheckStep {
    fn from(step: core::CheckStep) -> Self {
        Self {
            check: step.check.to_owned(),
            passed: step.passed,
            detail: step.detail,
        }
    }
}

impl From<core::RoleStep> for types::RoleJudgement {
    fn from(step: core::RoleStep) -> Self {
        Self {
            role: step.role,
            walks: step.walks.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<core::WalkStep> for types::Walk {
    fn from(step: core::WalkStep) -> Self {
        Self {
            alone: step.alone,
            rules: step.rules.into_iter().map(Into::into).collect(),
            effect: effect(step.decision),
            rule: step.rule,
        }
    }
}

impl From<core::RuleStep> for types::RuleStep {
    fn from(step: core::RuleStep) -> Self {
        Self {
            rule: step.rule,
            effect: effect(step.effect).unwrap_or(Effect::Deny),
            holds: step.holds,
            condition: step.condition.map(str::to_owned),
            detail: step.detail,
        }
    }
}

fn recording(recording: &core::Recording) -> types::Recording {
    let exchanges = recording.exchanges().iter();
    types::Recording {
        home_dir: core::Host::home_dir(recording).to_owned(),
        current_dir: core::Host::current_dir(recording).to_owned(),
        ignores_path_case: core::Host::ignores_path_case(recording),
        exchanges: exchanges
            .map(|exchange| types::Exchange {
                question: question(&exchange.question),
                answer: answer(&exchange.answer),
            })
            .collect(),
    }
}

fn question(question: &Question) -> types::Question {
    match question.clone() {
        Question::Realpath { path } => types::Question::Realpath(path),
        Question::ReadLink { path } => types::Question::ReadLink(path),
        Question::IsDirectory { path } => types::Question::IsDirectory(path),
        Question::GitRemoteUrls { repo, remote } => {
            types::Question::GitRemoteUrls(types::RemoteQuestion { repo, remote })
        }
        Question::GitDefaultRemoteUrls { repo } => types::Question::GitDefaultRemoteUrls(repo),
        Question::GitUrl { repo, url } => types::Question::GitUrl(types::UrlQuestion { repo, url }),
        Question::RoleValue { role, step, value } => types::Question::RoleValue(types::RoleQuestion {
            role,
            step: role_step(&step),
            value,
        }),
        Question::Condition { name, subject } => {
            types::Question::Condition(types::ConditionQuestion { name, subject })
        }
    }
}

fn answer(answer: &Answer) -> types::Answer {
    match answer.clone() {
        Answer::Path(path) => types::Answer::Path(path),
        Answer::NotFound => types::Answer::NoPath(types::PathFailure::NotFound),
        Answer::Loop => types::Answer::NoPath(types::PathFailure::TooManyLinks),
        Answer::Denied => types::Answer::NoPath(types::PathFailure::Denied),
        Answer::NotUtf8 => types::Answer::NoPath(types::PathFailure::NotUtf8),
        Answer::Other => types::Answer::NoPath(types::PathFailure::Other),
        Answer::Link(target) => types::Answer::Link(target),
        Answer::Directory(answer) => types::Answer::Directory(answer),
        Answer::Urls(urls) => types::Answer::Urls(urls),
        Answer::Text(text) => types::Answer::Text(text),
        Answer::Holds(holds) => types::Answer::Holds(holds),
        Answer::Failed(message) => types::Answer::Failed(types::HostError { message }),
    }
}
