//! AuthZEN's Authorization API 1.0: a decision about a call that is made elsewhere.
//!
//! <https://openid.net/specs/authorization-api-1_0.html>. The answer cannot rewrite a call, so that one is allowed only where what is
//! judged is what is given.

mod coaz;
mod question;
pub(crate) mod requests;

use callgate_guard::{Answered, AskedCall, Caller, Unapproved, check_unambiguous, is_of_tools};
use callgate_host::Decision;
use callgate_jsontext::{Members, push_string};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::metrics::AccessRequest;
use crate::service::{Asker, Service};
use question::question;

/// How many evaluations one request may have.
const EVALUATIONS: usize = 1_000;

/// How many bytes they may have together, each with what the request says for all: as many as the longest message.
const TOGETHER: usize = 20 << 20;

/// The action that is a call of a tool of MCP.
const CALL: &str = "tools/call";

/// Members that say what a resource or a subject is, which no property may be called.
const OWN: [&str; 2] = ["type", "id"];

/// Why a request has no answer: what is said with status 400.
type Refused = String;

#[derive(Clone, Default, Deserialize)]
struct Evaluation<'r> {
    #[serde(borrow)]
    subject: Option<Entity<'r>>,
    #[serde(borrow)]
    action: Option<Action<'r>>,
    #[serde(borrow)]
    resource: Option<Entity<'r>>,
    #[serde(borrow)]
    context: Option<&'r RawValue>,
}

#[derive(Clone, Deserialize)]
struct Entity<'r> {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    #[serde(borrow)]
    properties: Option<&'r RawValue>,
}

#[derive(Clone, Deserialize)]
struct Action<'r> {
    name: Option<String>,
    #[serde(borrow)]
    properties: Option<&'r RawValue>,
}

#[derive(Deserialize)]
struct Several<'r> {
    #[serde(borrow, default)]
    evaluations: Option<Vec<&'r RawValue>>,
    #[serde(default)]
    options: Option<Options>,
}

#[derive(Deserialize)]
struct Options {
    evaluations_semantic: Option<String>,
}

/// When the rest of several evaluations is left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Semantic {
    ExecuteAll,
    DenyOnFirstDeny,
    PermitOnFirstPermit,
}

/// Answers `/access/v1/evaluation`.
///
/// # Errors
/// What is wrong with the request.
pub(crate) fn evaluation(service: &Asker<'_>, body: &str) -> Result<Value, Refused> {
    decided(service, &read(body)?)
}

/// Answers `/access/v1/evaluations`.
///
/// # Errors
/// What is wrong with the request as a whole. A fault of one evaluation is a denial of it.
pub(crate) fn evaluations(service: &Asker<'_>, body: &str) -> Result<Value, Refused> {
    let defaults = read(body)?;
    let several: Several<'_> = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let items = several.evaluations.unwrap_or_default();
    if items.is_empty() {
        return decided(service, &defaults);
    }
    if items.len() > EVALUATIONS {
        return Err(format!(
            "{} evaluations, expected at most {EVALUATIONS}",
            items.len()
        ));
    }
    let semantic = several.options.and_then(|options| options.evaluations_semantic);
    let semantic = match semantic.as_deref() {
        None | Some("execute_all") => Semantic::ExecuteAll,
        Some("deny_on_first_deny") => Semantic::DenyOnFirstDeny,
        Some("permit_on_first_permit") => Semantic::PermitOnFirstPermit,
        Some(_) => return Err("`options.evaluations_semantic` is not known".to_owned()),
    };
    let mut evaluations = Vec::with_capacity(items.len());
    let mut together = 0;
    for item in items {
        let own: Result<Evaluation<'_>, _> = serde_json::from_str(item.get());
        let evaluation = own
            .map(|own| own.over(&defaults))
            .map_err(|error| error.to_string());
        together += evaluation.as_ref().map_or(0, Evaluation::len);
        if together > TOGETHER {
            return Err(format!(
                "the evaluations, each with what the request says for all, have over {TOGETHER} bytes, expected fewer or shorter ones"
            ));
        }
        evaluations.push(evaluation);
    }
    // One after the other, and the thread is lent for all of them at once.
    let answers = Service::judging(|| decided_all(service, evaluations, semantic));
    Ok(json!({"evaluations": answers}))
}

