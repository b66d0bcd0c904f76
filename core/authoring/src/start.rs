//! A bundle to begin with: the files that `callgate init` writes, and what it says about them.

mod container;
mod recipe;

use callgate_engine::text::clean;
use serde_json::{Value, json};

use crate::files::START;
use crate::packs::{self, PackError};
pub use recipe::Chosen;

/// What is written, and what there is to say.
pub struct Start {
    /// The files, each with its text.
    pub files: Vec<(&'static str, String)>,
    /// Commands to run in the directory, each with the question that it answers.
    pub next: Vec<(String, &'static str)>,
    /// Servers with a pack.
    pub chosen: Vec<Chosen>,
    /// Servers without one, and what to do about each.
    pub without: Vec<Without>,
}

/// A server without a pack.
pub struct Without {
    /// Its name.
    pub server: String,
    /// Why it has none.
    pub why: String,
    /// The command that drafts annotations for it, to be run where this one was.
    pub run: Option<String>,
}

/// A server of an agent's configuration.
pub struct Configured {
    /// Its name.
    pub name: String,
    /// How it is spoken to, or why that cannot be told.
    pub how: Result<How, String>,
}

/// How a server is spoken to.
pub enum How {
    /// It is started as a program, with these arguments.
    Program(Vec<String>),
    /// It has an address.
    Url(String),
}

const EXPLAIN: &str = r#"callgate explain '{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {"path": "~/.ssh/config"}}'"#;

impl Start {
    /// For the servers that `packs` names, `PACK` or `SERVER=PACK`, and for those of a configuration; for any project if there are
    /// neither. `bundle` is the path that the bundle gets.
    ///
    /// # Errors
    /// When there is no such pack, or a bundle cannot have a server of that name.
    pub fn new(packs: &[String], configured: Vec<Configured>, bundle: &str) -> Result<Self, PackError> {
        let mut chosen = Vec::new();
        for one in packs {
            let (server, pack) = one.split_once('=').unwrap_or((one, one));
            let pack = packs::find(pack)?;
            if let Some(why) = recipe::unsuitable(server, pack, &chosen)? {
                return Err(PackError::new(format!("the server `{}`: {why}", clean(server))));
            }
            chosen.push(Chosen {
                server: server.to_owned(),
                pack,
                mounts: Vec::new(),
            });
        }
        let without = choose(configured, &mut chosen, bundle)?;
        let is_for_any_project = chosen.is_empty() && without.is_empty();
        let question = |command: &str, what| (command.to_owned(), what);
        let mut next = vec![
            question("callgate validate", "are the documents right?"),
            question("callgate test", "do they decide what they should?"),
        ];
        let files = if is_for_any_project {
            next.push(question(
                "callgate eval calls.jsonl",
                "what becomes of some calls?",
            ));
            next.push(question(EXPLAIN, "why?"));
            START.map(|(name, text)| (name, text.to_owned())).into()
        } else {
            next.retain(|(command, _)| !chosen.is_empty() || command != "callgate test");
            next.push(question("callgate map", "what may each tool do?"));
            let mut files = vec![
                (recipe::BUNDLE_FILE, recipe::bundle(&chosen)?),
                (recipe::ANNOTATIONS_FILE, recipe::annotations(&chosen)?),
            ];
            if !chosen.is_empty() {
                files.push((recipe::SCENARIOS_FILE, recipe::scenarios(&chosen)?));
            }
            files
        };
        Ok(Self {
            files,
            next,
            chosen,
            without,
        })
    }

    /// The answer for a program, once the files are written to these paths.
    ///
    /// # Errors
    /// Those of [`Pack::about`](packs::Pack::about).
    pub fn report(&self, files: &[String]) -> Result<Value, PackError> {
        let folder = files.first().and_then(|file| file.rsplit_once('/'));
        let folder = folder.map(|(folder, _)| folder).filter(|folder| *folder != ".");
        let mut next: Vec<String> = folder
            .map(|folder| format!("cd {}", quoted(folder)))
            .into_iter()
            .collect();
        next.extend(self.next.iter().map(|(command, _)| command.clone()));
        let mut answer = json!({"written": files, "next": next});
        if !self.chosen.is_empty() || !self.without.is_empty() {
            let mut servers = Vec::new();
            for Chosen { server, pack, .. } in &self.chosen {
                let about = pack.about()?;
                servers.push(json!({"server": server, "pack": pack.name, "recorded": about.recorded}));
            }
            let without = self.without.iter();
            servers.extend(without.map(|one| json!({"server": one.server, "why": one.why, "run": one.run})));
            if let Some(answer) = answer.as_object_mut() {
                answer.insert("servers".to_owned(), servers.into());
            }
        }
        Ok(answer)
    }
}

/// Adds the servers of a configuration that have a pack, and returns those that have none.
fn choose(
    configured: Vec<Configured>,
    chosen: &mut Vec<Chosen>,
    bundle: &str,
) -> Result<Vec<Without>, PackError> {
    let mut without = Vec::new();
    for Configured { name: server, how } in configured {
        let mut mounts = Vec::new();
        let (pack, asked) = match how {
            Err(why) => {
                without.push(Without {
                    server,
                    why,
                    run: None,
                });
                continue;
            }
            Ok(How::Program(words)) => {
                mounts = container::mounts(&words);
                let pack = packs::recognize(words.iter().map(String::as_str))?;
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                (pack, format!("-- {}", words.join(" ")))
            }
            Ok(How::Url(url)) => (packs::recognize([&*url])?, format!("--url {}", quoted(&url))),
        };
        if let Some(pack) = pack {
            // Several projects may have the same server.
            if chosen
                .iter()
                .any(|one| one.server == server && one.pack.name == pack.name)
            {
                continue;
            }
            if let Some(why) = recipe::unsuitable(&server, pack, chosen)? {
                without.push(Without {
                    server,
                    why,
                    run: None,
                });
                continue;
            }
            chosen.push(Chosen { server, pack, mounts });
            continue;
        }
        let run = format!(
            "callgate annotate --server {} --into {} {asked}",
            quoted(&server),
            quoted(bundle)
        );
        without.push(Without {
            server,
            why: "there is no pack for it".to_owned(),
            run: Some(run),
        });
    }
    Ok(without)
}

/// A word as a shell reads it. Variables of the environment, as agents write them, stay variables.
pub fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || "/._-+~@:=,%".contains(one);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    with_variables(word).unwrap_or_else(|| format!("'{}'", word.replace('\'', "'\\''")))
}

/// A word with `${NAME}` or `${env:NAME}`, within double quotes; `None` if it has none, or what else a shell reads there.
fn with_variables(word: &str) -> Option<String> {
    let mut parts = word.split("${");
    let mut text = parts.next()?.to_owned();
    let mut has_any = false;
    for part in parts {
        let (name, rest) = part.split_once('}')?;
        let name = name.strip_prefix("env:").unwrap_or(name);
        let is_name = |one: char| one.is_ascii_alphanumeric() || one == '_';
        if name.is_empty() || !name.chars().all(is_name) || name == "workspaceFolder" {
            return None;
        }
        text += &format!("${{{name}}}{rest}");
        has_any = true;
    }
    let is_safe = !word.replace("${", "").contains(['"', '$', '`', '\\', '!']);
    (has_any && is_safe).then(|| format!("\"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_word_to_a_shell() {
        for (word, expected) in [
            ("--read-only", "--read-only"),
            ("my server.js", "'my server.js'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("--key=${KEY}", "\"--key=${KEY}\""),
            ("${env:KEY} x", "\"${KEY} x\""),
            ("${input:key}", "'${input:key}'"),
            ("${workspaceFolder}/a", "'${workspaceFolder}/a'"),
            ("${KEY}$(rm -r .)", "'${KEY}$(rm -r .)'"),
            ("${KEY}`id`", "'${KEY}`id`'"),
            ("${A", "'${A'"),
        ] {
            assert_eq!(quoted(word), expected, "{word}");
        }
    }
}
