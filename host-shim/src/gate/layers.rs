//! Gates one above the other: an organisation's, a user's, a project's (SPEC §11a).

use std::collections::BTreeSet;
use std::sync::Arc;

use callgate_engine::config::DocumentKind;
use callgate_engine::diagnostic::{Code, Diagnostic};
use callgate_engine::document::{DocumentSource, anchored};
use callgate_engine::engine::{BuildError, Engine};
use callgate_engine::host::Host;
use serde_json::Value;

use super::Gate;
use crate::backend::Backend;
use crate::backend::layered::{Layer, Layered};
use crate::documents::{Document, read_before};
use crate::leaves::Leaves;

/// A layer of a gate as an engine of this process: for looking at its documents.
pub struct LayerEngine {
    /// Its name: what it was called, or the place of its bundle.
    pub name: String,
    /// Its engine.
    pub engine: Engine,
    leaves: Leaves,
}

impl LayerEngine {
    /// Returns `true` if calls of tools of this server that the layer does not annotate are left to the layers below it.
    pub fn leaves(&self, server: &str) -> bool {
        self.leaves.has(server)
    }
}

impl Gate {
    /// Its name as a layer: what it was called, or the place of its bundle.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The layers above, the uppermost first.
    pub fn above(&self) -> &[Arc<Gate>] {
        &self.above
    }

    /// The servers, or patterns for them, that its bundle leaves to layers below.
    pub fn leaves(&self) -> &[String] {
        &self.leaves
    }

    /// The engines of all layers, the uppermost first.
    ///
    /// # Errors
    /// When documents are refused, which they were not before.
    pub fn compile_layers(&self, host: &dyn Host) -> Result<Vec<LayerEngine>, BuildError> {
        let above = self.above.iter().map(|gate| (gate.as_ref(), &gate.leaves[..]));
        let layers = above.chain([(self, &[][..])]).map(|(gate, leaves)| {
            Ok(LayerEngine {
                name: gate.name().to_owned(),
                engine: gate.compile_alone(host)?,
                leaves: Leaves::new(leaves, &gate.documents),
            })
        });
        layers.collect()
    }

    pub(super) fn compile_alone(&self, host: &dyn Host) -> Result<Engine, BuildError> {
        let mut builder = Engine::builder();
        for document in &self.documents {
            builder = builder.part(document.part, DocumentSource::Text(&document.text));
        }
        builder.build(host)
    }

    /// # Errors
    /// When there are layers, which one engine is not.
    pub(crate) fn check_alone(&self) -> Result<(), BuildError> {
        match self.above.is_empty() {
            true => Ok(()),
            false => Err(BuildError {
                diagnostics: vec![Diagnostic::error(
                    Code::InvalidValue,
                    "bundle",
                    "layers stand above it, which cannot be looked at as one policy: look at each bundle by itself",
                )],
            }),
        }
    }
}

/// The engine of a gate below others.
///
/// # Errors
/// The layers do not go together: one of them has layers or a world, or two have one name or count by one name.
pub(super) fn below(
    (name, backend, documents): (&str, Arc<dyn Backend>, &[Document]),
    above: &[Arc<Gate>],
) -> Result<Arc<dyn Backend>, String> {
    if above.is_empty() {
        return Ok(backend);
    }
    let (mut names, mut counters) = (BTreeSet::new(), BTreeSet::new());
    let upper = above.iter().map(|gate| (gate.name(), gate.documents()));
    for (own, documents) in upper.chain([(name, documents)]) {
        if !names.insert(own) {
            return Err(format!("two are called `{own}`"));
        }
        if read_before(documents, DocumentKind::World).is_some_and(|world| !world.is_null()) {
            return Err(format!("`{own}` has a world, which no layer may have"));
        }
        for counter in counters_of(documents) {
            if let Some(taken) = counters.replace(counter) {
                return Err(format!(
                    "`{own}` has the counter `{taken}`, which another layer has"
                ));
            }
        }
    }
    if let Some(gate) = above.iter().find(|gate| !gate.above.is_empty()) {
        return Err(format!("`{}` has layers above it itself", gate.name()));
    }
    let layer = |name: &str, backend, documents, leaves| Layer {
        name: name.to_owned(),
        backend,
        leaves: Leaves::new(leaves, documents),
        trusted: texts(documents, DocumentKind::TrustedServers),
    };
    let upper = above.iter().map(|gate| {
        layer(
            gate.name(),
            Arc::clone(&gate.backend),
            gate.documents(),
            gate.leaves(),
        )
    });
    Ok(Arc::new(Layered {
        upper: upper.collect(),
        lowest: layer(name, backend, documents, &[]),
    }))
}

/// The paths that no call may touch by the documents of a layer: they hold below it for what it leaves, too.
pub(super) fn protected_by(documents: &[Document]) -> Vec<Value> {
    let folder = read_before(documents, DocumentKind::Folder);
    let folder = folder.as_ref().and_then(Value::as_str).unwrap_or_default();
    let mut entries = read_before(documents, DocumentKind::ProtectedPaths).unwrap_or_default();
    let entries = entries.as_array_mut().map(std::mem::take).unwrap_or_default();
    let anchor = |mut entry: Value| {
        let path = match &mut entry {
            Value::Object(members) => members.get_mut("path"),
            text => Some(text),
        };
        if let Some(Value::String(path)) = path {
            *path = anchored(path, folder).into_owned();
        }
        entry
    };
    entries.into_iter().map(anchor).collect()
}

fn texts(documents: &[Document], part: DocumentKind) -> Vec<String> {
    let found = read_before(documents, part);
    let texts = found.as_ref().and_then(Value::as_array).into_iter().flatten();
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// The names of what a policy counts.
fn counters_of(documents: &[Document]) -> Vec<String> {
    let policy = read_before(documents, DocumentKind::Policy);
    let counters = policy
        .as_ref()
        .and_then(|policy| policy.get("counters")?.as_array());
    let names = counters.into_iter().flatten();
    names
        .filter_map(|counter| counter.get("name")?.as_str().map(str::to_owned))
        .collect()
}