fn decided_all(
    service: &Asker<'_>,
    evaluations: Vec<Result<Evaluation<'_>, Refused>>,
    semantic: Semantic,
) -> Vec<Value> {
    let mut answers = Vec::with_capacity(evaluations.len());
    for evaluation in evaluations {
        let answer = evaluation
            .and_then(|evaluation| decided(service, &evaluation))
            .unwrap_or_else(
                |error| json!({"decision": false, "context": {"error": {"status": 400, "message": error}}}),
            );
        let is_permitted = answer.get("decision") == Some(&Value::Bool(true));
        answers.push(answer);
        if (semantic == Semantic::DenyOnFirstDeny && !is_permitted)
            || (semantic == Semantic::PermitOnFirstPermit && is_permitted)
        {
            break;
        }
    }
    answers
}

/// What `/.well-known/authzen-configuration` says, of a service at an address.
pub(crate) fn configuration(address: &str, asks: bool) -> Value {
    let mut said = json!({
        "policy_decision_point": address,
        "access_evaluation_endpoint": format!("{address}/access/v1/evaluation"),
        "access_evaluations_endpoint": format!("{address}/access/v1/evaluations"),
    });
    if asks && let Some(said) = said.as_object_mut() {
        let endpoint = format!("{address}{}", requests::PATH);
        said.insert("access_request_endpoint".to_owned(), endpoint.into());
        said.insert("capabilities".to_owned(), json!([requests::CAPABILITY]));
    }
    said
}

fn read(body: &str) -> Result<Evaluation<'_>, Refused> {
    check_unambiguous(body).map_err(|error| error.to_string())?;
    serde_json::from_str(body).map_err(|error| error.to_string())
}

impl<'r> Evaluation<'r> {
    /// With what a request says for all of its evaluations. What this one has takes its place as a whole, but for a `type` or `id`
    /// that it leaves out.
    fn over(self, defaults: &Self) -> Self {
        let entity = |own: Option<Entity<'r>>, other: &Option<Entity<'r>>| match (own, other) {
            (Some(own), Some(other)) => Some(Entity {
                kind: own.kind.or_else(|| other.kind.clone()),
                id: own.id.or_else(|| other.id.clone()),
                properties: own.properties,
            }),
            (own, other) => own.or_else(|| other.clone()),
        };
        Self {
            subject: entity(self.subject, &defaults.subject),
            action: self.action.or_else(|| defaults.action.clone()),
            resource: entity(self.resource, &defaults.resource),
            context: self.context.or(defaults.context),
        }
    }

    /// Bytes of its texts.
    fn len(&self) -> usize {
        let text = |given: &Option<String>| given.as_ref().map_or(0, String::len);
        let raw = |given: Option<&RawValue>| given.map_or(0, |given| given.get().len());
        let entity = |given: &Option<Entity<'_>>| {
            given.as_ref().map_or(0, |given| {
                text(&given.kind) + text(&given.id) + raw(given.properties)
            })
        };
        let action = self.action.as_ref();
        let action = action.map_or(0, |action| text(&action.name) + raw(action.properties));
        entity(&self.subject) + action + entity(&self.resource) + raw(self.context)
    }
}

/// What an evaluation is about.
enum Asked {
    Call(Call),
    /// A call of a tool, of whose arguments nothing is known.
    CallWithoutArguments,
    /// A message of MCP that is no call.
    Message {
        may_pass: bool,
    },
}

struct Call {
    server: Option<String>,
    tool: String,
    /// JSON text.
    arguments: String,
    /// All that the evaluation names, in one form.
    question: String,
    /// The name of the approval that is shown.
    approval: Option<String>,
    caller: Caller,
}

impl Call {
    fn asked(&self) -> AskedCall<'_> {
        AskedCall {
            tool: &self.tool,
            arguments: &self.arguments,
            question: &self.question,
            caller: &self.caller,
        }
    }
}

