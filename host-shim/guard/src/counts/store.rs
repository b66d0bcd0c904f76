//! Where counts are kept, and how whoever judges has them alone.

use std::fs::File;
use std::io;
use std::path::PathBuf;

#[cfg(feature = "redis")]
use super::redis;
use crate::folder::Folder;

const FILE: &str = "counts.json";
const LOCK: &str = "counts.lock";

/// Where counts are kept.
#[derive(Clone, Debug)]
pub(super) enum Store {
    /// In a folder, which programs of one user share.
    Folder(PathBuf),
    /// In a server, which machines share.
    #[cfg(feature = "redis")]
    Redis(redis::Redis),
}

/// The document, locked until it is written or dropped.
pub(super) enum Locked {
    Folder {
        _lock: File,
        folder: Folder,
    },
    #[cfg(feature = "redis")]
    Redis(redis::Locked),
}

impl Store {
    /// Locks the document. Its text comes along, `None` where nothing was counted yet.
    ///
    /// # Errors
    /// Another program keeps it locked, or it cannot be read, or is not there and has to be.
    pub(super) fn lock(&self) -> io::Result<(Locked, Option<String>)> {
        match self {
            Self::Folder(folder) => {
                let folder = Folder::open(folder.clone())?;
                let lock = folder.lock(LOCK)?;
                let text = folder.text(FILE)?;
                Ok((Locked::Folder { _lock: lock, folder }, text))
            }
            #[cfg(feature = "redis")]
            Self::Redis(redis) => {
                let (locked, text) = redis.lock()?;
                Ok((Locked::Redis(locked), text))
            }
        }
    }
}

impl Locked {
    /// Writes the document, whose calls count for `seconds` at most, and lets go.
    ///
    /// # Errors
    /// It is not certain that it is written.
    #[cfg_attr(
        not(feature = "redis"),
        expect(unused_variables, reason = "a file is kept until it is written again")
    )]
    pub(super) fn write(self, text: &str, seconds: i64) -> io::Result<()> {
        match self {
            Self::Folder { folder, _lock } => folder.put(FILE, text),
            #[cfg(feature = "redis")]
            Self::Redis(locked) => locked.write(text, seconds),
        }
    }
}
