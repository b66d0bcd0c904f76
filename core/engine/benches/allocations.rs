//! The allocations of a verdict, for the calls of `verdicts`. Counting takes time, so the times here are too long.

use divan::AllocProfiler;

#[path = "verdicts.rs"]
mod verdicts;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    verdicts::main();
}
