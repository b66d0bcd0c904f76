//! Resolution on a real disk, compared with the kernel and the C library.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;

use callgate_engine::host::Host;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tempfile::TempDir;

use super::*;
use crate::RealHost;

/// A folder whose own path is canonical, with files (`name`), directories (`name/`) and links (`name -> target`).
/// In a target, `HOME` is the folder.
fn folder(entries: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for entry in entries {
        if let Some((name, target)) = entry.split_once(" -> ") {
            symlink(target.replace("HOME", root.to_str().unwrap()), root.join(name)).unwrap();
        } else if entry.ends_with('/') {
            fs::create_dir_all(root.join(entry)).unwrap();
        } else {
            fs::write(root.join(entry), "").unwrap();
        }
    }
    (folder, root)
}

fn in_folder(root: &Path, name: &str) -> String {
    format!("{}/{name}", root.to_str().unwrap())
}

#[test]
fn links_are_followed_and_errors_told_apart() {
    let (_folder, root) = folder(&[
        "d/e/",
        "file",
        "d/up -> ../file",
        "absolute -> HOME/d/e",
        "chain -> absolute/..//./e/",
        "dangling -> nothing/here",
        "self-loop -> self-loop",
        "ping -> pong/x",
        "pong -> ping",
        "as-directory -> file/",
        "as-dot -> file/.",
        "through-file -> file/../d",
        "root -> /",
        "above -> /../../..",
    ]);
    let check = |name: &str, expected: Result<&str, RealpathError>| {
        let expected = expected.map(|name| {
            if name == "/" {
                name.into()
            } else {
                in_folder(&root, name).into()
            }
        });
        assert_eq!(realpath(&in_folder(&root, name)), expected, "{name}");
    };
    check("d/e", Ok("d/e"));
    check("d/up", Ok("file"));
    check("absolute", Ok("d/e"));
    check("chain", Ok("d/e"));
    check("root", Ok("/"));
    check("above", Ok("/"));
    check("nothing", Err(RealpathError::NotFound));
    check("file/x", Err(RealpathError::NotFound));
    check("d/up/x", Err(RealpathError::NotFound));
    check("dangling", Err(RealpathError::NotFound));
    check("as-directory", Err(RealpathError::NotFound));
    check("as-dot", Err(RealpathError::NotFound));
    check("through-file", Err(RealpathError::NotFound));
    check("self-loop", Err(RealpathError::Loop));
    check("ping", Err(RealpathError::Loop));
    check("self-loop/x", Err(RealpathError::Loop));
    check("a\0b", Err(RealpathError::Other));
    check(&"n".repeat(256), Err(RealpathError::Other));
    assert_eq!(realpath("/"), Ok("/".into()));
    assert_eq!(realpath("relative"), Err(RealpathError::Other));
    assert_eq!(realpath(""), Err(RealpathError::Other));
}

#[test]
fn forty_links_are_followed_and_no_more() {
    let (_folder, root) = folder(&["file", "l1 -> file"]);
    for number in 2..=41 {
        symlink(format!("l{}", number - 1), root.join(format!("l{number}"))).unwrap();
    }
    assert_eq!(
        realpath(&in_folder(&root, "l40")),
        Ok(in_folder(&root, "file").into())
    );
    assert_eq!(realpath(&in_folder(&root, "l41")), Err(RealpathError::Loop));
    assert!(
        root.join("l40").exists() && !root.join("l41").exists(),
        "the kernel's own limit"
    );
}

#[test]
fn what_is_not_utf8_is_refused() {
    let (_folder, root) = folder(&["plain"]);
    let odd = root.join(OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).unwrap();
    symlink(&odd, root.join("to-odd")).unwrap();
    symlink(odd.join("../plain"), root.join("over-odd")).unwrap();
    assert_eq!(realpath(&in_folder(&root, "to-odd")), Err(RealpathError::NotUtf8));
    assert_eq!(
        realpath(&in_folder(&root, "over-odd")),
        Ok(in_folder(&root, "plain").into())
    );
    read_link(&in_folder(&root, "to-odd")).unwrap_err();
}

