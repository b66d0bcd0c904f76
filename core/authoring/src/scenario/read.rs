//! Reading one scenario.

use super::{Expectation, Scenario, ScenarioPart, ScenarioPlace};
use callgate_engine::diagnostic::{Code, Position, Severity};
use callgate_engine::document::{Json, Node, keys};

/// The parts that apply to every scenario of a file that does not say otherwise.
#[derive(Default)]
pub(super) struct Usual {
    pub(super) world: Option<ScenarioPart>,
    pub(super) context: Option<ScenarioPart>,
}

/// A scenario, or a test or a verdict of the existing runtime.
pub(super) fn read_scenario(node: &Node<'_, '_>) -> Option<Scenario> {
    let object = node.object()?;
    let has = |key: &str| object.optional(key).is_some();
    if has("request") {
        return recorded(node);
    }
    if has("serverName") && !has("call") {
        node.fault(Severity::Error, Code::MissingField, || {
            let help = "`{\"call\": …, \"expect\": …}` is a scenario; `callgate eval` judges calls";
            (
                "found a call, expected a scenario".to_owned(),
                Some(help.to_owned()),
            )
        });
        return None;
    }
    own(node)
}

fn own(node: &Node<'_, '_>) -> Option<Scenario> {
    let object = node.object_of(keys::SCENARIO, Severity::Error)?;
    let call = object.require("call", "a call `{serverName, toolName, arguments}`", read_call);
    let name = object.read("name", |node| node.string().map(str::to_owned));
    let context = object.read("context", read_context);
    let world = object.read("world", read_world);
    let recording = object.read("recording", |node| read_object(node, "recording"));
    let expect = object.read("expect", |node| node.word());
    let rule = object.read("rule", |node| node.name().map(str::to_owned));
    if object.optional("world").is_some() && object.optional("recording").is_some() {
        let message = format_args!("found `world` and `recording`, expected one of them");
        node.error(Code::InvalidValue, message);
    }
    if object.optional("expect").is_none() && object.optional("rule").is_none() {
        let message = format_args!("nothing is said of the verdict, expected `expect`, `rule` or both");
        node.error(Code::MissingField, message);
    }
    let world = world.map(ScenarioPlace::World);
    Some(Scenario {
        name,
        call: call?,
        context,
        place: world.or(recording.map(ScenarioPlace::Recording)),
        expect,
        rule,
    })
}

/// `{description, request, expectedDecision}`, or `{request, verdict}`.
fn recorded(node: &Node<'_, '_>) -> Option<Scenario> {
    let object = node.object_of(keys::RECORDED_SCENARIO, Severity::Error)?;
    let call = object.require("request", "a call `{serverName, toolName, arguments}`", read_call);
    let name = object.read("description", |node| node.string().map(str::to_owned));
    for key in ["reasoning", "source"] {
        object.optional_string(key);
    }
    let expected = object.read("expectedDecision", |node| node.word());
    let verdict = object.read("verdict", |node| {
        let verdict = node.object_of(keys::RECORDED_VERDICT, Severity::Error)?;
        verdict.optional_string("reason");
        verdict.read("escalatedRoles", |node| node.strings());
        let decision = verdict.require("decision", "a decision", |node| node.word::<Expectation>());
        let rule = verdict.read_if_present("rule", |node| node.name().map(str::to_owned))?;
        Some((decision?, rule))
    });
    let has = |key: &str| object.optional(key).is_some();
    if has("expectedDecision") == has("verdict") {
        let message =
            format_args!("found a `request`, expected either `expectedDecision` or `verdict` beside it");
        node.error(Code::MissingField, message);
    }
    let (decision, rule) = verdict
        .map(|(decision, rule)| (Some(decision), rule))
        .unwrap_or_default();
    Some(Scenario {
        name,
        call: call?,
        context: None,
        place: None,
        expect: expected.or(decision),
        rule,
    })
}

/// A call, or the JSON text of one: text can say what a document cannot, such as a name that occurs twice.
fn read_call(node: &Node<'_, '_>) -> Option<ScenarioPart> {
    if let Json::String(text) = node.value() {
        return Some(part_of(node, text.to_string()));
    }
    let Json::Object(_) = node.value() else {
        return node.wrong_type("a call `{serverName, toolName, arguments}`, or its JSON text");
    };
    let call = node.object()?;
    if let Some(context) = call.optional("context") {
        context.fault(Severity::Error, Code::UnknownKey, || {
            let message = "found the key `context` within the call, expected it beside the call";
            let help = "an agent writes the call, the host its context";
            (message.to_owned(), Some(help.to_owned()))
        });
        return None;
    }
    let is_known = call.unknown_keys(keys::SCENARIO_CALL, Severity::Error);
    let (server, tool) = (call.string("serverName"), call.string("toolName"));
    server.and(tool).filter(|_| is_known)?;
    Some(part(node))
}

pub(super) fn read_context(node: &Node<'_, '_>) -> Option<ScenarioPart> {
    node.object_of(keys::CONTEXT, Severity::Error)?;
    Some(part(node))
}

/// The contents of a world are read by the host that it becomes.
pub(super) fn read_world(node: &Node<'_, '_>) -> Option<ScenarioPart> {
    read_object(node, "world")
}

fn read_object(node: &Node<'_, '_>, what: &str) -> Option<ScenarioPart> {
    match node.value() {
        Json::Object(_) => Some(part(node)),
        _ => node.wrong_type(&format!("an object, a {what}")),
    }
}

fn part(node: &Node<'_, '_>) -> ScenarioPart {
    part_of(node, node.value().to_string())
}

fn part_of(node: &Node<'_, '_>, text: String) -> ScenarioPart {
    ScenarioPart {
        text,
        path: node.place(),
        position: Position::START,
    }
}

impl Scenario {
    pub(super) fn parts_mut(&mut self) -> impl Iterator<Item = &mut ScenarioPart> {
        let place = self.place.as_mut().map(|place| match place {
            ScenarioPlace::World(part) | ScenarioPlace::Recording(part) => part,
        });
        let call = std::iter::once(&mut self.call);
        call.chain(&mut self.context).chain(place)
    }

    /// Takes what is usual where this one says nothing.
    pub(super) fn fill(&mut self, usual: &Usual) {
        if self.place.is_none() {
            self.place = usual.world.clone().map(ScenarioPlace::World);
        }
        if self.context.is_none() {
            self.context.clone_from(&usual.context);
        }
    }
}
