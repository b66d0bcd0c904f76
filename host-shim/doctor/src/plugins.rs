//! The hooks that agents have from their own markets.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_hook::Agent;
use serde_json::Value;
use toml_edit::DocumentMut;

use super::Place;
use super::documents::is_own;
use super::finding::{Finding, Standing};
use super::hooks::{PATIENCE, judged};
use super::running::finished;

/// A plugin that is installed.
struct Plugin {
    agent: &'static str,
    folder: PathBuf,
    /// The file of the user's settings, which its hook protects.
    settings: PathBuf,
    is_enabled: bool,
}

pub(super) fn look(place: &Place) -> Vec<Finding> {
    let gemini = place.home.join(".gemini/extensions/callgate");
    let gemini = gemini.is_dir().then(|| Plugin {
        agent: "gemini-cli",
        folder: gemini,
        settings: place.home.join(".gemini/settings.json"),
        is_enabled: true,
    });
    let plugins = of_claude_code(place).into_iter().chain(gemini);
    let plugins = plugins.chain(of_codex(place)).chain(of_copilot_cli(place));
    plugins.filter_map(|plugin| of_plugin(&plugin, place)).collect()
}

fn of_claude_code(place: &Place) -> Vec<Plugin> {
    let settings = place.home.join(".claude/settings.json");
    let installed = read(&place.home.join(".claude/plugins/installed_plugins.json"));
    let of_project =
        ["settings.json", "settings.local.json"].map(|name| place.project.join(".claude").join(name));
    let enabled: Vec<Value> = of_project
        .iter()
        .chain([&settings])
        .map(|file| read(file))
        .collect();
    let mut plugins = Vec::new();
    for (name, places) in installed["plugins"].as_object().into_iter().flatten() {
        for one in places
            .as_array()
            .into_iter()
            .flatten()
            .filter(|_| name.starts_with("callgate@"))
        {
            plugins.push(Plugin {
                agent: "claude-code",
                folder: PathBuf::from(one["installPath"].as_str().unwrap_or_default()),
                settings: settings.clone(),
                is_enabled: enabled
                    .iter()
                    .any(|settings| settings["enabledPlugins"][name] == true),
            });
        }
    }
    plugins
}

fn of_codex(place: &Place) -> Vec<Plugin> {
    let settings = place.home.join(".codex/config.toml");
    let written: DocumentMut = read_text(&settings).parse().unwrap_or_default();
    let is_enabled = |market: &str| {
        let plugins = written.get("plugins");
        let plugin = plugins.and_then(|plugins| plugins.get(format!("callgate@{market}")));
        plugin.and_then(|plugin| plugin.get("enabled")?.as_bool()) == Some(true)
    };
    let markets = folders(&place.home.join(".codex/plugins/cache"));
    let versions = markets.into_iter().flat_map(|(market, folder)| {
        let versions = folders(&folder.join("callgate")).into_iter();
        versions.map(move |(_, folder)| (market.clone(), folder))
    });
    let plugins = versions.map(|(market, folder)| Plugin {
        agent: "codex",
        folder,
        settings: settings.clone(),
        is_enabled: is_enabled(&market),
    });
    plugins.collect()
}

fn of_copilot_cli(place: &Place) -> Vec<Plugin> {
    let settings = place.home.join(".copilot/settings.json");
    let written = read(&settings);
    let markets = folders(&place.home.join(".copilot/installed-plugins")).into_iter();
    let plugins = markets.map(|(market, folder)| Plugin {
        agent: "copilot-cli",
        folder: folder.join("callgate"),
        settings: settings.clone(),
        is_enabled: written["enabledPlugins"][format!("callgate@{market}")] == true,
    });
    plugins.filter(|plugin| plugin.folder.is_dir()).collect()
}

/// The folders in a folder, each with its name.
fn folders(folder: &Path) -> Vec<(String, PathBuf)> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let found = found.filter(|entry| entry.path().is_dir());
    let named = found.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    let mut named: Vec<(String, PathBuf)> = named.collect();
    named.sort();
    named
}

/// The text of a file, and none of what is not one: a pipe that nobody writes to would hold this up.
fn read_text(file: &Path) -> String {
    match file.is_file() {
        true => fs::read_to_string(file).unwrap_or_default(),
        false => String::new(),
    }
}

fn read(file: &Path) -> Value {
    serde_json::from_str(&read_text(file)).unwrap_or_default()
}

fn of_plugin(plugin: &Plugin, place: &Place) -> Option<Finding> {
    let about = format!("{} ({})", plugin.agent, plugin.folder.display());
    if !plugin.is_enabled {
        let message = "the plugin is installed, and not enabled".to_owned();
        return Some(
            Finding::new(about, Standing::Doubtful, message)
                .helped("enable it in the agent's list of plugins"),
        );
    }
    let script = plugin.folder.join("hook.sh");
    if script.starts_with(&place.project) || !is_own(&script) {
        let message = format!(
            "`{}` is missing, or can be changed by others, and is not started here",
            script.display()
        );
        return Some(Finding::wrong(&about, message).helped("install the plugin again"));
    }
    if place.only_look {
        return None;
    }
    let agent = Agent::named(plugin.agent)?;
    let question = agent.question(
        &plugin.settings.to_string_lossy(),
        &place.project.to_string_lossy(),
    );
    let mut command = Command::new("sh");
    command.arg(&script).arg(plugin.agent).current_dir(&place.project);
    command.envs(
        agent
            .project_variable()
            .map(|variable| (variable, &place.project)),
    );
    Some(match finished(command, question.as_bytes(), PATIENCE) {
        Ok(said) => judged(&about, &said, &plugin.settings),
        Err(error) => Finding::wrong(&about, format!("the hook cannot be run: {error}")),
    })
}
