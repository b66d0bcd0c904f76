//! The table as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct File {
    #[serde(rename = "$schema", default)]
    _schema: Option<String>,
    #[serde(default)]
    pub(super) programs: Vec<Entry>,
    #[serde(default)]
    pub(super) variables: Variables,
}

/// Names of variables; `*` at the end stands for the rest of a name.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Variables {
    /// Those that programs may be given.
    #[serde(default)]
    pub(super) harmless: Vec<String>,
    /// Those that decide what runs or what is read, also where only the shell has them.
    #[serde(default)]
    pub(super) influential: Vec<String>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct Entry {
    pub(super) names: Vec<String>,
    pub(super) flags: String,
    pub(super) values: BTreeMap<String, String>,
    pub(super) optional: BTreeMap<String, String>,
    pub(super) operands: Option<String>,
    pub(super) cases: Vec<Case>,
    pub(super) absent: Option<String>,
    pub(super) implied: Option<String>,
    pub(super) tree: bool,
    pub(super) without: Option<String>,
    pub(super) leaves_out: String,
    pub(super) hidden: String,
    pub(super) into: bool,
    pub(super) last: String,
    pub(super) style: Style,
    pub(super) number: bool,
    pub(super) is_harmless: bool,
    pub(super) runs: bool,
    pub(super) input: Option<Input>,
    pub(super) commands: BTreeMap<String, Entry>,
}

/// What is different with one of some options.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub(super) struct Case {
    pub(super) with: String,
    pub(super) and: String,
    pub(super) operands: Option<String>,
    pub(super) values: BTreeMap<String, String>,
    pub(super) absent: Option<String>,
    pub(super) implied: Option<String>,
    pub(super) tree: Option<bool>,
    pub(super) runs: Option<bool>,
}

/// How options are written.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Style {
    #[default]
    Gnu,
    Posix,
    Words,
    Plain,
    Bundle,
}

/// What a program runs of its input.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Input {
    Script,
    Code,
}
