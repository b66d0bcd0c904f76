//! A call's verdict is that of the regions that it lies in, over arbitrary policies and calls.

mod arbitrary;
mod calls;
mod changes;
mod denied;
mod covering;
mod division;
