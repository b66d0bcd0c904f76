//! AuthZEN's Authorization API 1.0: a decision about a call that is made elsewhere.
//!
//! <https://openid.net/specs/authorization-api-1_0.html>. The answer cannot rewrite a call, so that one is allowed only where what is
//! judged is what is given.

mod coaz;
mod question;
pub(crate) mod requests;

use callgate_guard::{Answered, AskedCall, Caller, Unapproved, check_unambiguous, is_of_tools};
use callgate_host::Decision;
use callgate_jsontext::Members;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::metrics::AccessRequest;
use crate::service::{Asker, Service};
use question::question;

/// How many evaluations one request may have.
const EVALUATIONS: usize = 1_000;

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
    // One after the other, and the thread is lent for all of them at once.
    let answers = Service::judging(|| decided_all(service, &defaults, &items, semantic));
    Ok(json!({"evaluations": answers}))
}

fn decided_all(
    service: &Asker<'_>,
    defaults: &Evaluation<'_>,
    items: &[&RawValue],
    semantic: Semantic,
) -> Vec<Value> {
    let mut answers = Vec::with_capacity(items.len());
    for item in items {
        let evaluation = serde_json::from_str::<Evaluation<'_>>(item.get());
        let answer = evaluation
            .map_err(|error| error.to_string())
            .and_then(|evaluation| decided(service, &evaluation.over(defaults)))
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
    let mut context: Option<Map<String, Value>> = match evaluation.context {
        Some(context) => Some(object("context", context)?),
        None => None,
    };
    let approval = approval_in(&mut context)?;
    let said = |name: &str| {
        let said = context.as_ref().and_then(|context| context.get(name)?.as_str());
        said.map(str::to_owned)
    };
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
        let properties = properties.transpose()?.unwrap_or_default();
        let server = match properties.get("server") {
            Some(Value::String(server)) => Some(server.clone()),
            Some(_) => return Err("`resource.properties.server` is not a string".to_owned()),
            None => None,
        };
        #[derive(Deserialize)]
        struct Context<'r> {
            #[serde(borrow)]
            arguments: Option<&'r RawValue>,
        }
        // As they were written: numbers too.
        let context: Option<Context<'_>> = evaluation
            .context
            .and_then(|context| serde_json::from_str(context.get()).ok());
        let Some(arguments) = context.and_then(|context| context.arguments) else {
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
    let own = match action.properties {
        Some(properties) => object("action.properties", properties)?,
        None => Map::new(),
    };
    let mut arguments = Map::new();
    arguments.insert("subject".to_owned(), subject);
    arguments.insert("action".to_owned(), Value::Object(own));
    arguments.insert("resource".to_owned(), entity("resource", resource)?);
    if let Some(context) = context {
        arguments.insert("context".to_owned(), Value::Object(context));
    }
    Ok(Asked::Call(Call {
        server: Some(kind.clone()),
        tool: name.clone(),
        arguments: Value::Object(arguments).to_string(),
        question: question(evaluation, &shown_to_rules(evaluation.context)),
        approval,
        caller,
    }))
}

/// Takes the approval that is shown out of the context: no rule looks at it.
fn approval_in(context: &mut Option<Map<String, Value>>) -> Result<Option<String>, Refused> {
    let Some(approval) = context
        .as_mut()
        .and_then(|context| context.shift_remove("approval"))
    else {
        return Ok(None);
    };
    if context.as_ref().is_some_and(Map::is_empty) {
        *context = None;
    }
    match approval.get("id") {
        Some(Value::String(id)) => Ok(Some(id.clone())),
        Some(_) | None => Err("`context.approval.id` is not a string".to_owned()),
    }
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

/// A subject or a resource as an argument: its type, its id and its properties side by side.
fn entity(what: &str, given: &Entity<'_>) -> Result<Value, Refused> {
    let mut members = match given.properties {
        Some(properties) => object(&format!("{what}.properties"), properties)?,
        None => Map::new(),
    };
    if let Some(taken) = OWN.iter().find(|name| members.contains_key(**name)) {
        return Err(format!(
            "`{what}.properties.{taken}` has the name of a member of its own"
        ));
    }
    for (name, value) in OWN.into_iter().zip([&given.kind, &given.id]) {
        let value = value
            .as_ref()
            .ok_or_else(|| format!("`{what}.{name}` is absent"))?;
        members.insert(name.to_owned(), Value::from(value.as_str()));
    }
    Ok(Value::Object(members))
}

fn object(what: &str, given: &RawValue) -> Result<Map<String, Value>, Refused> {
    serde_json::from_str(given.get()).map_err(|_| format!("`{what}` is not an object"))
}

#[cfg(test)]
mod tests;
