//! The virtual walk, compared with that of the kernel that runs the tests.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use callgate_engine::host::{Host, RealpathError};

use super::linked;
use crate::{Machine, VirtualHost};

/// The same layout in a temporary directory of the real filesystem.
struct RealTree(PathBuf);

impl RealTree {
    fn of(machine: &Machine) -> Self {
        let root = std::env::temp_dir().join(format!("callgate-walk-{}", std::process::id()));
        // A run that was killed may have left the directory behind.
        drop(fs::remove_dir_all(&root));
        fs::create_dir_all(&root).expect("a temporary directory");
        let tree = Self(fs::canonicalize(root).expect("its canonical path"));
        for dir in &machine.fs.dirs {
            fs::create_dir_all(tree.place(dir)).expect("a directory");
        }
        for path in machine.fs.files.iter().chain(machine.fs.links.keys()) {
            let parent = tree.place(path).parent().map(Path::to_owned).expect("a parent");
            fs::create_dir_all(parent).expect("a directory");
        }
        for file in &machine.fs.files {
            fs::write(tree.place(file), "").expect("a file");
        }
        for (path, target) in &machine.fs.links {
            symlink(tree.target(target), tree.place(path)).expect("a link");
        }
        tree
    }

    fn place(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("{}{path}", self.0.display()))
    }

    fn target(&self, target: &str) -> PathBuf {
        if target.starts_with('/') {
            self.place(target)
        } else {
            PathBuf::from(target)
        }
    }
}

impl Drop for RealTree {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

const ELOOP: i32 = 40;

#[test]
fn the_real_kernel_agrees() {
    let mut machine = linked();
    // It climbs above the virtual root, where the real tree continues.
    machine.fs.links.remove("/srv/box/high");
    for at in 0..41 {
        let target = if at == 40 {
            "real/file".to_owned()
        } else {
            format!("l{}", at + 1)
        };
        machine = machine.link(format!("/srv/box/l{at}"), target);
    }
    let real = RealTree::of(&machine);
    let host = VirtualHost::new(machine.clone()).expect("a machine");
    let starts = machine
        .fs
        .links
        .keys()
        .chain(&machine.fs.files)
        .chain(&machine.fs.dirs);
    let tails = [
        "",
        "/..",
        "/../file",
        "/file",
        "/deep/../..",
        "/passwd",
        "/.",
        "/./missing",
    ];
    for path in starts.flat_map(|start| tails.map(|tail| format!("{start}{tail}"))) {
        let kernel = fs::canonicalize(real.place(&path));
        let expected = kernel
            .as_ref()
            .ok()
            .and_then(|place| place.strip_prefix(&real.0).ok());
        let virtual_answer = host.realpath(&path);
        assert_eq!(
            virtual_answer
                .as_deref()
                .ok()
                .map(|place| Path::new(place.trim_start_matches('/'))),
            expected,
            "{path}: {kernel:?}, {virtual_answer:?}"
        );
        let too_many = kernel.is_err_and(|error| error.raw_os_error() == Some(ELOOP));
        assert_eq!(virtual_answer == Err(RealpathError::Loop), too_many, "{path}");
    }
}
