//! Finding the repository of a directory (`setup_git_directory_gently_1` in `setup.c` of git).

use crate::Places;
use crate::condition::interpolate;
use crate::config;
use crate::files::{Error, Found, Kind, is_space, join, parent, without_line_ends};
use crate::format::format;
use crate::reader::Reader;
use crate::repository::{Names, Repository};

/// The bytes of `HEAD` that git looks at to recognize a repository.
const HEAD_BYTES: usize = 255;

/// The longest `.git` file that git accepts, in bytes.
const MAX_GIT_FILE_BYTES: usize = 1 << 20;

/// The repository that git would use in `directory`. If that does not exist yet, or is a file, the deepest directory
/// above it that exists counts.
///
/// # Errors
/// Git would refuse or ignore the repository for a reason that depends on more than the files: its `.git` file does not
/// lead to a repository, it belongs to another user and is not in `safe.directory`, or it is on another filesystem than
/// the directory. Or it may not be looked at.
pub(crate) fn discover(
    files: Reader<'_>,
    places: &Places,
    directory: &[u8],
) -> Result<Option<Repository>, Error> {
    let Some(search) = Search::new(files, places, directory)? else {
        return Ok(None);
    };
    let mut place = search.start.as_slice();
    loop {
        if let Some(found) = search.at(place)? {
            return Ok(Some(found));
        }
        match parent(place) {
            Some(above) => place = above,
            None => return Ok(None),
        }
    }
}

struct Search<'a> {
    files: Reader<'a>,
    places: &'a Places,
    /// The directory as it was given, if that differs from `start`.
    given: Option<&'a [u8]>,
    start: Vec<u8>,
    device: u64,
}

impl<'a> Search<'a> {
    fn new(files: Reader<'a>, places: &'a Places, directory: &'a [u8]) -> Result<Option<Self>, Error> {
        let mut given = directory;
        loop {
            if let Some(start) = files.real(given)? {
                let found = look(files, &start)?;
                if found.kind == Kind::Directory {
                    return Ok(Some(Self {
                        files,
                        places,
                        given: (given == directory && given != start).then_some(given),
                        start,
                        device: found.device,
                    }));
                }
                given = parent(given).unwrap_or(b"/");
            } else {
                match parent(given) {
                    Some(above) => given = above,
                    None => return Ok(None),
                }
            }
        }
    }

    /// The repository whose work tree or own directory is `place`.
    fn at(&self, place: &[u8]) -> Result<Option<Repository>, Error> {
        let git = join(place, b".git");
        if let Some(real) = self.files.real(&git)? {
            if look(self.files, &real)?.kind == Kind::File {
                return self.behind_git_file(&git, place).map(Some);
            }
            if let Some(common_dir) = self.common_dir(&real)? {
                self.check_owner(place, &[place, &git])?;
                return self.repository(place, real, common_dir, Some(b".git")).map(Some);
            }
        }
        let Some(common_dir) = self.common_dir(place)? else {
            return Ok(None);
        };
        self.check_owner(place, &[place])?;
        self.check_bare(place)?;
        self.repository(place, place.to_vec(), common_dir, Some(b"."))
            .map(Some)
    }

    /// The repository that the `.git` file of a worktree or a submodule names (`read_gitfile_gently`).
    fn behind_git_file(&self, file: &[u8], place: &[u8]) -> Result<Repository, Error> {
        let refused = || {
            let file = String::from_utf8_lossy(file);
            Error::new(format!("`{file}` does not lead to a git repository"))
        };
        let content = self.files.read(file)?.ok_or_else(refused)?;
        let named = without_line_ends(&content).strip_prefix(b"gitdir: ");
        let named = named.filter(|named| !named.is_empty() && !named.contains(&0));
        let named = named
            .filter(|_| content.len() <= MAX_GIT_FILE_BYTES)
            .ok_or_else(refused)?;
        let git_dir = self.files.real(&join(place, named))?.ok_or_else(refused)?;
        let common_dir = self.common_dir(&git_dir)?.ok_or_else(refused)?;
        self.check_owner(place, &[file, place, &git_dir])?;
        self.repository(place, git_dir, common_dir, None)
    }

    fn repository(
        &self,
        place: &[u8],
        git_dir: Vec<u8>,
        common_dir: Vec<u8>,
        relative: Option<&[u8]>,
    ) -> Result<Repository, Error> {
        if look(self.files, place)?.device != self.device {
            return Err(Error::new(format!(
                "the git repository `{}` is on another filesystem than `{}`, at whose edge git stops looking",
                String::from_utf8_lossy(place),
                String::from_utf8_lossy(&self.start)
            )));
        }
        let format = format(self.files, &git_dir, &common_dir)?;
        let is_start = place == self.start;
        let mut names = Names::default();
        // Git has a relative name for it, and makes that absolute with the directory that it runs in.
        if let Some(relative) = relative
            && (is_start || relative == b".git")
        {
            let certain = join(place, relative);
            if format.has_own_work_tree {
                names.possible.push(certain);
            } else {
                names.certain = Some(certain);
            }
            if let (true, Some(given)) = (is_start, self.given) {
                names.possible.push(join(given, relative));
            }
        }
        let work_tree = match format.has_own_work_tree {
            true => format.work_tree.clone(),
            false => (relative != Some(b".".as_slice())).then(|| place.to_vec()),
        };
        Ok(Repository {
            git_dir,
            common_dir,
            work_tree,
            names,
            format,
        })
    }

