//! `cargo release`: builds every artifact that people install, into `target/release-artifacts`.
//!
//! An artifact depends on the sources, the lock files and the compiler alone: archives have no time and no owner, and programs no
//! path of this machine. `SHA256SUMS` therefore says the same after every build, wherever the checkout is.

mod archive;
mod binary;
mod deb;
mod formula;
mod image;
mod npm;
mod pages;
mod platform;
mod sbom;
mod tools;
mod wheel;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use archive::Entry;
use binary::{Binary, Profile};
use platform::{CHECKED, PLATFORMS};
use sha2::{Digest as _, Sha256};

const USAGE: &str = "\
Usage: cargo release [--here] [--draft] [--tag TAG]
  --here   for the processor of this machine alone
  --draft  hardly optimized: artifacts to test, not to publish
  --tag    nothing is built unless this is the tag of the version, such as `v0.1.0`";

/// The address of the sources, from the one place that has it.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The version of everything.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A sentence for every catalogue.
const SUMMARY: &str = "Policy decision point for AI-agent tool calls: allow, escalate or deny";

/// The licence, as SPDX writes it.
const LICENSE: &str = env!("CARGO_PKG_LICENSE");

/// A file that people get.
struct Artifact {
    name: String,
    bytes: Vec<u8>,
}

/// The folders that this program reads and writes.
struct Folders {
    /// The checkout.
    root: PathBuf,
    /// Cargo's folder for what it builds.
    target: PathBuf,
}

fn main() -> ExitCode {
    let mut profile = Profile::Dist;
    let mut is_here = false;
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let wrong = match argument.as_str() {
            "--here" => {
                is_here = true;
                continue;
            }
            "--draft" => {
                profile = Profile::Draft;
                continue;
            }
            "--tag" => match arguments.next() {
                Some(tag) if tag == format!("v{VERSION}") => continue,
                tag => format!(
                    "found the tag `{}`, expected `v{VERSION}`",
                    tag.unwrap_or_default()
                ),
            },
            _ => format!("unexpected argument `{argument}`"),
        };
        eprintln!("error: {wrong}\n\n{USAGE}");
        return ExitCode::FAILURE;
    }
    match release(is_here, profile) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn release(is_here: bool, profile: Profile) -> Result<(), String> {
    let folders = Folders::of_this_program()?;
    let begin = Instant::now();
    let own = platform::of_this_machine()
        .ok_or("the programs are for Linux on x86_64 and aarch64, so build them there")?;
    let platforms: Vec<_> = PLATFORMS
        .iter()
        .filter(|platform| !is_here || platform.arch == own.arch)
        .collect();
    let mut triples: Vec<String> = platforms.iter().map(|platform| platform.triple()).collect();
    triples.extend(platforms.iter().map(|platform| platform.module_triple()));
    triples.extend((!is_here).then(|| CHECKED.to_owned()));
    let zig = tools::install(&folders, &triples)?;
    if !is_here {
        binary::check(&folders, &zig, CHECKED)?;
        println!("types are checked for {CHECKED}");
    }
    let mut binaries = Vec::new();
    let mut modules = Vec::new();
    for platform in platforms {
        binaries.push(binary::build(&folders, &zig, platform, profile)?);
        modules.push((platform, binary::module(&folders, &zig, platform, profile)?));
    }
    let runs_here = binaries
        .iter()
        .find(|binary| binary.platform.arch == own.arch)
        .ok_or("no program runs here")?;
    let pages = pages::of(&folders, runs_here)?;
    let licenses = licenses(&folders)?;
    let sbom = sbom::of(&folders)?;

    let mut artifacts = Vec::new();
    for binary in &binaries {
        artifacts.push(tarball(binary, &pages, &licenses)?);
        artifacts.push(deb::of(binary, &pages, &licenses)?);
        artifacts.push(npm::platform_package(binary, &licenses)?);
        artifacts.push(wheel::of(&folders, binary, &licenses, &sbom)?);
    }
    for (platform, module) in modules {
        artifacts.push(wheel::of_module(&folders, platform, module, &licenses, &sbom)?);
    }
    artifacts.push(npm::package(&folders)?);
    artifacts.push(image::of(&binaries)?);
    artifacts.push(Artifact {
        name: format!("callgate-{VERSION}.proxy.wasm"),
        bytes: read(&folders.root.join("wasm/dist/callgate.proxy.wasm"))?,
    });
    artifacts.push(formula::of(&artifacts));
    artifacts.push(Artifact {
        name: format!("callgate-{VERSION}.cdx.json"),
        bytes: sbom,
    });
    artifacts.sort_by(|one, other| one.name.cmp(&other.name));
    let sizes = table(&artifacts, &binaries);
    print!("{sizes}");
    artifacts.push(Artifact {
        name: "SIZES.txt".to_owned(),
        bytes: sizes.into_bytes(),
    });
    write(&folders.target.join("release-artifacts"), &artifacts)?;
    for Binary {
        platform, seconds, ..
    } in &binaries
    {
        println!("the program for {} took {seconds} s", platform.arch);
    }
    println!("all artifacts together: {} s", begin.elapsed().as_secs());
    Ok(())
}

