//! Replaying case files against an engine under test.
