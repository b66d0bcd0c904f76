//! What writing a policy needs beside the engine: drafts of annotations, JSON Schemas of the documents, scenarios, and reading
//! a call or a frame of MCP from a line of text.

pub mod draft;
mod files;
pub mod lines;
pub mod packs;
pub mod scenario;
pub mod schema;
pub mod start;
