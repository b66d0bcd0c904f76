//! Archives that have nothing of this machine in them: no times, no owners.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _, Write as _};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A file in an archive.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) mode: u32,
    pub(crate) bytes: Vec<u8>,
}

impl Entry {
    pub(crate) fn file(path: &str, bytes: Vec<u8>) -> Self {
        Self {
            path: path.to_owned(),
            mode: 0o644,
            bytes,
        }
    }

    pub(crate) fn program(path: &str, bytes: Vec<u8>) -> Self {
        Self {
            mode: 0o755,
            ..Self::file(path, bytes)
        }
    }

    /// The same file in a folder.
    pub(crate) fn within(self, folder: &str) -> Self {
        Self {
            path: format!("{folder}/{}", self.path),
            ..self
        }
    }
}

/// A tar archive. Folders stand before what is in them.
pub(crate) fn tar(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let mut builder = Builder::new(Vec::new());
    let mut folders = BTreeSet::new();
    for Entry { path, mode, bytes } in entries {
        for (at, _) in path.match_indices('/') {
            let folder = path.get(..=at).unwrap_or_default();
            if folder != "./" && folders.insert(folder) {
                append(&mut builder, folder, EntryType::Directory, 0o755, &[])?;
            }
        }
        append(&mut builder, path, EntryType::Regular, *mode, bytes)?;
    }
    builder.into_inner().map_err(|error| error.to_string())
}

fn append(
    builder: &mut Builder<Vec<u8>>,
    path: &str,
    kind: EntryType,
    mode: u32,
    bytes: &[u8],
) -> Result<(), String> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes.len() as u64);
    builder
        .append_data(&mut header, path, bytes)
        .map_err(|error| format!("`{path}`: {error}"))
}

/// A compressed tar archive.
pub(crate) fn tgz(entries: &[Entry]) -> Result<Vec<u8>, String> {
    gzip(&tar(entries)?)
}

/// What was compressed, in the format of gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut writer = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), Compression::best());
    writer.write_all(bytes).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())
}

/// The files of a compressed tar archive, in their order.
pub(crate) fn files_of(tgz: &[u8]) -> Result<Vec<Entry>, String> {
    let mut archive = tar::Archive::new(GzDecoder::new(tgz));
    let mut files = Vec::new();
    for entry in archive.entries().map_err(|error| error.to_string())? {
        let mut entry = entry.map_err(|error| error.to_string())?;
        let path = entry
            .path()
            .map_err(|error| error.to_string())?
            .display()
            .to_string();
        let mode = entry.header().mode().map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        files.push(Entry { path, mode, bytes });
    }
    Ok(files)
}

/// An archive of `ar`, as Debian's packages are: <https://man7.org/linux/man-pages/man5/deb.5.html>.
pub(crate) fn ar(entries: &[Entry]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for Entry { path, mode, bytes } in entries {
        let header = format!(
            "{path:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            0,
            0,
            0,
            format!("100{mode:o}"),
            bytes.len()
        );
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// A ZIP archive.
pub(crate) fn zip(entries: &[Entry]) -> Result<Vec<u8>, String> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for Entry { path, mode, bytes } in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            // The first time that the format has.
            .last_modified_time(DateTime::default())
            .unix_permissions(*mode);
        writer
            .start_file(path.as_str(), options)
            .map_err(|error| format!("`{path}`: {error}"))?;
        writer
            .write_all(bytes)
            .map_err(|error| format!("`{path}`: {error}"))?;
    }
    let archive = writer.finish().map_err(|error| error.to_string())?;
    Ok(archive.into_inner())
}
