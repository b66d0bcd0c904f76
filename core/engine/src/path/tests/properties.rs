//! Properties of every value and every disk.

use proptest::prelude::*;

use super::disk::Disk;
use super::sample::{names, sample};
use crate::path::lexical::is_collapsed;

/// Values that are likely to meet the disk's links, and arbitrary text.
fn any_value() -> impl Strategy<Value = String> {
    let names: Vec<&str> = names().chain(["..", "..", ".", "", "new", "zz"]).collect();
    let path = prop::collection::vec(prop::sample::select(names), 0..6).prop_map(|names| names.join("/"));
    let start = prop::sample::select(vec!["", "/", "~/", "/srv/box/", "/srv/sb/"]);
    prop_oneof![
        4 => (start, path).prop_map(|(start, path)| format!("{start}{path}")),
        1 => "\\PC{0,12}",
        1 => any::<String>(),
    ]
}

/// A disk of up to twelve links, some of which form chains, loops and escapes.
fn any_disk() -> impl Strategy<Value = Disk> {
    let target = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "..", "."]), 1..4);
    let link = ("[abc]{1}", "[abc]{1}", any::<bool>(), target);
    prop::collection::vec(link, 0..12).prop_map(|links| {
        let entries: Vec<String> = links
            .into_iter()
            .map(|(directory, name, rooted, target)| {
                let root = if rooted { "/" } else { "" };
                format!("/{directory}/{directory}{name} -> {root}{}", target.join("/"))
            })
            .collect();
        Disk::new(entries.iter().map(String::as_str).chain(["/a/", "/b/c/", "/c"]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn an_answer_is_canonical_whatever_the_value(value in any_value()) {
        let disk = sample();
        if let Ok(path) = disk.evaluate(|resolver| resolver.resolve(&value, "/srv/app")) {
            prop_assert!(is_collapsed(path.as_str()), "{value:?} is {path}");
            let again = disk.evaluate(|resolver| resolver.resolve(path.as_str(), "/elsewhere"));
            prop_assert_eq!(again, Ok(path));
        }
    }

    #[test]
    fn a_new_name_stays_within_its_directory(value in any_value()) {
        let disk = sample();
        let directory = disk.evaluate(|resolver| resolver.resolve(&value, "/srv/app"));
        let below = disk.evaluate(|resolver| resolver.resolve(&format!("{value}/not-there"), "/srv/app"));
        if let (Ok(directory), Ok(below)) = (directory, below) {
            prop_assert_eq!(&below.parent(), &directory);
            prop_assert!(below.is_within(&directory));
        }
    }

    #[test]
    fn an_answer_is_what_the_kernel_reaches(
        disk in any_disk(),
        names in prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "aa", "ab", "bb", "bc", ".."]), 0..6),
    ) {
        use crate::host::Host;
        let value = format!("/{}", names.join("/"));
        if let Ok(path) = disk.evaluate(|resolver| resolver.resolve(&value, "/")) {
            // The disk walks physically: where it reaches something, the answer is that.
            if let Ok(real) = disk.realpath(&value) {
                prop_assert_eq!(path.as_str(), real);
            } else {
                prop_assert!(!disk.holds(path.as_str()) || value.contains(".."), "{value} is {path}");
            }
        }
    }
}
