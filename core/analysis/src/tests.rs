//! A call's verdict is that of the regions that it lies in, over arbitrary policies and calls.

mod arbitrary;
mod calls;
mod changes;
mod combined;
mod contexts;
mod covering;
mod denied;
mod division;
mod edited;
mod edits;
mod layered;
mod lint;
mod mistakes;
mod options;
mod places;
mod plain;
mod properties;
mod representatives;
mod statements;
mod subject;
mod suggest;
mod watching;
mod worlds;
