//! The work of one evaluation is bounded, whatever the files are: counted, not timed.

use std::cell::Cell;
use std::collections::BTreeMap;

use callgate_git::{Error, Files, Found, Git, Kind, Known, Places};

/// How many repositories a call may name.
const REPOSITORIES: usize = 64;

/// The bytes that may be read, all in all.
const MOST_BYTES: usize = 6_000_001;

/// Repositories `/r/<number>` with the same configuration, and a directory of links.
struct Disk {
    config: Vec<u8>,
    links: BTreeMap<Vec<u8>, Vec<u8>>,
    bytes: Cell<usize>,
    questions: Cell<usize>,
}

impl Disk {
    fn new(config: impl Into<Vec<u8>>) -> Self {
        Self {
            config: config.into(),
            links: BTreeMap::new(),
            bytes: Cell::default(),
            questions: Cell::default(),
        }
    }

    fn content(&self, path: &[u8]) -> Option<&[u8]> {
        match path.rsplit(|byte| *byte == b'/').next()? {
            b"HEAD" => Some(b"ref: refs/heads/main\n"),
            b"config" if !path.starts_with(b"/home") => Some(&self.config),
            _ => None,
        }
    }
}

impl Files for Disk {
    fn look(&self, path: &[u8]) -> Result<Option<Found>, Error> {
        self.questions.set(self.questions.get() + 1);
        let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_directory = last.len() <= 2 || [&b"objects"[..], b"refs", b".git", b"home"].contains(&last);
        let kind = match (self.links.get(path), self.content(path)) {
            (Some(target), _) => Kind::Link(target.clone()),
            (None, Some(_)) => Kind::File,
            (None, None) if is_directory => Kind::Directory,
            (None, None) => return Ok(None),
        };
        Ok(Some(Found {
            kind,
            is_own: true,
            device: 1,
        }))
    }

    fn read(&self, path: &[u8], limit: usize) -> Result<Option<Vec<u8>>, Error> {
        let content = self.content(path);
        let content = content.map(|content| content.get(..limit).unwrap_or(content).to_vec());
        self.bytes
            .set(self.bytes.get() + content.as_ref().map_or(0, Vec::len));
        Ok(content)
    }

    fn is_searchable(&self, path: &[u8]) -> Result<bool, Error> {
        Ok(self.look(path)?.is_some())
    }
}

/// Asks the usual questions about one repository.
fn ask(git: &mut Git<'_>, directory: &str) -> Result<Vec<String>, Error> {
    git.branch(directory)?;
    git.push_refs(directory, "origin", "main")?;
    git.urls(directory, "https://github.com/acme/app")?;
    git.remote_urls(directory, "origin")
}

/// The answers about all repositories, in this order.
fn answers(disk: &Disk, order: impl Iterator<Item = usize>) -> Vec<Result<Vec<String>, Error>> {
    let places = Places::new("/home/u", "/home/u/.config", false);
    let mut known = Known::default();
    let mut git = Git::new(disk, &places, &mut known);
    order
        .map(|number| ask(&mut git, &format!("/r/{number}")))
        .collect()
}

const ORIGIN: &str = "[remote \"origin\"]\n\turl = https://github.com/acme/app.git\n";

#[test]
fn many_repositories_are_read() {
    let branches = "[branch \"feature\"]\n\tremote = origin\n\tmerge = refs/heads/feature\n".repeat(20);
    let disk = Disk::new(format!("{ORIGIN}{branches}"));
    for answer in answers(&disk, 0..REPOSITORIES) {
        assert_eq!(answer.unwrap(), ["https://github.com/acme/app.git"]);
    }
    // A repository with ten thousand branches is one too.
    let branches =
        (0..10_000).map(|at| format!("[branch \"b{at}\"]\n\tremote = origin\n\tmerge = refs/heads/b{at}\n"));
    let disk = Disk::new(format!("{ORIGIN}{}", branches.collect::<String>()));
    assert!(
        ask(
            &mut Git::new(&disk, &Places::new("/home/u", "/c", false), &mut Known::default()),
            "/r/1"
        )
        .is_ok()
    );
}