    /// The common directory of `git_dir`, links resolved, if git takes `git_dir` for a repository (`is_git_directory`).
    fn common_dir(&self, git_dir: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if !self.has_head(git_dir)? {
            return Ok(None);
        }
        let file = join(git_dir, b"commondir");
        let common_dir = if self.files.look(&file)?.is_some() {
            let refused = || Error::about(&file, "it does not name a directory");
            let content = self
                .files
                .read(&file)?
                .filter(|content| !content.is_empty() && !content.contains(&0));
            let named = content.ok_or_else(refused)?;
            let named = join(git_dir, without_line_ends(&named));
            self.files.real(&named)?.ok_or_else(refused)?
        } else {
            git_dir.to_vec()
        };
        let is_repository = self.files.is_searchable(&join(&common_dir, b"objects"))?
            && self.files.is_searchable(&join(&common_dir, b"refs"))?;
        Ok(is_repository.then_some(common_dir))
    }

    /// Returns `true` if `git_dir` has a `HEAD` that git accepts (`validate_headref`).
    fn has_head(&self, git_dir: &[u8]) -> Result<bool, Error> {
        let path = join(git_dir, b"HEAD");
        match self.files.look(&path)?.map(|found| found.kind) {
            None | Some(Kind::Directory) => return Ok(false),
            Some(Kind::Link(target)) => return Ok(target.starts_with(b"refs/")),
            Some(Kind::File | Kind::Other) => {}
        }
        let head = self.files.start(&path, HEAD_BYTES)?.unwrap_or_default();
        let head = head.get(..HEAD_BYTES).unwrap_or(&head);
        if let Some(target) = head.strip_prefix(b"ref:") {
            let spaces = target.iter().take_while(|byte| is_space(**byte)).count();
            return Ok(target.split_at(spaces).1.starts_with(b"refs/"));
        }
        Ok(head.len() >= 40 && head.iter().take(40).all(u8::is_ascii_hexdigit))
    }

    /// `ensure_valid_ownership`: git ignores a repository of another user, unless `safe.directory` lists `place`.
    fn check_owner(&self, place: &[u8], owned: &[&[u8]]) -> Result<(), Error> {
        for path in owned {
            if !look(self.files, path)?.is_own && !self.is_safe(place)? {
                return Err(Error::new(format!(
                    "`{}` belongs to another user, so git refuses the repository; `safe.directory` in the user's \
                     configuration would allow it",
                    String::from_utf8_lossy(path)
                )));
            }
        }
        Ok(())
    }

    /// `safe_directory_cb`, with the configuration of the machine and the user.
    fn is_safe(&self, path: &[u8]) -> Result<bool, Error> {
        let mut is_safe = false;
        for entry in config::load(self.files, self.places, None)? {
            if entry.key != b"safe.directory" {
                continue;
            }
            match entry.value.as_deref().unwrap_or_default() {
                b"" => is_safe = false,
                b"*" => is_safe = true,
                b"." => is_safe |= path == self.start,
                value => {
                    let allowed = interpolate(value, &self.places.home)?;
                    let (allowed, is_above) = match allowed.strip_suffix(b"/*") {
                        Some(above) => (above, true),
                        None => (allowed.as_slice(), false),
                    };
                    let allowed = if allowed.is_empty() { b"/" } else { allowed };
                    if !allowed.starts_with(b"/") {
                        continue;
                    }
                    if let Some(real) = self.files.real(allowed)? {
                        is_safe |= if is_above {
                            path.starts_with(&join(&real, b""))
                        } else {
                            path == real
                        };
                    }
                }
            }
        }
        Ok(is_safe)
    }

    /// `safe.bareRepository` (`get_allowed_bare_repo`).
    fn check_bare(&self, place: &[u8]) -> Result<(), Error> {
        let has = |part: &[u8]| place.windows(part.len()).any(|window| window == part);
        let is_implicit = place.ends_with(b"/.git") || has(b"/.git/modules/") || has(b"/.git/worktrees/");
        let entries = config::load(self.files, self.places, None)?;
        let mut is_allowed = true;
        for entry in entries.iter().filter(|entry| entry.key == b"safe.barerepository") {
            is_allowed = match entry.required()? {
                b"all" => true,
                b"explicit" => false,
                _ => return Err(entry.refused("`all` or `explicit`")),
            };
        }
        if is_allowed || is_implicit {
            return Ok(());
        }
        Err(Error::new(format!(
            "`{}` is a bare repository, which `safe.bareRepository` allows only if it is named explicitly",
            String::from_utf8_lossy(place)
        )))
    }
}

/// The file at `path`. It was there a moment ago, so its absence is an error.
fn look(files: Reader<'_>, path: &[u8]) -> Result<Found, Error> {
    files
        .look(path)?
        .ok_or_else(|| Error::about(path, "it no longer exists"))
}
