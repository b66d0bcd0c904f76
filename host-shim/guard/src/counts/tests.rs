use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use serde_json::json;

use super::*;

fn counters(value: Value) -> Counters {
    let counters: Vec<Counter> = serde_json::from_value(value).unwrap();
    Counters(counters.into())
}

fn clock(at: i64, up: i64, boot: Option<&str>) -> Clock {
    Clock {
        at,
        up,
        boot: boot.map(str::to_owned),
    }
}

fn caller(subject: Option<&str>, session: Option<&str>) -> Caller {
    Caller {
        subject: subject.map(str::to_owned),
        agent: None,
        session: session.map(str::to_owned),
    }
}

fn explained(adds: &[(&str, u64)]) -> Value {
    let steps = adds
        .iter()
        .map(|(name, adds)| json!({"counter": name, "count": null, "adds": adds}));
    json!({"counters": steps.collect::<Vec<_>>()})
}

struct Kept {
    folder: tempfile::TempDir,
    counts: Counts,
    counters: Counters,
}

impl Kept {
    fn new(value: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            counts: Counts::new(folder.path().join("state")),
            folder,
            counters: counters(value),
        }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state/counts.json")
    }

    fn begin(&self, caller: &Caller, clock: Clock) -> Counting {
        let begun = self.counts.begin_at(&self.counters, caller, None, clock);
        begun.unwrap()
    }

    fn add(&self, caller: &Caller, clock: Clock, adds: &[(&str, u64)]) {
        let counting = self.begin(caller, clock);
        counting.add(Some(&explained(adds)), None).unwrap();
    }

    fn count(&self, name: &str, caller: &Caller, clock: Clock) -> u64 {
        self.begin(caller, clock).counted()[name]
    }
}

#[test]
fn calls_count_for_their_time() {
    let kept = Kept::new(json!([{"name": "a", "seconds": 60}, {"name": "b", "seconds": 10}]));
    let (nobody, at) = (Caller::default(), |up| clock(1_000 + up, up, Some("x")));
    assert_eq!(kept.count("a", &nobody, at(0)), 0);
    kept.add(&nobody, at(0), &[("a", 1), ("b", 2), ("another", 1)]);
    kept.add(&nobody, at(0), &[("a", 1)]);
    kept.add(&nobody, at(30), &[("a", 3)]);
    for (up, a, b) in [(30, 5, 0), (60, 5, 0), (61, 3, 0), (90, 3, 0), (91, 0, 0)] {
        let counted = kept.begin(&nobody, at(up)).counted();
        assert_eq!((counted["a"], counted["b"]), (a, b), "{up}");
    }
    // A policy with a longer time finds what is kept for the shorter one.
    assert_eq!(kept.begin(&nobody, at(31)).kept.calls.len(), 2);
}

#[test]
fn whoever_is_not_named_may_be_anybody() {
    let kept = Kept::new(json!([
        {"name": "all", "seconds": 60},
        {"name": "one", "seconds": 60, "per": "session"},
        {"name": "both", "seconds": 60, "per": ["subject", "session"]},
    ]));
    let now = || clock(0, 0, Some("x"));
    let one = [("all", 1), ("one", 1), ("both", 1)];
    kept.add(&caller(Some("ann"), Some("s1")), now(), &one);
    kept.add(&caller(Some("bob"), Some("s2")), now(), &one);
    kept.add(&caller(Some("bob"), None), now(), &one);
    for (subject, session, expected) in [
        (Some("ann"), Some("s1"), [3, 2, 1]),
        (Some("bob"), Some("s1"), [3, 2, 1]),
        (Some("bob"), Some("s2"), [3, 2, 2]),
        (None, Some("s1"), [3, 2, 2]),
        (None, None, [3, 3, 3]),
        (Some("eve"), Some("s3"), [3, 1, 0]),
    ] {
        let counted = kept.begin(&caller(subject, session), now()).counted();
        let found = [counted["all"], counted["one"], counted["both"]];
        assert_eq!(found, expected, "{subject:?} {session:?}");
    }
    // No more is kept of who asked than is counted by.
    let text = fs::read_to_string(kept.file()).unwrap();
    assert_eq!(text.matches("ann").count(), 1, "{text}");
}

#[test]
fn no_clock_that_is_set_has_a_call_forgotten() {
    let nobody = Caller::default();
    let kept = |first: Clock| {
        let kept = Kept::new(json!([{"name": "a", "seconds": 100}]));
        kept.add(&nobody, first, &[("a", 1)]);
        kept
    };
    // While the machine runs, its own clock counts.
    let same = kept(clock(1_000, 50, Some("x")));
    assert_eq!(same.count("a", &nobody, clock(9_000_000, 60, Some("x"))), 1);
    assert_eq!(same.count("a", &nobody, clock(0, 150, Some("x"))), 1);
    assert_eq!(same.count("a", &nobody, clock(1_001, 151, Some("x"))), 0);
    // Once it was started again, what the other clock says, but for the future.
    let again = kept(clock(1_000, 50, Some("x")));
    assert_eq!(again.count("a", &nobody, clock(1_100, 3, Some("y"))), 1);
    assert_eq!(again.count("a", &nobody, clock(1_101, 3, Some("y"))), 0);
    assert_eq!(again.count("a", &nobody, clock(5, 3, Some("y"))), 1);
    again.add(&nobody, clock(5, 3, Some("y")), &[("a", 1)]);
    assert_eq!(again.count("a", &nobody, clock(5, 103, Some("y"))), 2);
    assert_eq!(again.count("a", &nobody, clock(5, 104, Some("y"))), 0);
    // Where only that one is known, a call of the future was made just now.
    let other = kept(clock(1_000, 1_000, None));
    assert_eq!(other.count("a", &nobody, clock(1_100, 1_100, None)), 1);
    assert_eq!(other.count("a", &nobody, clock(1_101, 1_101, None)), 0);
    other.add(&nobody, clock(10, 10, None), &[("a", 1)]);
    assert_eq!(other.count("a", &nobody, clock(110, 110, None)), 2);
    assert_eq!(other.count("a", &nobody, clock(111, 111, None)), 0);
}

