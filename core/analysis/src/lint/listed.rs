//! A server's tools, held against their annotations.

use serde_json::{Map, Value, json};

use super::{Lint, call_of, document, path_of, path_of_argument, regions_of};
use crate::Analysis;
use crate::label::listed;
use callgate_authoring::draft::{Change, DraftedArgument, Drift, propose_annotations};
use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::document::{DocumentSource, JsonPath};
use callgate_engine::engine::BuildError;
use callgate_engine::model::ArgumentName;
use callgate_engine::program::Tool;
use callgate_engine::role::{Category, RoleId};

impl Lint<'_> {
    pub(super) fn listed(&mut self, server: &str, tools: DocumentSource<'_>) -> Result<(), Vec<Diagnostic>> {
        let annotations = document(self.parts, DocumentKind::Annotations);
        let annotations = annotations.map_err(|error| error.diagnostics)?;
        let existing = annotations.as_ref().map(DocumentSource::Value);
        let known = propose_annotations(tools, server, existing)?;
        for drift in &known.drift {
            self.drift(server, drift, annotations.as_ref());
        }
        // The drafts of all arguments, whatever their annotations say.
        let drafts = propose_annotations(tools, server, None)?;
        for draft in drafts.drafted.iter().chain(&drafts.unsure) {
            self.without_role(server, draft, annotations.as_ref());
        }
        Ok(())
    }

    /// Arguments that are said to be text, and look like a resource: no look for protected paths is about them.
    pub(super) fn texts(&mut self) -> Result<(), BuildError> {
        let annotations = document(self.parts, DocumentKind::Annotations)?;
        let servers = annotations
            .as_ref()
            .and_then(|annotations| annotations.get("servers")?.as_object());
        for (server, of_server) in servers.into_iter().flatten() {
            let tools = of_server.get("tools").and_then(Value::as_array);
            let tools: Vec<Value> = tools.into_iter().flatten().filter_map(as_listed).collect();
            let tools = Value::Array(tools);
            let Ok(drafts) = propose_annotations(DocumentSource::Value(&tools), server, None) else {
                continue;
            };
            for draft in drafts.drafted.iter().chain(&drafts.unsure) {
                let tool = self.imagined.program().tool(server, &draft.tool);
                let mut arguments = tool.into_iter().flat_map(|tool| &tool.arguments);
                let own = arguments.find(|argument| argument.name.to_string() == draft.argument);
                if own.is_some_and(|own| own.roles.possible().any(|role| role == RoleId::TEXT)) {
                    self.without_role(server, draft, annotations.as_ref());
                }
            }
        }
        Ok(())
    }

    fn drift(&mut self, server: &str, drift: &Drift, annotations: Option<&Value>) {
        let (code, help) = match drift.change {
            Change::NewTool => (
                Code::NewTool,
                "its calls are denied until it is annotated; `callgate annotate --into` drafts that",
            ),
            Change::GoneTool => (
                Code::GoneTool,
                "remove its annotation, or see that the server is the right one",
            ),
            Change::NewArgument => (
                Code::NewArgument,
                "calls with it are denied where the schema does not name it, and else nothing judges it; \
                 `callgate annotate --into` drafts its roles",
            ),
            Change::GoneArgument => (Code::GoneArgument, "remove it from the annotation"),
            Change::ChangedSchema => (
                Code::ChangedSchema,
                "calls are held against the annotated schema; `callgate annotate --into` takes the server's",
            ),
        };
        let place = match (&drift.argument, drift.change) {
            (_, Change::NewTool) => path_of_server(annotations, server),
            (Some(argument), _) => path_of_argument(annotations, server, &drift.tool, argument),
            (None, _) => path_of(annotations, server, &drift.tool),
        };
        let call = json!({"serverName": server, "toolName": drift.tool, "arguments": {}});
        let call = (drift.change == Change::NewTool).then_some(call);
        self.add(code, place, drift.message.clone(), help, call);
    }

    /// An argument that is drafted as a resource, if nothing in its annotation is one.
    fn without_role(&mut self, server: &str, draft: &DraftedArgument, annotations: Option<&Value>) {
        let program = self.imagined.program();
        let Some(tool) = program.tool(server, &draft.tool) else {
            return;
        };
        let drafted = draft.roles.iter().filter_map(|role| program.registry.find(role));
        let drafted: Vec<RoleId> = drafted
            .filter(|role| program.resource_roles.contains(*role))
            .collect();
        let Ok(name) = ArgumentName::parse(&draft.argument) else {
            return;
        };
        if drafted.is_empty() || bears_resource(tool, &name, |role| program.resource_roles.contains(role)) {
            return;
        }
        let roles: Vec<String> = draft.roles.iter().map(|role| format!("`{role}`")).collect();
        let message = format!(
            "the argument `{}` of `{server}/{}` has no role of a resource, and looks like {}: {}",
            draft.argument,
            draft.tool,
            listed(&roles, " or "),
            draft.why
        );
        let place = path_of_argument(annotations, server, &draft.tool, &draft.argument);
        let help = "give it such a role; if it names no resource whatever it says, nothing is to be done";
        let call = drafted
            .first()
            .and_then(|role| self.unjudged(server, &draft.tool, &name, *role));
        self.add(Code::MissingRole, place, message, help, call);
    }

    /// The most harmless call of a tool, in which the argument names something.
    fn unjudged(&self, server: &str, tool: &str, name: &ArgumentName, role: RoleId) -> Option<Value> {
        let ArgumentName::Top(name) = name else {
            return None;
        };
        let analysis = Analysis::new(self.engine);
        let regions = analysis.tool(server, tool)?;
        let strictness = |decision: &str| match decision {
            "allow" => 0,
            "escalate" => 1,
            _ => 2,
        };
        let (tool, region) = regions_of(&regions).min_by_key(|(_, region)| strictness(region.decision))?;
        let mut call = call_of(tool, region);
        let value = match self.imagined.program().registry.get(role).category {
            Category::Path => "/etc/passwd",
            Category::Url => "https://some-host.example/",
            Category::Identifier | Category::Address | Category::Command | Category::Opaque => "some-name",
        };
        call.get_mut("arguments")?
            .as_object_mut()?
            .insert(name.to_string(), json!(value));
        Some(call)
    }
}

