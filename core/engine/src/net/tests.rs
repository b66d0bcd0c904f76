//! Tests of URLs, domains and remotes together.

// The tables read best as they are laid out.
#[rustfmt::skip]
mod adversarial;