#[test]
#[cfg(target_os = "linux")]
fn process_relative_places_are_refused_however_they_are_reached() {
    let (_folder, root) = folder(&[
        "link -> /proc/self",
        "far -> /proc/self/cwd/../..",
        "thread -> /proc/thread-self/root",
        "fd -> /dev/fd/0",
        "missing -> /proc/self/nothing",
        "proc -> /proc",
        "own -> proc/self/root",
        "mounted/",
        "mounted/self -> 4711",
        "mounted/4711/",
    ]);
    let pid = std::process::id();
    symlink(format!("/proc/{pid}/root"), root.join("number")).unwrap();
    for name in [
        "link",
        "far",
        "thread",
        "fd",
        "missing",
        "own",
        "number",
        "mounted/self",
    ] {
        assert_eq!(
            realpath(&in_folder(&root, name)),
            Err(RealpathError::Other),
            "{name}"
        );
    }
    for path in [
        "/proc/self",
        "/proc/1",
        "/proc/1/nothing",
        "/dev/fd",
        "/dev/stdin",
        "/proc/mounts",
    ] {
        assert_eq!(realpath(path), Err(RealpathError::Other), "{path}");
        assert_eq!(is_directory(path), None, "{path}");
    }
    read_link("/proc/self").unwrap_err();
    read_link(&in_folder(&root, "own/x")).unwrap_err();
    assert_eq!(
        read_link(&in_folder(&root, "link")),
        Ok(Some("/proc/self".to_owned()))
    );
    assert_eq!(realpath(&in_folder(&root, "proc")), Ok("/proc".into()));
    assert_eq!(realpath("/proc/version"), Ok("/proc/version".into()));
}

#[test]
fn links_are_read_as_they_are_written() {
    let (_folder, root) = folder(&[
        "d/",
        "file",
        "l -> d/../x y",
        "loop -> loop",
        "to-d -> d",
        "d/in -> deep",
    ]);
    let check = |name: &str, expected: Option<&str>| {
        let expected = expected.map(str::to_owned);
        assert_eq!(read_link(&in_folder(&root, name)), Ok(expected), "{name}");
    };
    check("l", Some("d/../x y"));
    check("loop", Some("loop"));
    check("to-d/in", Some("deep"));
    check("d", None);
    check("file", None);
    check("file/x", None);
    check("nothing", None);
    check("nothing/x", None);
    assert_eq!(read_link("/"), Ok(None));
    read_link(&in_folder(&root, "loop/x")).unwrap_err();
}

#[test]
fn directories_are_told_from_files() {
    let (_folder, root) = folder(&["d/", "file", "to-d -> d", "dangling -> nothing", "loop -> loop"]);
    let check = |name: &str, expected: Option<bool>| {
        assert_eq!(is_directory(&in_folder(&root, name)), expected, "{name}");
    };
    check("d", Some(true));
    check("to-d", Some(true));
    check("file", Some(false));
    check("dangling", Some(false));
    check("nothing", Some(false));
    check("loop", None);
}

const FOLDER_OF_CHILD: &str = "CALLGATE_TEST_FOLDER";

