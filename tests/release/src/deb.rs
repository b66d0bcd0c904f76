//! A package of Debian's: <https://man7.org/linux/man-pages/man5/deb.5.html>.

use crate::archive::{Entry, ar, gzip, tgz};
use crate::binary::Binary;
use crate::{Artifact, REPOSITORY, SUMMARY, VERSION};

/// The folders of completions, by their files' folders or endings in `pages`.
fn place_of(page: &Entry) -> Option<String> {
    let (folder, name) = page.path.split_once('/')?;
    Some(match (folder, name) {
        ("man", _) => format!("./usr/share/man/man1/{name}.gz"),
        (_, "callgate.bash") => "./usr/share/bash-completion/completions/callgate".to_owned(),
        (_, "callgate.fish") => "./usr/share/fish/vendor_completions.d/callgate.fish".to_owned(),
        (_, "_callgate") => "./usr/share/zsh/vendor-completions/_callgate".to_owned(),
        _ => return None,
    })
}

pub(crate) fn of(binary: &Binary, pages: &[Entry], licenses: &[Entry]) -> Result<Artifact, String> {
    let arch = binary.platform.debian;
    let mut data = vec![Entry::program("./usr/bin/callgate", binary.bytes.clone())];
    for page in pages {
        let path =
            place_of(page).ok_or_else(|| format!("`{}` has no place in a package of Debian's", page.path))?;
        let bytes = match path.ends_with(".gz") {
            true => gzip(&page.bytes)?,
            false => page.bytes.clone(),
        };
        data.push(Entry::file(&path, bytes));
    }
    let copyright = licenses
        .iter()
        .flat_map(|license| [&license.bytes[..], b"\n"].concat())
        .collect();
    data.push(Entry::file("./usr/share/doc/callgate/copyright", copyright));
    let size: usize = data.iter().map(|entry| entry.bytes.len()).sum();
    let control = format!(
        "Package: callgate\nVersion: {VERSION}\nArchitecture: {arch}\nMaintainer: {}\nInstalled-Size: {}\nSection: admin\n\
         Priority: optional\nHomepage: {REPOSITORY}\nDescription: {SUMMARY}\n",
        env!("CARGO_PKG_AUTHORS"),
        size.div_ceil(1024),
    );
    let members = [
        Entry::file("debian-binary", b"2.0\n".to_vec()),
        Entry::file(
            "control.tar.gz",
            tgz(&[Entry::file("./control", control.into_bytes())])?,
        ),
        Entry::file("data.tar.gz", tgz(&data)?),
    ];
    Ok(Artifact {
        name: format!("callgate_{VERSION}_{arch}.deb"),
        bytes: ar(&members),
    })
}