/// A tool as its server lists it, as far as the annotation says that; `None` if it has no name.
fn as_listed(annotation: &Value) -> Option<Value> {
    let name = annotation.get("toolName")?;
    let schema = annotation.get("inputSchema").cloned().unwrap_or_else(|| {
        let args = annotation.get("args").and_then(Value::as_object);
        let names = args.into_iter().flatten().map(|(name, _)| name);
        let whole = names.filter(|name| !name.starts_with('/'));
        let properties = whole.map(|name| (name.clone(), json!({"type": "string"})));
        json!({"properties": properties.collect::<Map<_, _>>()})
    });
    Some(json!({"name": name, "inputSchema": schema}))
}

/// Returns `true` if the argument, or something in it or around it, bears a role of a resource.
fn bears_resource(tool: &Tool, name: &ArgumentName, is_resource: impl Fn(RoleId) -> bool) -> bool {
    let same = tool
        .arguments
        .iter()
        .filter(|argument| argument.name.first().is_none() || argument.name.first() == name.first());
    same.into_iter()
        .any(|argument| argument.roles.possible().any(&is_resource))
}

/// The place of a server in the annotations; where it is not there, that of all servers.
fn path_of_server(annotations: Option<&Value>, server: &str) -> String {
    let document = JsonPath::Document(DocumentKind::Annotations.as_str());
    let servers = JsonPath::Key(&document, "servers");
    let known = annotations.and_then(|annotations| annotations.get("servers")?.get(server));
    match known {
        Some(_) => JsonPath::Key(&servers, server).to_string(),
        None => servers.to_string(),
    }
}
