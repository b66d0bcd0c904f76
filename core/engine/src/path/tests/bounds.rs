//! The costs of one value, and values that are too long or too deep.

use std::borrow::Cow;

use super::disk::Disk;
use super::sample::{resolved, sample};
use crate::host::{Facts, GitIgnore, HostError};
use crate::limits::Limits;
use crate::path::*;

#[test]
fn a_component_that_no_file_system_takes_is_unresolvable() {
    let disk = sample();
    let value = format!("/srv/box/escape/{}", "n".repeat(300));
    assert_eq!(resolved(&disk, &value), Err(Unresolvable::Other.to_string()));
    let value = "/a".repeat(16_385);
    let too_long = Unresolvable::TooLong {
        bytes: 32_770,
        limit: 32_768,
    };
    assert_eq!(resolved(&disk, &value), Err(too_long.to_string()));
    assert_eq!(disk.asked.borrow().len(), 1);
}

#[test]
fn the_links_of_one_walk_are_counted_together() {
    for (count, expected) in [
        (40, Ok("/srv/new/below".to_owned())),
        (41, Err(Unresolvable::Loop.to_string())),
    ] {
        let chain: Vec<String> = (1..count)
            .map(|at| format!("/srv/l{at} -> l{}", at + 1))
            .collect();
        let last = format!("/srv/l{count} -> new");
        let disk = Disk::new(chain.iter().map(String::as_str).chain([last.as_str()]));
        assert_eq!(resolved(&disk, "/srv/l1/below"), expected, "{count}");
    }
}

/// A host whose `realpath` finds nothing and whose every name is a link to itself with one name more.
struct Endless;

impl crate::host::Host for Endless {
    fn home_dir(&self) -> &str {
        "/"
    }
    fn current_dir(&self) -> &str {
        "/"
    }

    fn ignores_path_case(&self) -> bool {
        false
    }
    fn realpath<'p>(&self, path: &'p str) -> Result<Cow<'p, str>, crate::host::RealpathError> {
        if path == "/" {
            return Ok("/".into());
        }
        Err(crate::host::RealpathError::NotFound)
    }
    fn read_link(&self, path: &str) -> Result<Option<String>, HostError> {
        Ok(Some(format!("{path}x/x")))
    }
    fn git_remote_urls(&self, _repo: &str, _remote: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }
    fn git_default_remote_urls(&self, _repo: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }

    fn is_directory(&self, _: &str) -> Result<Option<bool>, HostError> {
        Ok(Some(false))
    }

    fn git_url(&self, _: &str, url: &str) -> Result<Vec<String>, HostError> {
        Ok(vec![url.to_owned()])
    }

    fn git_branch(&self, _: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn git_push_refs(&self, _: &str, _: &str, _: &str) -> Result<Option<Vec<String>>, HostError> {
        Ok(Some(Vec::new()))
    }

    fn git_check_ignore(&self, _: &str) -> Result<Option<GitIgnore>, HostError> {
        Ok(None)
    }
}

#[test]
fn links_without_end_are_given_up() {
    let mut facts = Facts::new(&Endless, false);
    let limits = Limits::default();
    let mut resolver = Resolver {
        facts: &mut facts,
        home: "/",
        limits: &limits,
        path_case: PathCase::Sensitive,
    };
    let too_many = Unresolvable::TooManyLinks { limit: 40 };
    assert_eq!(resolver.resolve("/a", "/"), Err(too_many));
}

#[test]
fn the_host_is_asked_no_more_than_needed() {
    let disk = sample();
    for (value, expected) in [
        ("/srv/box/a.txt", &["realpath /srv/box/a.txt"][..]),
        ("/../srv/box//a.txt", &["realpath /srv/box/a.txt"]),
        (
            "/srv/box/new",
            &[
                "realpath /srv/box/new",
                "realpath /srv/box",
                "readLink /srv/box/new",
            ],
        ),
        (
            "/srv/box/src/../new",
            &[
                "realpath /srv/box/new",
                "realpath /srv/box",
                "readLink /srv/box/new",
                "realpath /srv/box/src",
            ],
        ),
        (
            "/srv/sb/src/main.rs",
            &["realpath /srv/sb/src/main.rs", "readLink /srv/sb"],
        ),
    ] {
        disk.asked.borrow_mut().clear();
        resolved(&disk, value).unwrap();
        assert_eq!(*disk.asked.borrow(), expected, "{value:?}");
    }
}

#[test]
fn what_is_asked_again_is_counted() {
    let limits = Limits::default();
    for (value, most) in [
        ("/srv/box/src/../a.txt".to_owned(), 1_000),
        (format!("/srv/box/new{}", "/n".repeat(2_000)), 1_000),
        (format!("/srv/sb{}", "/../sb".repeat(50)), 50),
    ] {
        let disk = sample();
        let mut facts = Facts::bounded(&disk, false, 20_000);
        let mut times = 0;
        while !facts.has_failed() && times <= most {
            let mut resolver = Resolver {
                facts: &mut facts,
                home: "/",
                limits: &limits,
                path_case: PathCase::Sensitive,
            };
            let _ = resolver.resolve(&value, "/");
            times += 1;
        }
        assert!(
            facts.is_exhausted(),
            "{value:?} is resolved more than {most} times"
        );
    }
}

#[test]
fn many_missing_names_cost_few_questions() {
    let disk = sample();
    let tail = "/a".repeat(16_000);
    assert_eq!(
        resolved(&disk, &format!("/srv/box/escape{tail}")),
        Ok(format!("/etc{tail}"))
    );
    assert!(
        disk.asked.borrow().len() < 60,
        "{} questions",
        disk.asked.borrow().len()
    );

    let existing = "/a".repeat(100);
    let deep = Disk::new([format!("{existing}/").as_str()]);
    for missing in 1..100 {
        let tail = "/b".repeat(missing);
        let value = format!("{existing}{tail}");
        assert_eq!(resolved(&deep, &value), Ok(value.clone()));
    }
}