fn decided(service: &Asker<'_>, evaluation: &Evaluation<'_>) -> Result<Value, Refused> {
    let denied = |reason: &str| {
        let context = json!({"effect": "deny", "reason_user": {"en": reason}});
        json!({"decision": false, "context": context})
    };
    let call = match asked_of(service.service, evaluation)? {
        Asked::Call(call) => call,
        Asked::CallWithoutArguments => return Ok(denied(coaz::NO_ARGUMENTS)),
        Asked::Message { may_pass: true } => {
            return Ok(json!({"decision": true, "context": {"effect": "allow"}}));
        }
        Asked::Message { may_pass: false } => return Ok(denied(coaz::ONLY_TOOLS)),
    };
    let answered = service
        .guard(call.server.as_deref())
        .and_then(|guard| Service::judging(|| guard.decide_asked(call.asked(), call.approval.as_deref())));
    Ok(match answered {
        Ok(answered) => {
            let is_allowed = answered.decided.verdict.decision == Decision::Allow;
            let outcome = answered.approval.as_ref().map(|shown| match shown {
                Ok(_) if is_allowed => AccessRequest::Approved,
                Ok(_) | Err(_) => AccessRequest::Unapproved,
            });
            if let Some(outcome) = outcome {
                service.service.metrics.access_request(outcome);
            }
            said(answered, call.approval.as_deref())
        }
        Err(reason) => denied(&reason),
    })
}

fn said(answered: Answered, shown: Option<&str>) -> Value {
    let Answered {
        decided,
        denial,
        approval,
    } = answered;
    let mut context = Map::new();
    let mut add = |name: &str, value: Value| context.insert(name.to_owned(), value);
    add("evaluation_id", decided.id.into());
    add("id", decided.verdict.rule.into());
    add("effect", decided.verdict.decision.as_str().into());
    if let Some((token, until)) = denial {
        add("reason", "approval_required".into());
        let display = json!({
            "title": "A person has to approve the call",
            "description": decided.reason_for_agent,
        });
        add(
            "access_request",
            json!({"expires_at": until.to_string(), "binding_token": token, "display": display}),
        );
    }
    match approval {
        Some(Ok(until)) => {
            add(
                "approval",
                json!({"id": shown, "approved_until": until.to_string()}),
            );
        }
        Some(Err(why)) => {
            add("reason", reason(why).into());
        }
        None => {}
    }
    add("reason_user", json!({"en": decided.reason_for_agent}));
    json!({"decision": decided.verdict.decision == Decision::Allow, "context": context})
}

/// Why an approval does not hold, in the words of the profile for access requests.
fn reason(why: Unapproved) -> &'static str {
    match why {
        Unapproved::Pending => "grant_pending",
        Unapproved::Expired => "approval_expired",
        Unapproved::OutOfScope => "out_of_scope",
        Unapproved::Denied => "policy_denied",
        Unapproved::Unknown => "approval_unverifiable",
    }
}

