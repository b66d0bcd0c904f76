//! A call's verdict is that of the regions that it lies in, over arbitrary policies and calls.

mod arbitrary;
mod calls;
mod changes;
mod covering;
mod denied;
mod division;
mod edits;
mod lint;
mod mistakes;
mod options;
mod places;
mod representatives;
mod statements;
mod suggest;
mod watching;
