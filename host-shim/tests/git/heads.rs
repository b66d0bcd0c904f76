//! `HEAD`, and the references that it leads to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::random::Random;

const OBJECT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Writes `HEAD` to `git_dir`, and the references that it may need to `common_dir`.
pub(crate) fn write_head(random: &mut Random, git_dir: &Path, common_dir: &Path) {
    let head = git_dir.join("HEAD");
    if random.is(60) {
        let branch = random.of(&["main", "main", "feature/x", "voil\u{e0}", "Main"]);
        write(&head, format!("ref: refs/heads/{branch}\n").as_bytes());
        return;
    }
    if random.is(4) {
        let target = random.of(&[
            "refs/heads/main",
            "refs/heads/../x",
            "refs/heads/feature/x",
            "other",
            "refs/tags/t",
        ]);
        symlink(target, &head).expect("a link can be made");
        write(&git_dir.join("other"), b"ref: refs/heads/main\n");
        return;
    }
    if random.is(30) {
        let name = if git_dir == common_dir { "l" } else { "k" };
        chain(random, common_dir, name);
        write(&head, format!("ref: refs/heads/{name}0\n").as_bytes());
        return;
    }
    let spaces = " ".repeat(240 + random.below(12));
    let odd: &[&[u8]] = &[
        b"ref:refs/heads/main",
        b"ref:   refs/heads/main  \n",
        b"ref:\trefs/heads/main",
        b"ref: refs/heads/main\r\n",
        b"ref:\x0crefs/heads/main\n",
        b"ref:\x0brefs/heads/main\n",
        b"ref: refs/heads/main\x0c\n",
        b"ref: refs/heads/main\x0b",
        b"ref: refs/heads/main\xa0\n",
        b"ref:\xa0refs/heads/main\n",
        b"ref:\n\nrefs/heads/main\n",
        b"ref: refs/heads/a b\n",
        b"ref: refs/heads/main\nsecond\n",
        b"ref: refs/tags/x\n",
        b"ref: refs/heads/a..b\n",
        b"ref: refs/heads/.x\n",
        b"ref: refs/heads/x.lock\n",
        b"ref: HEAD\n",
        b"ref: FOO\n",
        b"",
        b"\n",
        b"ref:",
        b"ref: refs/",
        b"ref: refs/heads/",
        b"ref: refs/heads/main\0x\n",
        b"REF: refs/heads/main\n",
        b" ref: refs/heads/main\n",
        b"ref : refs/heads/main\n",
        b"0123456789abcdef0123456789abcdef01234567\n",
        b"0123456789abcdef0123456789abcdef01234567",
        b"0123456789ABCDEF0123456789abcdef01234567\n",
        b"0123456789abcdef0123456789abcdef01234567 more\n",
        b"0123456789abcdef0123456789abcdef01234567x\n",
        b"0123456789abcdef0123456789abcdef0123456\n",
        b"0123456789abcdef0123456789abcdef0123456701234567\n",
        b"0123456789abcdef0123456789abcdef01234567\x0c\n",
        b"\xef\xbb\xbfref: refs/heads/main\n",
    ];
    let content = match random.below(10) {
        0 => format!("ref:{spaces}refs/heads/main\n").into_bytes(),
        1 => format!("ref: {}{spaces}{spaces}refs/heads/main\n", " ".repeat(40)).into_bytes(),
        2 => format!("ref: refs/heads/{}\n", "long".repeat(50)).into_bytes(),
        3 => format!("ref: refs/heads/main{}\n", spaces.repeat(5)).into_bytes(),
        _ => random.of(odd).to_vec(),
    };
    write(&head, &content);
}

/// Writes symbolic references that lead to each other.
fn chain(random: &mut Random, common_dir: &Path, name: &str) {
    let heads = common_dir.join("refs/heads");
    fs::create_dir_all(&heads).expect("a folder can be made");
    let length = random.below(7);
    for link in 0..length {
        let content = format!("ref: refs/heads/{name}{}\n", link + 1);
        write(&heads.join(format!("{name}{link}")), content.as_bytes());
    }
    let last = heads.join(format!("{name}{length}"));
    match random.below(6) {
        0 => write(&last, b""),
        1 => write(&last, b"garbage\n"),
        2 => fs::create_dir_all(last.join("below")).expect("a folder can be made"),
        3 => write(&last, format!("{OBJECT}\n").as_bytes()),
        4 => write(&last, b"ref: refs/tags/x\n"),
        _ => {}
    }
}

fn write(path: &Path, content: &[u8]) {
    fs::write(path, content).expect("a file can be written");
}
