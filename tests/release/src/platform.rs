//! The platforms that programs are built for, by the names that each packager has for them.

/// A processor, under Linux. A static program runs with any C library, so there is one for each.
pub(crate) struct Platform {
    /// The compiler's name and Python's.
    pub(crate) arch: &'static str,
    /// Node's.
    pub(crate) node: &'static str,
    /// Debian's, and that of images.
    pub(crate) debian: &'static str,
}

pub(crate) const PLATFORMS: [Platform; 2] = [
    Platform {
        arch: "x86_64",
        node: "x64",
        debian: "amd64",
    },
    Platform {
        arch: "aarch64",
        node: "arm64",
        debian: "arm64",
    },
];

/// A system for which types are checked.
pub(crate) const CHECKED: &str = "aarch64-apple-darwin";

impl Platform {
    /// The compiler's target: the C library is linked into the program.
    pub(crate) fn triple(&self) -> String {
        format!("{}-unknown-linux-musl", self.arch)
    }

    /// The same for what is loaded into a program that has a C library.
    pub(crate) fn module_triple(&self) -> String {
        format!("{}-unknown-linux-gnu", self.arch)
    }
}

/// The platform whose programs run on this machine.
pub(crate) fn of_this_machine() -> Option<&'static Platform> {
    let is_own = |platform: &&Platform| cfg!(target_os = "linux") && platform.arch == std::env::consts::ARCH;
    PLATFORMS.iter().find(is_own)
}
