//! Small repositories. Git's answers are the same again, and do not depend on a comment at the end of the configuration.

#![no_main]

use callgate_fuzz::disk::Disk;
use callgate_git::{Error, Git, Known, Places};
use libfuzzer_sys::fuzz_target;

/// All answers about one directory.
fn answers(disk: &Disk, directory: &str) -> [Result<Vec<String>, Error>; 8] {
    let places = Places::new("/home/u", "/home/u/.config", false);
    let mut known = Known::default();
    let mut git = Git::new(disk, &places, &mut known);
    let answers = [
        git.check_ignore(&format!("{directory}/a.b"))
            .map(|said| vec![format!("{said:?}")]),
        git.remote_urls(directory, "origin"),
        git.remote_urls(directory, "both"),
        git.default_remote_urls(directory),
        git.push_refs(directory, "origin", "main")
            .map(Option::unwrap_or_default),
        git.push_refs(directory, "", "").map(Option::unwrap_or_default),
        git.urls(directory, "https://example.com/kit.git"),
        git.branch(directory).map(|branch| branch.into_iter().collect()),
    ];
    disk.check_reads();
    answers
}

const DIRECTORIES: [&str; 3] = ["/repo", "/repo/w/new", "/repo/.git"];

fuzz_target!(|data: &[u8]| {
    let disk = Disk::new(data);
    // Its length chooses the one that an input asks about: all three took longer than the other targets together.
    let directory = DIRECTORIES[data.len() % DIRECTORIES.len()];
    let found = answers(&disk, directory);
    assert_eq!(found, answers(&Disk::new(data), directory), "{directory}, again");
    let [.., urls, _] = &found;
    assert!(
        urls.as_ref().map_or(true, |urls| !urls.is_empty()),
        "{directory}: a URL leads nowhere"
    );
    // A link may make the configuration the content of another file, where a comment counts.
    if disk.has_links() {
        return;
    }
    let commented = answers(&Disk::new(data).with_comment(), directory);
    assert_eq!(
        found.map(Result::ok),
        commented.map(Result::ok),
        "{directory}, with a comment"
    );
});
