//! The clock that deadlines and durations are told by.

#[cfg(not(target_family = "wasm"))]
pub use std::time::Instant;
#[cfg(target_family = "wasm")]
pub use still::Instant;

#[cfg(target_family = "wasm")]
mod still {
    use std::ops::Add;
    use std::time::Duration;

    /// A moment of a module that has no clock, where the standard library's would be a trap. Time stands still: nothing took any, and
    /// no deadline comes. Whoever embeds the module keeps the time that a bundle expires at.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant(Duration);

    impl Instant {
        /// The only moment.
        pub fn now() -> Self {
            Self(Duration::ZERO)
        }

        /// No time at all.
        pub fn elapsed(&self) -> Duration {
            Duration::ZERO
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, other: Duration) -> Self {
            Self(self.0.saturating_add(other))
        }
    }
}