/// The work ends at the limit with one error, in whatever order the repositories are asked about.
#[track_caller]
fn check_ends(config: impl Into<Vec<u8>>) {
    let disk = Disk::new(config);
    let message =
        "git's files take too much work for one call: the limit is 6000000 steps, of which a byte is one";
    for is_reversed in [false, true] {
        disk.bytes.set(0);
        disk.questions.set(0);
        let mut order: Vec<usize> = (0..REPOSITORIES).collect();
        if is_reversed {
            order.reverse();
        }
        let answers = answers(&disk, order.into_iter());
        assert_eq!(answers.last(), Some(&Err(Error::new(message))));
        let is_told = |answer: &Result<Vec<String>, Error>| match answer {
            Ok(_) => true,
            Err(error) => error.message() == message,
        };
        assert!(answers.iter().all(is_told), "{answers:?}");
        assert!(disk.bytes.get() <= MOST_BYTES, "{} bytes", disk.bytes.get());
        assert!(
            disk.questions.get() < 20_000,
            "{} questions",
            disk.questions.get()
        );
    }
}

#[test]
fn the_work_of_all_repositories_together_is_bounded() {
    let lines = |line: &str, bytes: usize| format!("{ORIGIN}{}", line.repeat(bytes / line.len()));
    check_ends(lines("# a comment\n", 14_000_000));
    check_ends(lines("\tfetch = +refs/heads/a:refs/heads/b\n", 14_000_000));
    check_ends(lines("\tfetch = x\n", 400_000));
    // Each key is kept with its section.
    let section = "k".repeat(32_000);
    check_ends(format!(
        "{ORIGIN}[branch \"{section}\"]\n{}",
        "a\n".repeat(10_000)
    ));
    // Files that include each other, and ones that are not there.
    check_ends(lines("[include]\n\tpath = missing\n", 300_000));
    check_ends(lines(
        "[includeIf \"gitdir:**a**a**a**a**a**a**b\"]\n\tpath = x\n",
        100_000,
    ));
    // The answers themselves.
    let base = "x".repeat(32_000);
    let urls = "\turl = a\n".repeat(900);
    check_ends(format!(
        "[url \"{base}\"]\n\tinsteadOf = a\n[remote \"origin\"]\n{urls}"
    ));
    // Prefixes of each other, none of which fits.
    let rules = (1..1_000).map(|count| format!("\tinsteadOf = {}z\n", "a".repeat(count)));
    let urls = format!("\turl = {}\n", "a".repeat(1_000)).repeat(100);
    check_ends(format!(
        "[url \"b\"]\n{}[remote \"origin\"]\n{urls}",
        rules.collect::<String>()
    ));
}

#[test]
fn links_are_counted_by_what_they_lead_through() {
    let mut disk = Disk::new(ORIGIN);
    let long = "./".repeat(2_000);
    for repository in 0..REPOSITORIES {
        let git = format!("/r/{repository}/.git").into_bytes();
        disk.links.insert(git, b"/l/0".to_vec());
    }
    for link in 0..30 {
        let target = match link {
            29 => "/r/g".to_owned(),
            _ => format!("{long}{}", link + 1),
        };
        disk.links
            .insert(format!("/l/{link}").into_bytes(), target.into_bytes());
    }
    let answers = answers(&disk, 0..REPOSITORIES);
    assert!(answers.last().is_some_and(Result::is_err), "{answers:?}");
    assert!(disk.questions.get() < 2_000, "{} questions", disk.questions.get());
}

#[test]
fn the_bytes_of_a_key_that_is_kept_are_work_again() {
    let of = |bytes: usize| {
        let value = format!("\tb = {}\n", "x".repeat(993));
        let disk = Disk::new(format!("{ORIGIN}[branch \"b\"]\n{}", value.repeat(bytes / 1_000)));
        let places = Places::new("/home/u", "/home/u/.config", false);
        ask(&mut Git::new(&disk, &places, &mut Known::default()), "/r/1")
    };
    assert!(of(1_800_000).is_ok());
    // Each byte is read once and kept at the price of two.
    assert!(of(2_100_000).is_err());
}
