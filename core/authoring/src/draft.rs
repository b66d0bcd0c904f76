//! Drafts of annotations, from what a server says of its tools.
//!
//! A server's description of itself is a claim, not a fact: it may make a draft stricter. It speaks against a
//! description, never against the name of a tool.

mod absent;
mod argument;
mod evidence;
mod git;
mod held;
mod kind;
mod merge;
mod place;
mod schema;
mod separator;
mod tool;
mod tools_list;
mod top;
mod verb;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use callgate_jsontext::{render, rewrite, without_comments};
use indexmap::map::Entry;
use serde::Serialize;
use serde_json::{Map, Value, json};

use callgate_engine::annotation;
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::document::{DocumentSource, Json, Node, Report, load};
use callgate_engine::limits::Limits;
use callgate_engine::role::{Registry, RoleId, RoleSet};
use callgate_engine::table::Table;

use argument::Draft;
pub use held::{Held, missing_annotations};
use merge::Annotated;
pub use merge::{Change, Drift};
use schema::{Leaf, Leaves};
use tool::Tool;
use tools_list::ListedTool;
use top::Top;

/// The annotations' name in diagnostics.
const ANNOTATIONS: &str = "toolAnnotations";

/// Drafted annotations of one server's tools, and what a person should look at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// The annotations document: what was there already, with what was drafted.
    pub annotations: Value,
    /// The same as text. What was there already is unchanged in it, its spaces and its comments too.
    pub text: String,
    /// The arguments that were drafted on good evidence.
    pub drafted: Vec<DraftedArgument>,
    /// The arguments that a person should decide. Where the evidence allows several roles, they have all of them.
    pub unsure: Vec<DraftedArgument>,
    /// The arguments that were drafted to name no resource, though nothing says what they are.
    pub unnamed: Vec<DraftedArgument>,
    /// The arguments whose values are sent in another form than they come in: a relative path becomes absolute.
    pub rewritten: Vec<DraftedArgument>,
    /// How the server differs from the annotations that were there; empty if there were none.
    pub drift: Vec<Drift>,
}

/// The roles that were drafted for one argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftedArgument {
    /// The name of the tool.
    pub tool: String,
    /// Its name, or a JSON Pointer into the arguments.
    pub argument: String,
    /// The names of the roles.
    pub roles: Vec<Box<str>>,
    /// The argument that its relative paths start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<String>,
    /// Why: the evidence, in a sentence.
    pub why: String,
}

/// Drafts annotations for the tools of the server that is named `server`.
///
/// `tools` is what the server answers to MCP's `tools/list`: the whole reply, its `result`, or the array of tools.
/// `existing` is an annotations document. Everything in it is kept, except that the schema of a tool becomes the server's
/// if it changed.
///
/// ```
/// use callgate_authoring::draft::propose_annotations;
/// use callgate_engine::document::DocumentSource;
///
/// let tools = r#"[{"name": "read_file", "inputSchema": {"properties": {"path": {"type": "string"}}}}]"#;
/// let proposal = propose_annotations(DocumentSource::Text(tools), "files", None).unwrap();
/// assert_eq!(*proposal.drafted[0].roles[0], *"read-path");
/// ```
///
/// # Errors
/// The faults of the documents.
pub fn propose_annotations(
    tools: DocumentSource<'_>,
    server: &str,
    existing: Option<DocumentSource<'_>>,
) -> Result<Proposal, Vec<Diagnostic>> {
    let limits = Limits::default();
    let list = Value::from(load(tools, tools_list::NAME, &limits, |_| false)?);
    let tools = tools_list::read(&list)?;
    let old = match existing {
        Some(source) => Some(Value::from(load(source, ANNOTATIONS, &limits, |_| false)?)),
        None => None,
    };
    let mut drafter = Drafter {
        server,
        registry: Registry::default(),
        leaves: Leaves::default(),
        drafted: Vec::new(),
        unsure: Vec::new(),
        unnamed: Vec::new(),
        rewritten: Vec::new(),
    };
    let (annotations, drift) = drafter.merge(&tools, old.as_ref())?;
    Ok(Proposal {
        text: text_of(existing, &annotations),
        annotations,
        drafted: drafter.drafted,
        unsure: in_order(drafter.unsure),
        unnamed: drafter.unnamed,
        rewritten: drafter.rewritten,
        drift,
    })
}

