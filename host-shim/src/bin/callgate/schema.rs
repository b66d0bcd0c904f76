//! `callgate schema`: the JSON Schemas of the documents.

use std::fs;
use std::path::PathBuf;

use callgate_core::Schema;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use crate::output::{Exit, Failure, Out};

/// Print the JSON Schema of a document, for an editor: "$schema" at its top may name the file
#[derive(Args)]
pub(crate) struct SchemaOf {
    /// The document
    #[arg(value_name = "DOCUMENT", value_parser = names().try_map(parse), required_unless_present = "write")]
    document: Option<Schema>,
    /// Write the schemas of all documents into this directory, each as DOCUMENT.json
    #[arg(long, value_name = "DIR", conflicts_with = "document")]
    write: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(Schema::ALL.iter().map(|schema| schema.as_str()))
}

fn parse(name: String) -> Result<Schema, String> {
    Schema::parse(&name).ok_or(name)
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
            for schema in Schema::ALL {
                let path = folder.join(format!("{schema}.json"));
                let text = format!("{:#}\n", schema.to_json());
                fs::write(&path, text).map_err(|error| fault(&path, error))?;
            }
        }
        Ok(Exit::Allow)
    }
}
