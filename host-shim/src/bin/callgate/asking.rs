//! A server's list of tools: from a file, or asked of the server.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::output::Failure;

/// How a server is asked.
#[derive(Args)]
pub(crate) struct Asking {
    #[command(flatten)]
    asked: Asked,
    /// The environment variable that holds the bearer token for --url
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    token_env: Option<String>,
    /// How many seconds a server has to answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
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

/// Bytes of the longest list that is read at all.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl Asking {
    /// The list of tools, as text.
    pub(crate) fn tools(&self) -> Result<String, Failure> {
        if let Some(path) = &self.asked.list {
            return read(path);
        }
        self.ask()
    }

    #[cfg(feature = "mcp")]
    fn ask(&self) -> Result<String, Failure> {
        use callgate_host::mcp::{Server, list_tools};

        let token = self.token_env.as_ref().map(|name| {
            std::env::var(name).map_err(|_| {
                Failure::Fault(format!(
                    "the environment has no variable `{name}`, expected a token"
                ))
            })
        });
        let server = match (&self.asked.url, &self.asked.command) {
            (Some(url), _) => Server::Url {
                url: url.clone(),
                token: token.transpose()?,
            },
            (None, command) => Server::Command(command.clone().unwrap_or_default()),
        };
        let tools = list_tools(&server, std::time::Duration::from_secs(self.timeout));
        tools
            .map(|tools| tools.to_string())
            .map_err(|error| Failure::Fault(error.to_string()))
    }

    #[cfg(not(feature = "mcp"))]
    fn ask(&self) -> Result<String, Failure> {
        let _ = (
            &self.asked.url,
            &self.asked.command,
            &self.token_env,
            self.timeout,
        );
        Err(Failure::Fault(
            "this build cannot ask servers, expected a file with the server's answer to `tools/list` (the feature `mcp` asks)".to_owned(),
        ))
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
