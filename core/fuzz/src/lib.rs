//! A host, an engine and a disk for the fuzz targets.

pub mod disk;

use std::borrow::Cow;

use callgate_engine::config::DocumentKind;
use callgate_engine::document::DocumentSource;
use callgate_engine::engine::Engine;
use callgate_engine::host::{GitIgnore, Host, HostError, RealpathError};
use serde_json::json;

/// Answers every question by a digest of the path or name, so that a fuzzer reaches every kind of answer.
pub struct Guessing;

impl Guessing {
    fn digest(text: &str) -> u32 {
        text.bytes().fold(17, |digest, byte| {
            digest.wrapping_mul(31).wrapping_add(u32::from(byte))
        })
    }
}

impl Host for Guessing {
    fn home_dir(&self) -> &str {
        "/home/agent"
    }

    fn current_dir(&self) -> &str {
        "/srv"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }

    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, RealpathError> {
        match path {
            "/" | "/srv" | "/home" | "/home/agent" | "/srv/project" => return Ok(path.into()),
            _ => {}
        }
        match Self::digest(path) % 11 {
            0..5 => Ok(path.into()),
            5..7 => Err(RealpathError::NotFound),
            7 => Ok("/home/agent/.ssh/id_rsa".into()),
            8 => Err(RealpathError::Denied),
            9 => Err(RealpathError::Loop),
            _ => Ok(format!("not absolute: {path}").into()),
        }
    }

    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        Ok(match Self::digest(path) % 7 {
            0 => Some("../elsewhere".to_owned()),
            1 => Some(path.to_owned()),
            _ => None,
        })
    }

    fn git_remote_urls(&self, repository: &str, remote: &str) -> Result<Vec<String>, HostError> {
        match Self::digest(repository) % 4 {
            0 => Err(HostError::new("the repository cannot be read")),
            1 => Ok(Vec::new()),
            _ => Ok(vec![
                "https://github.com/acme/kit.git".to_owned(),
                remote.to_owned(),
            ]),
        }
    }

    fn git_default_remote_urls(&self, repository: &str) -> Result<Vec<String>, HostError> {
        self.git_remote_urls(repository, "git@github.com:acme/kit")
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

/// An engine with every kind of role, condition and structural setting; every tool is `tool`.
pub fn engine() -> Engine {
    let policy = json!({
        "generatedAt": "", "constitutionHash": "", "inputHash": "",
        "rules": [
            rule("hosts", json!({"domains": {"roles": ["fetch-url", "git-remote-url"], "allowed": ["*.example.com", "github.com/acme/kit"]}}), "allow"),
            rule("evil", json!({"domains": {"roles": ["fetch-url"], "allowed": ["evil.example.com"]}}), "deny"),
            rule("read", json!({"paths": {"roles": ["read-path"], "within": "~/docs"}}), "allow"),
            rule("remove", json!({"paths": {"roles": ["delete-path"], "within": "/srv"}}), "escalate"),
            rule("owners", json!({"lists": [{"roles": ["github-owner"], "allowed": ["acme"], "matchType": "identifiers"}]}), "allow"),
            rule("mails", json!({"lists": [{"roles": ["email-address"], "allowed": ["a@example.com"], "matchType": "emails"}]}), "escalate"),
        ],
    });
    let roles = json!({
        "path": ["read-path"], "paths": ["read-path", "write-path"], "gone": ["delete-path"], "url": ["fetch-url"],
        "remote": ["git-remote-url"], "owner": ["github-owner"], "to": ["email-address"], "branch": ["branch-name"],
        "/edits/*/path": ["write-path"],
        "mode": {"default": ["read-path"], "when": [{"condition": {"arg": "kind", "is": "truthy"}, "roles": ["none"]}]},
    });
    let server = |name: &str| json!({"inputHash": "", "tools": [{"toolName": "tool", "serverName": name, "comment": "", "args": roles}]});
    let annotations = json!({
        "generatedAt": "",
        "servers": {"filesystem": server("filesystem"), "git": server("git"), "fetch": server("fetch")},
    });
    Engine::builder()
        .part(DocumentKind::Policy, DocumentSource::Value(&policy))
        .part(DocumentKind::Annotations, DocumentSource::Value(&annotations))
        .part(
            DocumentKind::ProtectedPaths,
            DocumentSource::Value(&json!(["~/.ssh"])),
        )
        .part(
            DocumentKind::Sandbox,
            DocumentSource::Value(&json!("/srv/project")),
        )
        .part(
            DocumentKind::DomainAllowlists,
            DocumentSource::Value(&json!({"fetch": ["*"], "git": ["github.com"]})),
        )
        .build(&Guessing)
        .unwrap_or_else(|error| panic!("the documents are those of the fuzz targets: {error}"))
}

fn rule(name: &str, condition: serde_json::Value, then: &str) -> serde_json::Value {
    json!({"name": name, "description": "", "principle": "", "if": condition, "then": then, "reason": name})
}