/// Root may search every directory, so this test runs itself again in a child process without privileges.
#[test]
fn a_directory_without_permission_is_told_apart() {
    if let Ok(root) = std::env::var(FOLDER_OF_CHILD) {
        let host = RealHost::new(&root, &root)
            .unwrap()
            .with_system_git_config([""; 0]);
        let closed = format!("{root}/closed/x");
        println!("answer: {:?}", host.realpath(&closed));
        println!("answer: {:?}", host.realpath(&format!("{root}/to-closed/x")));
        println!("answer: {:?}", host.realpath(&format!("{root}/over-closed")));
        println!("answer: {:?}", host.realpath(&format!("{root}/closed")).is_ok());
        println!("answer: {:?}", host.is_directory(&closed));
        println!("answer: {:?}", host.read_link(&closed).is_err());
        println!("answer: {:?}", host.git_url(&closed, "x").is_err());
        println!(
            "answer: {:?}",
            host.git_url("/", "x")
                .map_err(|error| error.message.contains("denied"))
        );
        return;
    }
    let (_folder, root) = folder(&["closed/", "to-closed -> closed", "over-closed -> closed/.."]);
    fs::write(root.join(".gitconfig"), "").unwrap();
    fs::set_permissions(root.join(".gitconfig"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(root.join("closed"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(&root, Permissions::from_mode(0o755)).unwrap();
    let program = root.join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();

    let name = concat!(module_path!(), "::a_directory_without_permission_is_told_apart");
    let mut child = Command::new(program);
    child
        .args(["--exact", "--nocapture", name.split_once("::").unwrap().1])
        .env(FOLDER_OF_CHILD, &root);
    let is_root = fs::metadata(&root).unwrap().uid() == 0;
    if is_root {
        child.uid(65534).gid(65534);
    }
    let output = child.output().unwrap();
    fs::set_permissions(root.join("closed"), Permissions::from_mode(0o755)).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once("answer: ")?.1))
        .collect();
    let denied = "Err(Denied)";
    assert_eq!(
        answers,
        [
            denied,
            denied,
            denied,
            "true",
            "Ok(None)",
            "true",
            "true",
            "Err(true)"
        ],
        "{text}"
    );
}

/// Names and targets from few letters, so that they often coincide.
fn path_text() -> impl Strategy<Value = String> {
    let component = prop::sample::select(vec![
        "a", "b", "c", "a", "b", "c", "..", ".", "", "l1", "l2", "l3",
    ]);
    prop::collection::vec(component, 1..6).prop_map(|components| components.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        // The same cases in every run.
        rng_seed: RngSeed::Fixed(20_261_123),
        ..ProptestConfig::default()
    })]

    /// In a random tree, every answer is that of the C library, and there is one whenever the kernel finds something.
    #[test]
    fn answers_are_those_of_the_kernel(
        entries in prop::collection::vec((path_text(), 0..4u8, path_text()), 0..14),
        asked in prop::collection::vec(path_text(), 20),
    ) {
        let (_folder, root) = folder(&[]);
        for (name, kind, target) in &entries {
            let place = root.join(name.trim_start_matches('/'));
            // A file that cannot be created is missing for both.
            let _ = match kind {
                0 => fs::create_dir_all(place),
                1 => fs::write(place, ""),
                2 => symlink(target.trim_start_matches('/'), root.join(format!("l{}", target.len() % 3 + 1))),
                _ => symlink(root.join(target.trim_start_matches('/')), place),
            };
        }
        for name in &asked {
            let path = in_folder(&root, name);
            let ours = realpath(&path);
            prop_assert_eq!(ours.is_ok(), fs::metadata(&path).is_ok(), "{}", &path);
            match fs::canonicalize(&path) {
                Ok(real) => prop_assert_eq!(ours, Ok(real.to_str().unwrap().into()), "{}", &path),
                Err(error) if RealpathError::from(error.kind()) == RealpathError::NotFound => {
                    prop_assert_eq!(ours, Err(RealpathError::NotFound), "{}", &path);
                }
                Err(_) => prop_assert_eq!(ours, Err(RealpathError::Loop), "{}", &path),
            }
            let directory = fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir());
            prop_assert_eq!(is_directory(&path).unwrap_or(false), directory, "{}", &path);
        }
    }
}

#[test]
fn an_error_of_the_standard_library_says_what_it_is_of_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("loop");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    let error = |path: &Path| realpath_error(&path.canonicalize().unwrap_err());
    assert_eq!(error(&link), RealpathError::Loop);
    assert_eq!(error(Path::new("/nothing/is/here")), RealpathError::NotFound);
    assert_eq!(
        error(&Path::new("/etc/hostname").join("x")),
        RealpathError::NotFound
    );
    assert_eq!(
        realpath_error(&Error::from(ErrorKind::PermissionDenied)),
        RealpathError::Denied
    );
    assert_eq!(
        realpath_error(&Error::from(ErrorKind::TimedOut)),
        RealpathError::Other
    );
}
