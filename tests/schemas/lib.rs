//! The tests of this crate hold the JSON Schemas of the documents against their readers.
