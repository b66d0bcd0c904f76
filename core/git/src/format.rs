//! The format that a repository declares (`check_repository_format_gently` in `setup.c` of git).

use crate::entry::Entry;
use crate::files::{Error, Kind, join};
use crate::reader::Reader;
use crate::repository::Format;

/// Reads the format of a repository. As in git, includes do not count.
///
/// # Errors
/// Git would refuse the repository: it does not know the version or an extension, a value has the wrong type, or the
/// work tree does not exist.
pub(crate) fn format(files: Reader<'_>, git_dir: &[u8], common_dir: &[u8]) -> Result<Format, Error> {
    let mut found = FormatReader::default();
    found.file(files, &join(common_dir, b"config"))?;
    // Without a version, git ignores the rest of what it read.
    let Some(version) = found.version else {
        return Ok(Format::default());
    };
    let refused = |why: &str| {
        Err(Error::new(format!(
            "git would refuse the repository `{}`: {why}",
            String::from_utf8_lossy(git_dir)
        )))
    };
    if !(0..=1).contains(&version) {
        return refused(&format!("its format version is {version}, expected 0 or 1"));
    }
    let refused_extension = match version {
        0 => found.newer_extension.take(),
        _ => found.unknown_extension.take(),
    };
    if let Some(extension) = refused_extension {
        let extension = String::from_utf8_lossy(&extension).into_owned();
        return refused(&format!(
            "format version {version} does not allow the extension `{extension}`"
        ));
    }
    if found.format.has_worktree_config {
        let mut own = FormatReader::default();
        own.file(files, &join(git_dir, b"config.worktree"))?;
        found.is_bare |= own.is_bare;
        found.work_tree = own.work_tree.or(found.work_tree);
    }
    // A linked worktree ignores `core.worktree` of the repository, unless it has its own configuration.
    if git_dir != common_dir && !found.format.has_worktree_config {
        return Ok(found.format);
    }
    if let Some(work_tree) = &found.work_tree {
        let real = files.real(&join(git_dir, work_tree))?;
        let kind = match &real {
            Some(real) => files.look(real)?.map(|found| found.kind),
            None => None,
        };
        if kind != Some(Kind::Directory) {
            return refused("`core.worktree` is not a directory");
        }
        found.format.work_tree = real.filter(|_| !found.is_bare);
    }
    found.format.has_own_work_tree = found.is_bare || found.work_tree.is_some();
    Ok(found.format)
}

#[derive(Default)]
struct FormatReader {
    format: Format,
    version: Option<i32>,
    is_bare: bool,
    work_tree: Option<Vec<u8>>,
    /// An extension that version 0 does not allow.
    newer_extension: Option<Vec<u8>>,
    /// An extension that git does not know.
    unknown_extension: Option<Vec<u8>>,
}

impl FormatReader {
    fn file(&mut self, files: Reader<'_>, path: &[u8]) -> Result<(), Error> {
        let entries = files.entries(path)?.unwrap_or_default();
        entries.iter().try_for_each(|entry| self.entry(entry))
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        match entry.parts() {
            (b"core", None, b"repositoryformatversion") => self.version = Some(entry.integer()?),
            (b"core", None, b"bare") => self.is_bare = entry.boolean()?,
            (b"core", None, b"worktree") => self.work_tree = Some(entry.required()?.to_vec()),
            (b"extensions", None, name) => self.extension(name, entry)?,
            (b"extensions", Some(_), _) => self.unknown_extension = Some(entry.key.clone()),
            _ => {}
        }
        Ok(())
    }

    /// `handle_extension_v0` and `handle_extension`.
    fn extension(&mut self, name: &[u8], entry: &Entry) -> Result<(), Error> {
        match name {
            b"noop" => return Ok(()),
            b"preciousobjects" => return entry.boolean().map(|_| ()),
            b"partialclone" => return entry.required().map(|_| ()),
            b"worktreeconfig" => {
                self.format.has_worktree_config = entry.boolean()?;
                return Ok(());
            }
            b"noop-v1" => {}
            b"relativeworktrees" => {
                entry.boolean()?;
            }
            b"objectformat" => self.format.digits = digits(entry)?,
            b"compatobjectformat" => {
                digits(entry)?;
            }
            b"refstorage" => {
                self.format.has_reference_files = match entry.required()? {
                    b"files" => true,
                    b"reftable" => false,
                    _ => return Err(entry.refused("`files` or `reftable`")),
                }
            }
            _ => {
                self.unknown_extension = Some(entry.key.clone());
                return Ok(());
            }
        }
        self.newer_extension = Some(entry.key.clone());
        Ok(())
    }
}

fn digits(entry: &Entry) -> Result<usize, Error> {
    match entry.required()? {
        b"sha1" => Ok(40),
        b"sha256" => Ok(64),
        _ => Err(entry.refused("`sha1` or `sha256`")),
    }
}