/// The tarball that `cargo binstall` and people download.
fn tarball(binary: &Binary, pages: &[Entry], licenses: &[Entry]) -> Result<Artifact, String> {
    let folder = format!("callgate-v{VERSION}-{}", binary.platform.triple());
    let mut entries = vec![Entry::program("callgate", binary.bytes.clone())];
    entries.extend_from_slice(licenses);
    entries.extend_from_slice(pages);
    let entries: Vec<Entry> = entries.into_iter().map(|entry| entry.within(&folder)).collect();
    Ok(Artifact {
        name: format!("{folder}.tgz"),
        bytes: archive::tgz(&entries)?,
    })
}

fn licenses(folders: &Folders) -> Result<Vec<Entry>, String> {
    let names = ["LICENSE-APACHE", "LICENSE-MIT"];
    names
        .into_iter()
        .map(|name| Ok(Entry::file(name, read(&folders.root.join(name))?)))
        .collect()
}

/// Writes the artifacts, and their digests, into a folder that has nothing else.
fn write(folder: &Path, artifacts: &[Artifact]) -> Result<(), String> {
    let failed = |error| format!("`{}` cannot be written: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)?;
    let mut sums = String::new();
    for Artifact { name, bytes } in artifacts {
        fs::write(folder.join(name), bytes).map_err(failed)?;
        let _ = writeln!(sums, "{}  {name}", digest(bytes));
    }
    fs::write(folder.join("SHA256SUMS"), sums).map_err(failed)
}

/// The sizes of the artifacts and of the programs in them, in bytes.
fn table(artifacts: &[Artifact], binaries: &[Binary]) -> String {
    let mut text = String::new();
    for Binary { platform, bytes, .. } in binaries {
        let _ = writeln!(text, "{:>11} the program for {}", bytes.len(), platform.arch);
    }
    for Artifact { name, bytes } in artifacts {
        let _ = writeln!(text, "{:>11} {name}", bytes.len());
    }
    text
}

impl Folders {
    fn of_this_program() -> Result<Self, String> {
        let program = env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
        let target = program
            .ancestors()
            .nth(2)
            .ok_or("this program does not lie in cargo's folder")?;
        Ok(Self {
            root: Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../..")
                .canonicalize()
                .map_err(|error| error.to_string())?,
            target: target.to_owned(),
        })
    }
}

/// SHA-256, in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))
}

/// Runs a command, and returns what it writes. What it says on standard error is shown.
fn run(command: &mut Command) -> Result<Vec<u8>, String> {
    let shown = format!("{command:?}");
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{shown} cannot be started: {error}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{shown} ended with {}", output.status)),
    }
}
