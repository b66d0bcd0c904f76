//! `callgate schema`: the JSON Schemas of the documents.

use std::fs;
use std::path::PathBuf;

use callgate_authoring::schema::Schema;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use serde_json::Value;

use crate::terminal::{Exit, Failure, Out};

/// Print the JSON Schema of a document, for an editor: "$schema" at its top may name the file
///
/// `audit` is the schema of a line of the log that `callgate guard --audit` writes.
#[derive(Args)]
pub(crate) struct SchemaOf {
    /// The document
    #[arg(value_name = "DOCUMENT", value_parser = names().try_map(parse), required_unless_present = "write")]
    document: Option<Known>,
    /// Write the schemas of all documents into this directory, each as DOCUMENT.json
    #[arg(long, value_name = "DIR", conflicts_with = "document")]
    write: Option<PathBuf>,
}

/// The things that have a schema: the documents, and the lines that the guard writes.
#[derive(Clone, Copy)]
enum Known {
    Document(Schema),
    Audit,
}

impl Known {
    fn all() -> impl Iterator<Item = Self> {
        let documents = Schema::ALL.iter().copied().map(Self::Document);
        documents.chain([Self::Audit])
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Document(schema) => schema.as_str(),
            Self::Audit => "audit",
        }
    }

    fn to_json(self) -> Value {
        match self {
            Self::Document(schema) => schema.to_json(),
            Self::Audit => callgate_guard::line_schema(),
        }
    }
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(Known::all().map(Known::as_str))
}

fn parse(name: String) -> Result<Known, String> {
    Known::all().find(|known| known.as_str() == name).ok_or(name)
}

impl SchemaOf {
    pub(crate) fn run(&self, out: &mut Out) -> Result<Exit, Failure> {
        if let Some(schema) = self.document {
            out.line(&format!("{:#}", schema.to_json()))?;
        }
        if let Some(folder) = &self.write {
            let fault = |path: &PathBuf, error: std::io::Error| {
                Failure::Fault(format!("cannot write `{}`: {error}", path.display()))
            };
            fs::create_dir_all(folder).map_err(|error| fault(folder, error))?;
            for schema in Known::all() {
                let path = folder.join(format!("{}.json", schema.as_str()));
                let text = format!("{:#}\n", schema.to_json());
                fs::write(&path, text).map_err(|error| fault(&path, error))?;
            }
        }
        Ok(Exit::Allow)
    }
}