#[test]
fn the_file_is_bounded() {
    let kept = Kept::new(json!([{"name": "a", "seconds": 100_000, "per": "session"}]));
    let (one, at) = (caller(None, Some("s")), |up| clock(up, up, Some("x")));
    for up in 0..30 {
        kept.add(&one, at(up), &[("a", 100)]);
    }
    let counting = kept.begin(&one, at(30));
    assert_eq!(
        (counting.counted()["a"], counting.kept.calls.len()),
        (HIGHEST, 10)
    );
    drop(counting);
    // Beyond the bound nothing is added, and nothing is forgotten.
    let mut counting = kept.begin(&one, at(31));
    let of = |number: usize| Call {
        counter: "a".to_owned(),
        count: 1,
        at: 31,
        up: 31,
        seconds: 100_000,
        caller: caller(None, Some(&format!("s{number}"))),
        tool: None,
    };
    counting.kept.calls = (0..MOST).map(of).collect();
    let refused = counting.add(Some(&explained(&[("a", 1)])), None).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::StorageFull, "{refused}");
    assert_eq!(kept.count("a", &one, at(31)), HIGHEST);
}

#[test]
fn what_cannot_be_read_is_not_nothing() {
    let kept = Kept::new(json!([{"name": "a", "seconds": 60}]));
    let file = kept.file();
    let begin = || kept.counts.begin(&kept.counters, &Caller::default(), None);
    assert_eq!(begin().unwrap().counted()["a"], 0);
    for text in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"format":"counts/2","boot":null,"calls":[]}"#,
        r#"{"format":"counts/1","boot":null,"calls":[{"counter":"a","count":-1,"at":0,"up":0,"seconds":60}]}"#,
    ] {
        fs::write(&file, text).unwrap();
        assert!(begin().is_err(), "{text}");
    }
    begin().err().unwrap();
    fs::remove_file(&file).unwrap();
    drop(begin().unwrap());
    fs::write(&file, r#"{"format":"counts/1","boot":null,"calls":[]}"#).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(begin().is_err());
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert!(begin().is_err());
}

#[test]
fn a_call_about_which_an_agent_asks_twice_is_one() {
    let kept = Kept::new(json!([{"name": "a", "seconds": 60, "per": "session"}]));
    let (now, one) = (|| clock(0, 0, Some("x")), caller(None, Some("s")));
    let begin = |again| kept.counts.begin_at(&kept.counters, &one, again, now()).unwrap();
    let (explained, tool) = (explained(&[("a", 1)]), Some("claude-code/Bash"));
    begin(None).add(Some(&explained), tool).unwrap();
    assert_eq!(begin(None).counted()["a"], 1);
    // It does not see itself, and is not added again.
    let again = begin(tool);
    assert_eq!(again.counted()["a"], 0);
    again.add(Some(&explained), None).unwrap();
    assert_eq!(begin(None).counted()["a"], 1);
    // The next one does, whether or not there was a first event.
    let again = begin(tool);
    assert_eq!(again.counted()["a"], 1);
    again.add(Some(&explained), None).unwrap();
    assert_eq!(begin(None).counted()["a"], 2);
    // Calls of one second that may be asked about again stay apart.
    begin(None).add(Some(&explained), tool).unwrap();
    begin(None).add(Some(&explained), tool).unwrap();
    assert_eq!(begin(tool).counted()["a"], 3);
}

#[test]
fn of_two_at_once_the_second_sees_the_first() {
    const BOUND: u64 = 5;
    let kept = Kept::new(json!([{"name": "a", "seconds": 60}]));
    let made: u64 = thread::scope(|scope| {
        let each = || {
            let mut made = 0;
            for _ in 0..4 {
                let counting = kept
                    .counts
                    .begin(&kept.counters, &Caller::default(), None)
                    .unwrap();
                if counting.counted()["a"] < BOUND {
                    counting.add(Some(&explained(&[("a", 1)])), None).unwrap();
                    made += 1;
                }
            }
            made
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(each)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(made, BOUND);
}

#[test]
fn a_context_says_what_was_counted() {
    let counted = Counted::from([("a".to_owned(), 2)]);
    let said = |context: Option<&str>| said(context.map(str::to_owned), Some(&counted));
    assert_eq!(said(None).as_deref(), Some(r#"{"counts":{"a":2}}"#));
    let own = r#"{"counts":{"a":0},"mode":"m"}"#;
    assert_eq!(
        said(Some(own)).as_deref(),
        Some(r#"{"counts":{"a":2},"mode":"m"}"#)
    );
    assert_eq!(said(Some("[]")).as_deref(), Some("[]"));
    assert_eq!(super::said(None, None), None);
}
