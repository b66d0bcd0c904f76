//! Doubts about a policy that only show when all calls are looked at, each with a call that shows it.

mod entries;
mod listed;
mod rules;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::inexact::hide_nothing;
use super::rows::is_about_form;
use super::{Analysis, Region, ToolRegions, Watcher, asked};
use crate::imagined::Imagined;
use callgate_engine::config::{self, DocumentKind};
use callgate_engine::diagnostic::{Code, Diagnostic, Severity};
use callgate_engine::document::{DocumentSource, JsonPath, syntax_fault, without_comments};
use callgate_engine::engine::{BuildError, Engine};
use callgate_engine::host::Host;
use callgate_engine::model::Effect;

/// A doubt about the documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The finding, its place, and what to do about it.
    #[serde(flatten)]
    pub diagnostic: Diagnostic,
    /// A call that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Value>,
}

/// Looks at a valid configuration as a whole. What loading warns about is not repeated. `disk` gives links and repositories; without
/// it there are none. The watcher is told of every tool, and then of every rule.
///
/// # Errors
/// When no engine can be built from the documents.
pub fn lint_policy(
    parts: &[(DocumentKind, DocumentSource<'_>)],
    host: &dyn Host,
    disk: Option<&dyn Host>,
    watcher: Watcher<'_>,
) -> Result<Vec<Finding>, BuildError> {
    let engine = build(parts, None, host)?;
    let analysis = Analysis::on(Imagined::new(&engine, disk)).watched(watcher);
    let tools = analysis.tools().into_iter();
    let regions: Vec<ToolRegions> = tools
        .filter_map(|(server, tool)| analysis.tool(server, tool))
        .collect();
    let mut lint = Lint {
        parts,
        host,
        disk,
        engine: &engine,
        imagined: Imagined::new(&engine, disk),
        regions: &regions,
        findings: Vec::new(),
    };
    lint.rules(watcher)?;
    lint.tools()?;
    lint.roles()?;
    lint.trees()?;
    lint.texts()?;
    let config = config::read(parts).map_err(|diagnostics| BuildError { diagnostics })?;
    lint.entries(&config);
    Ok(located(lint.findings, parts))
}

/// Holds a server's tools, as it answers to MCP's `tools/list`, against a valid configuration: tools that are new or gone,
/// arguments and schemas that changed, and arguments without a role that look like resources.
///
/// # Errors
/// The faults of the list, or of the documents.
pub fn lint_tools(
    parts: &[(DocumentKind, DocumentSource<'_>)],
    host: &dyn Host,
    server: &str,
    tools: DocumentSource<'_>,
) -> Result<Vec<Finding>, Vec<Diagnostic>> {
    let engine = build(parts, None, host).map_err(|error| error.diagnostics)?;
    let mut lint = Lint {
        parts,
        host,
        disk: None,
        engine: &engine,
        imagined: Imagined::new(&engine, None),
        regions: &[],
        findings: Vec::new(),
    };
    lint.listed(server, tools)?;
    Ok(located(lint.findings, parts))
}

/// The findings with their places in the texts.
fn located(mut findings: Vec<Finding>, parts: &[(DocumentKind, DocumentSource<'_>)]) -> Vec<Finding> {
    for (kind, source) in parts {
        let faults = findings
            .iter()
            .map(|finding| finding.diagnostic.clone())
            .collect();
        let located = source.located(faults, kind.as_str());
        for (finding, diagnostic) in findings.iter_mut().zip(located) {
            finding.diagnostic = diagnostic;
        }
    }
    findings
}

/// A document as a value; `None` if there is none of that kind.
///
/// # Errors
/// The text is not JSON.
pub(super) fn document(
    parts: &[(DocumentKind, DocumentSource<'_>)],
    kind: DocumentKind,
) -> Result<Option<Value>, BuildError> {
    let source = parts.iter().find(|(known, _)| *known == kind);
    let read = source.map(|(_, source)| match source {
        DocumentSource::Text(text) => {
            let text = without_comments(text);
            serde_json::from_str(&text).map_err(|fault| BuildError {
                diagnostics: vec![syntax_fault(&fault, &text, kind.as_str())],
            })
        }
        DocumentSource::Value(value) => Ok((*value).clone()),
    });
    read.transpose()
}

/// An engine of the documents, with another policy in place of theirs, where one is given. Warnings about that one say nothing
/// of the documents, so it is not held to the option `strict`.
pub(super) fn build(
    parts: &[(DocumentKind, DocumentSource<'_>)],
    policy: Option<&Value>,
    host: &dyn Host,
) -> Result<Engine, BuildError> {
    let mut builder = Engine::builder();
    for (kind, source) in parts {
        builder = builder.part(*kind, *source);
    }
    let mut options = None;
    if let Some(policy) = policy {
        builder = builder.part(DocumentKind::Policy, DocumentSource::Value(policy));
        options = document(parts, DocumentKind::Options)?;
    }
    if let Some(Value::Object(options)) = &mut options {
        options.remove("strict");
    }
    if let Some(options) = &options {
        builder = builder.part(DocumentKind::Options, DocumentSource::Value(options));
    }
    builder.build(host)
}

struct Lint<'l> {
    parts: &'l [(DocumentKind, DocumentSource<'l>)],
    host: &'l dyn Host,
    /// Whose links and repositories are looked at.
    disk: Option<&'l dyn Host>,
    engine: &'l Engine,
    imagined: Imagined<'l>,
    regions: &'l [ToolRegions],
    findings: Vec<Finding>,
}

impl Lint<'_> {
    fn add(&mut self, code: Code, path: String, message: String, help: &str, call: Option<Value>) {
        self.findings.push(Finding {
            diagnostic: Diagnostic {
                code,
                severity: Severity::Warning,
                path,
                position: None,
                message,
                help: Some(help.to_owned()),
            },
            call,
        });
    }

    /// Tools of which every call is denied: those of one server by one rule together.
    fn tools(&mut self) -> Result<(), BuildError> {
        let annotations = document(self.parts, DocumentKind::Annotations)?;
        let mut denied: BTreeMap<(&str, &str), Vec<(&ToolRegions, &Region)>> = BTreeMap::new();
        for tool in self.regions {
            let mut regions = regions_of(tool);
            let is_exact = hide_nothing(&tool.inexact);
            let is_denied = self.engine.denies_every_call(&tool.server_name, &tool.tool_name)
                || is_exact && regions_of(tool).all(|(_, region)| region.decision == Effect::Deny.as_str());
            // What is refused for its form alone may be well-formed otherwise.
            if let Some(first) = regions.find(|(_, region)| !is_about_form(&region.rule))
                && is_denied
            {
                let key = (&*tool.server_name, &*first.1.rule);
                denied.entry(key).or_default().push(first);
            }
        }
        for ((server, rule), tools) in denied {
            let Some((tool, region)) = tools.first() else {
                continue;
            };
            let names: Vec<String> = tools
                .iter()
                .map(|(tool, _)| format!("`{server}/{}`", tool.tool_name))
                .collect();
            let names = super::label::listed(&names, " and ");
            let message = format!("every call of {names} is denied, by `{rule}`");
            let path = path_of(annotations.as_ref(), server, &tool.tool_name);
            let help = "a rule that allows or escalates some of their calls, or no annotation, so that agents are not told of them";
            self.add(
                Code::AlwaysDenied,
                path,
                message,
                help,
                Some(call_of(tool, region)),
            );
        }
        Ok(())
    }

    /// Resource roles that arguments bear and no rule names.
    fn roles(&mut self) -> Result<(), BuildError> {
        let program = self.imagined.program();
        let annotations = document(self.parts, DocumentKind::Annotations)?;
        let mut seen = program.ruled_roles.union(program.sandbox_roles);
        for tool in &program.tools {
            // An allowlist says what URLs may be.
            let is_gated = program.server(&tool.server).allowlist.is_some();
            for argument in &tool.arguments {
                for role in argument.roles.possible() {
                    let is_said = seen.contains(role) || is_gated && program.url_roles.contains(role);
                    if !program.resource_roles.contains(role) || is_said {
                        continue;
                    }
                    seen.insert(role);
                    let name = program.registry.name(role);
                    let message = format!(
                        "no rule names the role `{name}`, which arguments of `{}/{}` bear",
                        tool.server, tool.name
                    );
                    let argument = argument.name.to_string();
                    let place = path_of_argument(annotations.as_ref(), &tool.server, &tool.name, &argument);
                    let help = "a rule with that role says what its values may be";
                    let mut regions = self.regions.iter().flat_map(regions_of);
                    let own = regions
                        .find(|(one, _)| *one.server_name == *tool.server && *one.tool_name == *tool.name);
                    let call = own.map(|(tool, region)| call_of(tool, region));
                    self.add(Code::UnreadRole, place, message, help, call);
                }
            }
        }
        Ok(())
    }

    /// Arguments under which a tool is allowed to read a tree, whatever is protected in it.
    fn trees(&mut self) -> Result<(), BuildError> {
        let annotations = document(self.parts, DocumentKind::Annotations)?;
        for tool in self.regions {
            for argument in &tool.reads_below {
                let mut regions = regions_of(tool);
                let allowed = regions.find(|(_, region)| {
                    let is_about = region.places.iter().any(|place| *place.argument == *argument);
                    is_about && region.decision == Effect::Allow.as_str()
                });
                let Some((_, region)) = allowed else { continue };
                let (server, name) = (&tool.server_name, &tool.tool_name);
                let message = format!(
                    "`{server}/{name}` reads everything below `{argument}`, and calls are allowed: what is protected below the \
                     directory that one names is read too"
                );
                let place = path_of_argument(annotations.as_ref(), server, name, argument);
                let help =
                    "a rule that asks about the tool, or allows directories that hold nothing protected";
                self.add(
                    Code::ReadsBelow,
                    place,
                    message,
                    help,
                    Some(call_of(tool, region)),
                );
            }
        }
        Ok(())
    }

    /// A call in a region that is about this directory, host or entry.
    fn call_about(&self, text: &str) -> Option<Value> {
        let text = text.strip_prefix("*.").unwrap_or(text);
        let is_meant = |is: &str| is == format!("`{text}`") || is.ends_with(&format!(" {text}"));
        let mut regions = self.regions.iter().flat_map(regions_of);
        let found = regions.find(|(_, region)| region.places.iter().any(|place| is_meant(&place.is)));
        found.map(|(tool, region)| call_of(tool, region))
    }
}

fn regions_of(tool: &ToolRegions) -> impl Iterator<Item = (&ToolRegions, &Region)> {
    let regions = tool.parts.iter().flat_map(|part| &part.regions);
    regions.map(move |region| (tool, region))
}

fn call_of(tool: &ToolRegions, region: &Region) -> Value {
    let (server, name) = (&tool.server_name, &tool.tool_name);
    asked::written(server, name, &region.arguments, region.context.as_ref())
}

/// The place of a tool in the annotations.
fn path_of(annotations: Option<&Value>, server: &str, tool: &str) -> String {
    let document = JsonPath::Document(DocumentKind::Annotations.as_str());
    let Some((at, _)) = annotated(annotations, server, tool) else {
        return document.to_string();
    };
    let servers = JsonPath::Key(&document, "servers");
    let of_server = JsonPath::Key(&servers, server);
    let list = JsonPath::Key(&of_server, "tools");
    JsonPath::Index(&list, at).to_string()
}

/// The place of a tool's argument in the annotations; that of the tool where the argument is not there.
fn path_of_argument(annotations: Option<&Value>, server: &str, tool: &str, argument: &str) -> String {
    let place = path_of(annotations, server, tool);
    let annotated = annotated(annotations, server, tool);
    match annotated.is_some_and(|(_, tool)| tool.get("args").is_some_and(|args| args.get(argument).is_some()))
    {
        true => {
            let tool = JsonPath::Document(&place);
            let args = JsonPath::Key(&tool, "args");
            JsonPath::Key(&args, argument).to_string()
        }
        false => place,
    }
}

/// The annotation of a tool, and its place among those of the server.
pub(super) fn annotated<'a>(
    annotations: Option<&'a Value>,
    server: &str,
    tool: &str,
) -> Option<(usize, &'a Value)> {
    let tools = annotations?
        .get("servers")?
        .get(server)?
        .get("tools")?
        .as_array()?;
    let mut tools = tools.iter().enumerate();
    tools.find(|(_, one)| one.get("toolName").and_then(Value::as_str) == Some(tool))
}
