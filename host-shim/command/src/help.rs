//! `callgate help`: subcommands, and the reference pages.

use callgate_core::docs;
use callgate_engine::document::did_you_mean;
use clap::{Args, Command};

use crate::terminal::rendered;
use crate::terminal::{Exit, Failure, Out};

/// Explain a subcommand or a topic; without one, list them
///
/// Topics are the pages of the reference. Where the answer is not for a terminal a page is written as Markdown.
#[derive(Args)]
pub(crate) struct Help {
    /// A subcommand such as eval, or a topic such as policy
    topic: Option<String>,
}

/// The topics, for the end of the help.
pub(crate) fn topics() -> String {
    let widest = docs::PAGES
        .iter()
        .map(|page| page.topic.len())
        .max()
        .unwrap_or_default();
    let mut listed = "Topics (callgate help TOPIC):".to_owned();
    for page in docs::PAGES {
        listed.push_str(&format!("\n  {:<widest$}  {}", page.topic, page.summary));
    }
    listed
}

/// The subcommands, by what a person wants. Each is in one group.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Judge", &["eval", "explain", "resolve", "enforce"]),
    (
        "Write",
        &[
            "init",
            "annotate",
            "suggest",
            "validate",
            "lint",
            "test",
            "check",
            "map",
            "diff",
            "tools",
            "intersect",
            "schema",
        ],
    ),
    #[cfg(not(feature = "serve"))]
    ("Guard", &["guard", "wrap", "hook", "pin", "approvals", "doctor"]),
    #[cfg(feature = "serve")]
    (
        "Guard",
        &["guard", "serve", "wrap", "hook", "pin", "approvals", "doctor"],
    ),
    ("Roll out", &["bundle"]),
    ("Look back", &["audit", "replay"]),
    ("Help", &["help", "completions"]),
];

/// The command whose help has its subcommands in groups.
pub(crate) fn grouped(command: Command) -> Command {
    let header = command.get_styles().get_header().to_owned();
    let name = command.get_styles().get_literal().to_owned();
    let mut groups = String::new();
    for (group, commands) in GROUPS {
        groups.push_str(&format!("\n{header}{group}:{header:#}\n"));
        for command in commands.iter().filter_map(|one| command.find_subcommand(one)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            groups.push_str(&format!(
                "  {name}{:<WIDEST$}{name:#}  {about}\n",
                command.get_name()
            ));
        }
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

/// Columns of the longest name of a subcommand.
const WIDEST: usize = 11;

impl Help {
    pub(crate) fn run(&self, mut command: Command, out: &mut Out) -> Result<Exit, Failure> {
        command.build();
        let Some(topic) = &self.topic else {
            out.text(&styled(&mut command, out))?;
            return Ok(Exit::Allow);
        };
        if let Some(page) = docs::page(topic) {
            out.text(&if out.human {
                rendered(page.text)
            } else {
                page.text.to_owned()
            })?;
            return Ok(Exit::Allow);
        }
        if let Some(found) = command.find_subcommand_mut(topic) {
            let text = styled(found, out);
            out.text(&text)?;
            return Ok(Exit::Allow);
        }
        let commands = command.get_subcommands().map(Command::get_name);
        let pages = docs::PAGES.iter().map(|page| page.topic);
        let near = did_you_mean(topic, commands.chain(pages));
        Err(Failure::Helped {
            message: format!("there is no subcommand and no topic `{topic}`"),
            help: near.unwrap_or_else(|| "`callgate help` lists them".to_owned()),
        })
    }
}

fn styled(command: &mut Command, out: &Out) -> String {
    let text = command.render_long_help();
    if out.human {
        text.ansi().to_string()
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subcommand_is_in_one_group() {
        let command = crate::command();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        let mut known: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, commands)| *commands)
            .copied()
            .collect();
        assert!(grouped.iter().all(|name| name.len() <= WIDEST));
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }
}