/// The text of the merged annotations: that of the existing ones, as far as it can stay.
fn text_of(existing: Option<DocumentSource<'_>>, new: &Value) -> String {
    let rewritten = match existing {
        Some(DocumentSource::Text(text)) => rewrite(text, &with_schema(text, new)),
        _ => None,
    };
    rewritten.unwrap_or_else(|| render(new, "") + "\n")
}

/// The annotations with the key for editors that the text has, which says nothing about tools.
fn with_schema(text: &str, annotations: &Value) -> Value {
    const KEY: &str = "$schema";
    let mut with_schema = annotations.clone();
    let old: Option<Map<String, Value>> = serde_json::from_str(&without_comments(text)).ok();
    if let (Some(old), Value::Object(members)) = (old, &mut with_schema)
        && let Some((at, (key, value))) = old.into_iter().enumerate().find(|(_, (key, _))| key == KEY)
    {
        members.shift_insert(at.min(members.len()), key, value);
    }
    with_schema
}

struct Drafter<'s> {
    server: &'s str,
    registry: Registry,
    leaves: Leaves,
    drafted: Vec<DraftedArgument>,
    unsure: Vec<DraftedArgument>,
    unnamed: Vec<DraftedArgument>,
    rewritten: Vec<DraftedArgument>,
}

/// Those with several roles first.
fn in_order(mut unsure: Vec<DraftedArgument>) -> Vec<DraftedArgument> {
    unsure.sort_by_key(|one| one.roles.len() < 2);
    unsure
}

