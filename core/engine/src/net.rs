//! URLs, domains and git remotes (SPEC §3).
//!
//! The string functions ([`normalize_url`], [`extract_git_domain`], …) serve display and compatibility. Judging uses
//! [`Location`] and [`DomainSet`] instead, which read a value in two ways: strictly where a match would grant
//! something, broadly where it would restrict something. URLs are parsed by the `url` crate.

mod domain;
mod file_uri;
mod footprint;
mod git;
mod host;
mod key;
mod location;
mod pattern;
mod remote;
mod target;
mod text;
mod uri;
mod url;

#[cfg(test)]
mod tests;

pub use domain::{DomainSet, PathEnding};
pub use domain::{domain_matches_allowlist, is_ip_address};
pub use file_uri::{file_uri_paths, may_be_file_scheme};
pub use footprint::LocationKind;
pub use git::extract_git_domain;
pub use git::{
    host_length, is_explicit, is_git_url, normalize_git_url, normalize_parsed, resolve_git_remote,
};
pub use host::canonical_domain;
pub use key::Scope;
pub use key::{Key, Scopes};
pub use location::{Location, UrlKind, cost_of_parsing};
pub use pattern::fault as domain_pattern_fault;
pub use text::percent_decode;
pub use uri::{Uri, begins_with_host, file_uri, is_about_blank, other_readings};
pub use url::{extract_domain, normalize_url};