fn asked_of(service: &Service, evaluation: &Evaluation<'_>) -> Result<Asked, Refused> {
    let absent = |what: &str| format!("`{what}` is absent");
    let subject = evaluation.subject.as_ref().ok_or_else(|| absent("subject"))?;
    let action = evaluation.action.as_ref().ok_or_else(|| absent("action"))?;
    let resource = evaluation.resource.as_ref().ok_or_else(|| absent("resource"))?;
    let name = action.name.as_ref().ok_or_else(|| absent("action.name"))?;
    let who = subject.id.clone();
    let subject = entity("subject", subject)?;
    let (kind, id) = match (&resource.kind, &resource.id) {
        (Some(kind), Some(id)) => (kind, id),
        (None, _) => return Err(absent("resource.type")),
        (_, None) => return Err(absent("resource.id")),
    };
    let context = evaluation.context;
    let mut context = context.map(|given| object("context", given)).transpose()?;
    let approval = approval_in(&mut context)?;
    let said = |name: &str| context.as_ref().and_then(|context| text(context.get(name)?));
    let caller = match service.callers_from_evaluations() {
        true => Caller {
            subject: who,
            agent: said("agent"),
            session: said("session"),
        },
        false => Caller::default(),
    };
    if name == CALL {
        if kind != "tool" {
            return Err(format!(
                "`resource.type` is `{kind}`, expected `tool` for the action `{CALL}`"
            ));
        }
        let properties = resource.properties;
        let properties = properties.map(|given| object("resource.properties", given));
        let server = match properties.transpose()?.and_then(|given| given.get("server")) {
            Some(server) => {
                Some(text(server).ok_or_else(|| "`resource.properties.server` is not a string".to_owned())?)
            }
            None => None,
        };
        let arguments = context.and_then(|context| context.get("arguments"));
        let Some(arguments) = arguments.filter(|given| given.get() != "null") else {
            return Ok(Asked::CallWithoutArguments);
        };
        return Ok(Asked::Call(Call {
            server,
            tool: id.clone(),
            question: question(evaluation, arguments.get()),
            arguments: arguments.get().to_owned(),
            approval,
            caller,
        }));
    }
    if coaz::is_message(name, kind) {
        let may_pass = !service.only_tools() || is_of_tools(name);
        // Documents may have rules about it.
        if !may_pass || !service.is_annotated(kind, name) {
            return Ok(Asked::Message { may_pass });
        }
    }
    let mut own = String::new();
    match action.properties {
        Some(properties) => object("action.properties", properties)?,
        None => Members(Vec::new()),
    }
    .write(&mut own);
    let mut rest = String::new();
    if let Some(context) = context {
        rest.push_str(",\"context\":");
        context.write(&mut rest);
    }
    let resource = entity("resource", resource)?;
    Ok(Asked::Call(Call {
        server: Some(kind.clone()),
        tool: name.clone(),
        // As they were written: numbers too.
        arguments: format!(r#"{{"subject":{subject},"action":{own},"resource":{resource}{rest}}}"#),
        question: question(evaluation, &shown_to_rules(evaluation.context)),
        approval,
        caller,
    }))
}

/// Takes the approval that is shown out of the context: no rule looks at it.
fn approval_in(context: &mut Option<Members<'_>>) -> Result<Option<String>, Refused> {
    let Some(approval) = context.as_ref().and_then(|context| context.get("approval")) else {
        return Ok(None);
    };
    if let Some(Members(members)) = context {
        members.retain(|(name, _)| name != "approval");
    }
    if context
        .as_ref()
        .is_some_and(|Members(members)| members.is_empty())
    {
        *context = None;
    }
    let id = Members::read(approval.get())
        .ok()
        .and_then(|approval| text(approval.get("id")?));
    id.map(Some)
        .ok_or_else(|| "`context.approval.id` is not a string".to_owned())
}

/// The context as it was written, without the approval: an empty one if there is none.
fn shown_to_rules(context: Option<&RawValue>) -> String {
    let mut text = String::new();
    let members = context.and_then(|context| Members::read(context.get()).ok());
    let mut members = members.unwrap_or(Members(Vec::new()));
    members.0.retain(|(name, _)| name != "approval");
    members.write(&mut text);
    text
}

/// A subject or a resource as an argument, JSON text: its type, its id and its properties side by side.
fn entity(what: &str, given: &Entity<'_>) -> Result<String, Refused> {
    let members = match given.properties {
        Some(properties) => object(&format!("{what}.properties"), properties)?,
        None => Members(Vec::new()),
    };
    if let Some(taken) = OWN.iter().find(|name| members.get(name).is_some()) {
        return Err(format!(
            "`{what}.properties.{taken}` has the name of a member of its own"
        ));
    }
    let mut written = String::new();
    members.write(&mut written);
    written.pop();
    for (name, value) in OWN.into_iter().zip([&given.kind, &given.id]) {
        let value = value
            .as_ref()
            .ok_or_else(|| format!("`{what}.{name}` is absent"))?;
        if written.len() > 1 {
            written.push(',');
        }
        push_string(&mut written, name);
        written.push(':');
        push_string(&mut written, value);
    }
    written.push('}');
    Ok(written)
}

fn object<'r>(what: &str, given: &'r RawValue) -> Result<Members<'r>, Refused> {
    Members::read(given.get()).map_err(|_| format!("`{what}` is not an object"))
}

/// A value that is a string.
fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
mod tests;