impl Drafter<'_> {
    /// The annotations with what was drafted, and the drift.
    fn merge(
        &mut self,
        tools: &[ListedTool<'_>],
        existing: Option<&Value>,
    ) -> Result<(Value, Vec<Drift>), Vec<Diagnostic>> {
        let mut drift = Vec::new();
        let Some(existing) = existing else {
            let drafts: Vec<Value> = tools.iter().map(|tool| self.whole(*tool)).collect();
            return Ok((json!({"servers": {self.server: {"tools": drafts}}}), drift));
        };
        check(existing, self.server)?;
        let mut annotations = existing.clone();
        let mut kept = annotated_tools(&mut annotations, self.server);
        let places: BTreeMap<String, usize> = names(&kept)
            .enumerate()
            .map(|(at, name)| (name.to_owned(), at))
            .collect();
        let listed_names: BTreeSet<&str> = tools.iter().map(|listed| listed.name).collect();
        let gone = names(&kept).filter(|name| !listed_names.contains(name));
        let gone: Vec<Drift> = gone.map(merge::gone_tool).collect();
        for listed in tools {
            let place = places.get(listed.name);
            let tool = place.and_then(|at| kept.as_mut()?.get_mut(*at)?.as_object_mut());
            if let Some(tool) = tool {
                drift.extend(self.update(tool, *listed));
                continue;
            }
            drift.push(merge::new_tool(listed.name));
            let draft = self.whole(*listed);
            kept.iter_mut().for_each(|kept| kept.push(draft.clone()));
        }
        drift.extend(gone);
        Ok((annotations, drift))
    }

    /// Adds to an annotated tool what it lacks.
    fn update(&mut self, tool: &mut Map<String, Value>, listed: ListedTool<'_>) -> Vec<Drift> {
        let annotated = Annotated::new(tool);
        let drift = annotated.drift(&listed);
        let schema = annotated.new_schema(&listed);
        let added = self.arguments(listed, |name| !annotated.has(name));
        if let Some(args) = tool.get_mut("args").and_then(Value::as_object_mut) {
            args.extend(added);
        }
        if let Some(schema) = schema {
            tool.insert("inputSchema".to_owned(), schema);
        }
        drift
    }

    /// The annotation of a tool that has none.
    fn whole(&mut self, listed: ListedTool<'_>) -> Value {
        let before = self.unsure.len();
        let args = self.arguments(listed, |_| true);
        if let Some(why) = listed.top().others.or_else(|| listed.unlisted()) {
            self.unsure.push(DraftedArgument {
                tool: listed.name.to_owned(),
                argument: "/*".to_owned(),
                roles: vec![self.registry.name(RoleId::NONE).into()],
                relative_to: None,
                why: format!("{why}; until they are annotated, a call with one is denied"),
            });
        }
        let unsure = self.unsure.iter().skip(before).map(|one| &*one.argument);
        let kind = Tool::new(listed, self.server).acts();
        merge::whole(&listed, kind, args, &unsure.collect::<Vec<_>>())
    }

    /// Drafts the arguments that are wanted.
    fn arguments(&mut self, listed: ListedTool<'_>, is_wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
        let mut tool = Tool::new(listed, self.server);
        tool.repository = tool.repository.filter(|name| self.is_path(&tool, name));
        let mut args = Map::new();
        let root = listed.schema.unwrap_or(&Value::Null);
        let Top {
            properties, required, ..
        } = listed.top();
        let required: BTreeSet<&str> = required.into_iter().collect();
        let properties = properties.into_iter();
        for (name, parts) in properties.filter(|(name, _)| is_wanted(name)) {
            let schema = parts.first().copied().filter(|_| parts.len() == 1);
            let leaves = parts
                .into_iter()
                .flat_map(|part| self.leaves.of(root, name, part));
            let leaves: Vec<Leaf<'_>> = leaves.collect();
            // Two alternatives of a schema may have a part of the same name.
            let mut drafts: Table<String, Draft> = Table::default();
            let is_required = required.contains(name);
            for leaf in &leaves {
                let draft = argument::draft(leaf, &tool);
                match drafts.entry(place(&leaf.place, name)) {
                    Entry::Occupied(mut known) => known.get_mut().join(draft),
                    Entry::Vacant(free) => {
                        free.insert(draft);
                    }
                }
            }
            if drafts.values().all(Draft::is_none) {
                args.insert(place(name, name), json!([self.registry.name(RoleId::NONE)]));
            }
            for (place, draft) in drafts {
                if !draft.is_none() {
                    let mut whole = leaves.iter().filter(|leaf| leaf.place == place && !is_required);
                    let absent = whole.find_map(|leaf| absent::of(leaf, &draft.roles, &tool));
                    let mut whole = leaves.iter().filter(|leaf| leaf.place == place);
                    let separator = whole.find_map(|leaf| separator::of(leaf, schema?, &draft.roles));
                    let spec = with(self.spec(&draft, &tool), "separator", separator);
                    args.insert(place.clone(), with(spec, "absent", absent.as_deref()));
                }
                self.report(listed.name, place, draft);
            }
        }
        args
    }

    /// Returns `true` if the argument itself is drafted as a path, so that others can be relative to it.
    fn is_path(&mut self, tool: &Tool<'_>, name: &str) -> bool {
        let root = tool.listed.schema.unwrap_or(&Value::Null);
        let properties = tool.listed.top().properties.into_iter();
        let parts = properties
            .filter(|(known, _)| *known == name)
            .flat_map(|(_, parts)| parts);
        let leaves: Vec<Leaf<'_>> = parts.flat_map(|part| self.leaves.of(root, name, part)).collect();
        let mut whole = leaves.iter().filter(|leaf| leaf.place == name);
        whole.any(|leaf| {
            let draft = argument::draft(leaf, tool);
            draft
                .roles
                .iter()
                .any(|role| RoleSet::SANDBOX_SAFE.contains(*role))
        })
    }

    fn names(&self, draft: &Draft) -> Vec<Box<str>> {
        draft
            .roles
            .iter()
            .map(|role| self.registry.name(*role).into())
            .collect()
    }

    fn spec(&self, draft: &Draft, tool: &Tool<'_>) -> Value {
        let roles = self.names(draft);
        if tool.brings_tree() && draft.roles.contains(&RoleId::WRITE_PATH) && draft.unless_added.is_none() {
            let mut spec = json!({"roles": roles, "reach": "tree"});
            if let (Some(base), Some(spec)) = (&draft.relative_to, spec.as_object_mut()) {
                spec.insert("relativeTo".to_owned(), json!(base));
            }
            return spec;
        }
        if let Some(flag) = &draft.url_flag {
            let only = |is: &str, keeps_url: bool| {
                let url = self.registry.name(RoleId::FETCH_URL);
                let kept: Vec<_> = roles
                    .iter()
                    .filter(|role| (&***role == url) == keeps_url)
                    .collect();
                json!({"condition": {"arg": flag, "is": is}, "roles": kept})
            };
            return json!({"default": roles, "when": [only("falsy", false), only("truthy", true)]});
        }
        if let Some(choice) = &draft.unless_added {
            let none = self.registry.name(RoleId::NONE);
            let added = json!({"condition": {"arg": choice, "equals": "add"}, "roles": [none]});
            return json!({"default": roles, "when": [added]});
        }
        if draft.roles == [RoleId::FETCH_URL] && tool.is_browser() {
            return json!({"roles": roles, "scheme": "http"});
        }
        match &draft.relative_to {
            Some(base) => json!({"roles": roles, "relativeTo": base}),
            None => json!(roles),
        }
    }

    fn report(&mut self, tool: &str, argument: String, draft: Draft) {
        let report = DraftedArgument {
            tool: tool.to_owned(),
            argument,
            roles: self.names(&draft),
            relative_to: draft.relative_to,
            why: draft.why,
        };
        let is_path = |role: &RoleId| RoleSet::SANDBOX_SAFE.contains(*role) || *role == RoleId::RESOURCE_URI;
        if draft.roles.iter().any(is_path) {
            self.rewritten.push(report.clone());
        }
        let is_none = matches!(*draft.roles, [RoleId::NONE | RoleId::TEXT]);
        let list = if draft.is_sure {
            &mut self.drafted
        } else if is_none && !draft.is_asked {
            &mut self.unnamed
        } else {
            &mut self.unsure
        };
        list.push(report);
    }
}

