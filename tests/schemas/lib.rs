//! The tests of this crate hold the JSON Schemas of the documents against their readers.

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::Value;

/// A JSON Schema that documents are held against.
pub struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    /// # Panics
    /// If it is not a schema.
    #[must_use]
    pub fn new(schema: Value) -> Self {
        const NAME: &str = "schema.json";
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        let mut schemas = Schemas::new();
        let added = compiler.add_resource(NAME, schema);
        added.unwrap_or_else(|error| panic!("{error:#}"));
        let index = compiler.compile(NAME, &mut schemas);
        Self {
            index: index.unwrap_or_else(|error| panic!("{error:#}")),
            schemas,
        }
    }

    /// What the schema says against the document, and where.
    #[must_use]
    pub fn fault(&self, document: &Value) -> Option<String> {
        let error = self.schemas.validate(document, self.index).err()?;
        Some(format!("{error:#}"))
    }
}
