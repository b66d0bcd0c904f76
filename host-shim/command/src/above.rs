//! The layers above a bundle: an organisation's bundle over a user's over a project's.

use std::path::{Path, PathBuf};

use callgate_engine::host::Host;
use callgate_host::{Gate, LayerEngine};
use clap::Args;

use crate::folder::in_folder;
use crate::signed::{self, Pinned, bundle_name};
use crate::terminal::Failure;

/// The bundles above, and whose are used.
#[derive(Args, Clone)]
pub(crate) struct Above {
    /// A bundle that stands above: every call is judged by it too, and the strictest verdict stands. May be repeated, the uppermost
    /// first. A file, a folder or an address, as --bundle takes them
    #[arg(long = ABOVE, value_name = "FILE", help_heading = "Documents")]
    bundles: Vec<PathBuf>,
    /// Use the bundles above only if they are signed, by a key whose public half is in this file; may be repeated: by any of them
    #[arg(long = ABOVE_KEY, value_name = "FILE", requires = "bundles", help_heading = "Documents")]
    above_keys: Vec<PathBuf>,
    /// Use a signed bundle above only if it has this name; repeated as often as --above, in the same order
    #[arg(
        long = ABOVE_NAME,
        value_name = "NAME",
        requires = "above_keys", value_parser = bundle_name,
        help_heading = "Documents"
    )]
    above_names: Vec<String>,
}

const ABOVE: &str = "above";
const ABOVE_KEY: &str = "above-key";
const ABOVE_NAME: &str = "above-name";

/// A bundle above, and whose signature counts.
pub(crate) struct Upper {
    pub(crate) bundle: PathBuf,
    pub(crate) pinned: Pinned,
}

impl Above {
    pub(crate) fn is_empty(&self) -> bool {
        self.bundles.is_empty()
    }

    /// The layers, the uppermost first. A bundle at an address is asked for every so many seconds.
    pub(crate) fn layers(&self, refresh: u64) -> Result<Vec<Upper>, Failure> {
        if !self.above_names.is_empty() && self.above_names.len() != self.bundles.len() {
            return Err(Failure::Fault(format!(
                "--{ABOVE_NAME} is given {} times, expected once for each --{ABOVE}: {}",
                self.above_names.len(),
                self.bundles.len()
            )));
        }
        let layers = self.bundles.iter().enumerate().map(|(at, bundle)| {
            let bundle = match signed::address(bundle) {
                Some(_) => bundle.clone(),
                None => in_folder(bundle)?,
            };
            let name = self.above_names.get(at).cloned();
            let pinned = Pinned::new(self.above_keys.clone(), name, refresh);
            Ok(Upper { bundle, pinned })
        });
        layers.collect()
    }

    /// The files that are named: bundles and keys.
    pub(crate) fn named(&self) -> impl Iterator<Item = &PathBuf> {
        self.bundles.iter().chain(&self.above_keys)
    }

    /// The flags that say the same, with the names that files and addresses have where they are written.
    pub(crate) fn flags(
        &self,
        named: impl Fn(&Path) -> Result<String, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let mut flags = Vec::new();
        for Upper { bundle, .. } in self.layers(0)? {
            flags.extend([format!("--{ABOVE}"), named(&bundle)?]);
        }
        for key in &self.above_keys {
            flags.extend([format!("--{ABOVE_KEY}"), named(key)?]);
        }
        for name in &self.above_names {
            flags.extend([format!("--{ABOVE_NAME}"), name.clone()]);
        }
        Ok(flags)
    }
}

impl Upper {
    /// The file of the bundle, where the last good one of an address is.
    pub(crate) fn file(&self) -> Result<PathBuf, Failure> {
        let remote = self.pinned.remote(&self.bundle)?;
        Ok(remote.map_or_else(|| self.bundle.clone(), |remote| remote.file().to_owned()))
    }
}

/// Layers as engines of this process.
pub(crate) struct Layers {
    above: Vec<LayerEngine>,
    pub(crate) lowest: LayerEngine,
}

impl Layers {
    pub(crate) fn of(gate: &Gate, host: &dyn Host) -> Result<Self, Failure> {
        let layers = gate.compile_layers(host);
        let mut above = layers.map_err(|error| Failure::Invalid(error.to_string()))?;
        match above.pop() {
            Some(lowest) => Ok(Self { above, lowest }),
            None => Err(Failure::Fault("there is no bundle".to_owned())),
        }
    }

    /// Those above the lowest.
    pub(crate) fn above(&self) -> callgate_analysis::Above<'_> {
        callgate_analysis::Above {
            layers: self.above.iter().map(LayerEngine::upper).collect(),
            lowest: &self.lowest.name,
        }
    }
}