/// The spec with a further key, if there is something to say by it.
fn with(spec: Value, key: &str, said: Option<&str>) -> Value {
    match (spec, said) {
        (spec, None) => spec,
        (Value::Object(mut spec), Some(said)) if spec.contains_key("roles") => {
            spec.insert(key.to_owned(), json!(said));
            Value::Object(spec)
        }
        (roles, Some(said)) => json!({"roles": roles, key: said}),
    }
}

/// The name of an argument in an annotation. One that begins with `/` would be a pointer.
fn place(place: &str, top: &str) -> String {
    if place == top && top.starts_with('/') {
        format!("/{}", callgate_engine::text::escape_token(top))
    } else {
        place.to_owned()
    }
}

/// The names of the annotated tools.
fn names<'v>(kept: &'v Option<&mut Vec<Value>>) -> impl Iterator<Item = &'v str> {
    let tools = kept.iter().flat_map(|kept| kept.iter());
    tools.map(|tool| tool.get("toolName").and_then(Value::as_str).unwrap_or_default())
}

/// Checks that the annotations can be added to.
fn check(existing: &Value, server: &str) -> Result<(), Vec<Diagnostic>> {
    let report = Report::default();
    let existing = Json::from(existing);
    let document = Node::document(&existing, ANNOTATIONS, &report);
    if annotation::is_harn(&existing) {
        document.error(
            Code::InvalidValue,
            format_args!(
                "found annotations without servers, expected `servers`, under which tools can be added"
            ),
        );
    }
    let tools = |node: &Node<'_, '_>| {
        node.each("an array of tools", |tool| {
            let tool = tool.object()?;
            tool.string("toolName")?;
            tool.require("args", "an object of arguments", |args| args.object().map(drop))
        })
    };
    if let Some(file) = document.object() {
        file.read("servers", |servers| {
            servers
                .object()?
                .read(server, |node| node.object()?.read("tools", tools))
        });
    }
    if report.has_errors() {
        Err(report.finish(ANNOTATIONS))
    } else {
        Ok(())
    }
}

/// The annotated tools of a server, which is added if it is not there.
fn annotated_tools<'v>(annotations: &'v mut Value, server: &str) -> Option<&'v mut Vec<Value>> {
    let servers = annotations
        .as_object_mut()?
        .entry("servers")
        .or_insert_with(|| json!({}));
    let server = servers
        .as_object_mut()?
        .entry(server)
        .or_insert_with(|| json!({}));
    let tools = server
        .as_object_mut()?
        .entry("tools")
        .or_insert_with(|| json!([]));
    tools.as_array_mut()
}
