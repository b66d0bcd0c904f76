//! Gates whose engine is a component, with hosts and components that do not do their duty.

mod components;
mod examples;
mod hosts;
mod layers;
mod limits;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use callgate_host::{EngineKind, Gate, GateBuilder};

/// The example's documents, with a sandbox at `/agent`. Nothing is protected: the bundle protects itself, wherever this
/// checkout is.
fn builder(host: impl Host + Send + Sync + 'static) -> GateBuilder {
    let bundle = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/bundle/callgate.json");
    let builder = Gate::builder().engine(EngineKind::Component).bundle(bundle);
    builder
        .part(callgate_engine::config::DocumentKind::Sandbox, r#""/agent""#)
        .part(callgate_engine::config::DocumentKind::ProtectedPaths, "[]")
        .host(Arc::new(host))
}

/// A call that asks its host about the path.
fn read(path: &str) -> String {
    format!(
        r#"{{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {{"path": "{path}"}}}}"#
    )
}

/// A host on whose `realpath` a test decides; of everything else there is nothing.
struct Answering<F>(F);

impl<F: Fn(&str) -> Result<String, RealpathError>> Host for Answering<F> {
    fn home_dir(&self) -> &str {
        "/home/u"
    }

    fn current_dir(&self) -> &str {
        "/agent"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        (self.0)(path).map(Cow::Owned)
    }

    fn git_remote_urls(&self, _: &str, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn git_default_remote_urls(&self, _: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn read_link(&self, _: &str) -> Result<Option<String>, HostError> {
        Ok(None)
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        Ok(Some(false))
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}
