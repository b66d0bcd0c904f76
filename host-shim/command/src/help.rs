//! `callgate help`: subcommands, and the reference pages.

use callgate_core::docs;
use callgate_engine::document::did_you_mean;
use clap::{Args, Command};

use crate::output::{Exit, Failure, Out};
use crate::page::rendered;

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
