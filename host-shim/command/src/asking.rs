//! A server's list of tools: from a file, or asked of the server.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::mcp::{Server, list_tools};
use crate::terminal::Failure;

/// The list of tools that a command is about.
#[derive(Args)]
pub(crate) struct Asking {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    reach: Reach,
}

/// Where the list of tools is from.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Asked {
    /// A saved answer to `tools/list`: the reply, its `result`, or the array of tools; `-` is standard input
    #[arg(value_name = "TOOLS")]
    list: Option<PathBuf>,
    /// The address of a server that speaks streamable HTTP
    #[arg(long)]
    url: Option<String>,
    /// The command that starts a server
    #[arg(last = true, value_name = "COMMAND")]
    command: Option<Vec<OsString>>,
}

/// A list of tools that a command may be about.
#[derive(Args)]
pub(crate) struct Listing {
    #[command(flatten)]
    listed: Listed,
    #[command(flatten)]
    reach: Reach,
    /// The server that has these tools, by its name in the annotations
    #[arg(long, value_name = "NAME", requires = "Listed")]
    server: Option<String>,
}

#[derive(Args)]
#[group(requires = "server", multiple = false)]
struct Listed {
    /// A saved answer to `tools/list`, to be held against the annotations: the reply, its `result`, or the array of tools
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// The address of a server that speaks streamable HTTP, to be asked for its tools
    #[arg(long)]
    url: Option<String>,
    /// The command that starts a server, to be asked for its tools
    #[arg(last = true, value_name = "COMMAND")]
    command: Option<Vec<OsString>>,
}

/// How a server is asked.
#[derive(Args)]
struct Reach {
    /// The environment variable that holds the bearer token for --url
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    token_env: Option<String>,
    /// How many seconds a server has to answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
}

/// Bytes of the longest list that is read at all.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl Asking {
    /// The list of tools, as text.
    pub(crate) fn tools(&self) -> Result<String, Failure> {
        let Asked { list, url, command } = &self.asked;
        match list {
            Some(path) => read(path),
            None => self.reach.ask(url.as_deref(), command.as_deref()),
        }
    }

    /// The words by which the server is started or reached; none for a list that was saved.
    pub(crate) fn words(&self) -> Vec<String> {
        let command = self.asked.command.iter().flatten();
        let words = command.map(|word| word.to_string_lossy().into_owned());
        words.chain(self.asked.url.clone()).collect()
    }

    /// The list of tools as the server writes it, which a pin is of.
    pub(crate) fn tools_as_written(&self) -> Result<String, Failure> {
        let Asked { list, url, command } = &self.asked;
        match (list, url, command) {
            (Some(path), _, _) => read(path),
            (None, Some(url), _) => self.reach.list_remote(url),
            (None, None, command) => self.reach.list_program(command.as_deref().unwrap_or_default()),
        }
    }
}

impl Listing {
    /// The server's name and the list of its tools, as text; `None` if the command is not about one.
    pub(crate) fn tools(&self) -> Result<Option<(&str, String)>, Failure> {
        let Some(server) = &self.server else {
            return Ok(None);
        };
        let Listed { tools, url, command } = &self.listed;
        let tools = match tools {
            Some(path) => read(path)?,
            None => self.reach.ask(url.as_deref(), command.as_deref())?,
        };
        Ok(Some((server, tools)))
    }
}

impl Reach {
    fn list_program(&self, command: &[OsString]) -> Result<String, Failure> {
        use callgate_guard::{Program, tools_of_program};

        let Some((program, arguments)) = command.split_first() else {
            return Err(Failure::Fault("there is no command after `--`".to_owned()));
        };
        let program = Program {
            command: program.clone(),
            arguments: arguments.to_vec(),
        };
        tools_of_program(&program, self.within()).map_err(|reason| {
            let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
            Failure::Fault(format!("the server `{}` {reason}", words.join(" ")))
        })
    }

    fn list_remote(&self, url: &str) -> Result<String, Failure> {
        use callgate_guard::http::{Remote, tools_of_remote};

        let token = self.token()?.map(|token| format!("Bearer {token}"));
        let headers: Vec<_> = token
            .map(|token| ("authorization".to_owned(), token))
            .into_iter()
            .collect();
        let remote = Remote::new(url, &headers).map_err(|error| Failure::Fault(error.to_string()))?;
        tools_of_remote(remote, self.within())
            .map_err(|reason| Failure::Fault(format!("the server `{url}` {reason}")))
    }

    fn within(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.timeout)
    }

    fn token(&self) -> Result<Option<String>, Failure> {
        let token = self.token_env.as_ref().map(|name| {
            std::env::var(name).map_err(|_| {
                Failure::Fault(format!(
                    "the environment has no variable `{name}`, expected a token"
                ))
            })
        });
        token.transpose()
    }

    fn ask(&self, url: Option<&str>, command: Option<&[OsString]>) -> Result<String, Failure> {
        let server = match url {
            Some(url) => Server::Url {
                url: url.to_owned(),
                token: self.token()?,
            },
            None => Server::Command(command.unwrap_or_default().to_vec()),
        };
        let tools = list_tools(&server, std::time::Duration::from_secs(self.timeout));
        tools
            .map(|tools| tools.to_string())
            .map_err(|error| Failure::Fault(error.to_string()))
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let unread = |error: std::io::Error| Failure::Fault(format!("cannot read `{}`: {error}", path.display()));
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin()
            .take(MOST_BYTES)
            .read_to_string(&mut text)
            .map_err(unread)?;
    } else {
        let file = fs::File::open(path).map_err(unread)?;
        file.take(MOST_BYTES).read_to_string(&mut text).map_err(unread)?;
    }
    Ok(text)
}
