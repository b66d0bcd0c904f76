//! Programs of `awk` that are taken for data, run by each `awk` that people have: they write and run nothing, and read nothing but
//! their input.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failing test stops where it fails"
)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use callgate_programs::{Role, Table, describe};
use callgate_shell::{Surroundings, read};
use fastrand::Rng;

const SURROUNDINGS: Surroundings<'static> = Surroundings {
    directory: "/work",
    home: "/home/u",
};

/// How many programs are generated, of which about a quarter is data.
const GENERATED: usize = 6_000;

/// What stands in the file and in the variable that no program may read.
const SECRET: &str = "lorem-ipsum";

const AWKS: &[&[&str]] = &[&["gawk"], &["mawk"], &["original-awk"], &["busybox", "awk"]];

/// What programs are made of: the tokens that tell writing, running and reading from anything else.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "{", "}", "(", ")", "[", "]", ";", "\n", ",", "$1", "$0", "x", "a", "1", "2.5", "1e5", "NR", "(1)", "x++", " ", "  ",
    "\"q\"", "\"\\\"\"", "\"/\"", "/re/", "/\"/", "/", "/[/]/", "/\\//", "\"",
    "/=", "=", "==", ">", ">", ">", ">>", "|", "||", "&&", "!", "~", "+", "-", "++", "--", "%", "?", ":", "\\", "\\\n", "#", "# \"\n",
    "print ", "print", "printf ", "if", "if(1)", "while", "for", "else ", "do ", "length", "length ", "in ", "return ", "exit ",
    "BEGIN", "END", "case ", "switch", "default:", "delete a", "next", "nextfile", "func", "function f(x)", "f(", "@f(", "getline",
    "> \"out\"", " >\"out\"", "print \"x\" > \"out\"", "print(\"x\") > \"out\"", "| \"touch out\"",
    "system(\"touch out\")", "\"touch out\"", "\"touch out\" | getline", "getline < \"secret\"", "ENVIRON[\"SECRET\"]", "ARGV[1]=\"secret\"",
];

const BEGINNINGS: &[&str] = &["{", "BEGIN{", "{ print x ", "BEGIN { if (1) ", "BEGIN{x=1;"];

/// Ends that write where what stands before them is read in another way than it was here.
const ENDS: &[&str] = &[
    "}",
    "\n}",
    "",
    ";print \"x\" > \"out\"}",
    "; print > \"out\" #\"\n}",
    "/;print \"x\" > \"out\" #\"/\n}",
    "/=/;print \"x\" > \"out\" #\"/\n}",
    " /=\"/;print > \"out\" #\"\n}",
    "; print ENVIRON[\"SECRET\"] #\"\n}",
];

#[test]
fn programs_that_are_data_only_print() {
    let awks: Vec<_> = AWKS.iter().filter(|awk| is_there(awk)).collect();
    if awks.len() < AWKS.len() {
        let required = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!required, "of {AWKS:?} only {awks:?} are installed");
        println!("skipped: of {AWKS:?} only {awks:?} are installed");
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("awk");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("in"), "q re a\n\"/ 1\n").unwrap();
    fs::write(directory.join("secret"), SECRET).unwrap();

    let mut random = Rng::with_seed(42);
    let table = Table::builtin();
    let programs = (0..GENERATED).map(|_| program(&mut random));
    let mut ran = 0;
    for program in programs.filter(|program| is_data(program, &table)) {
        for awk in &awks {
            let (is_run, printed) = run(awk, &program, &directory);
            ran += usize::from(is_run);
            assert!(!printed.contains(SECRET), "{awk:?} read more: {program:?}");
            let files = fs::read_dir(&directory).unwrap().count();
            assert_eq!(files, 2, "{awk:?} wrote something: {program:?}");
        }
    }
    assert!(ran > 50 * awks.len(), "only {ran} programs ran without a fault");
}

fn program(random: &mut Rng) -> String {
    let mut choose = |from: &[&str]| random.choice(from.iter()).copied().unwrap_or_default().to_owned();
    let mut text = choose(BEGINNINGS);
    let count = choose(&["1", "2", "3", "4", "5", "6", "7"]).parse().unwrap_or(1);
    text.extend((0..count).map(|_| choose(PIECES)));
    text + &choose(ENDS)
}

/// Returns `true` if the engine takes the program for data.
fn is_data(program: &str, table: &Table) -> bool {
    let reading = read(&format!("awk '{program}' in"), &SURROUNDINGS);
    let described = describe(&reading, table, "/home/u");
    let mut operands = described.invocations.iter().flat_map(|one| &one.operands);
    described.not_understood.is_empty() && operands.all(|operand| operand.role != Role::Execute)
}

fn is_there(awk: &[&str]) -> bool {
    let Some((name, arguments)) = awk.split_first() else {
        return false;
    };
    let mut command = Command::new(name);
    command.args(arguments).arg("BEGIN {}");
    command.status().is_ok_and(|status| status.success())
}

/// Runs a program, for a second if it does not end. Returns whether it ran without a fault, and what it printed.
fn run(awk: &[&str], program: &str, directory: &Path) -> (bool, String) {
    let (name, arguments) = awk.split_first().unwrap();
    let mut child = Command::new(name)
        .args(arguments)
        .args([program, "in"])
        .env("SECRET", SECRET)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_run = ends(&mut child);
    let output = child.wait_with_output().unwrap();
    (is_run, String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Waits for it. Returns `true` if it ran without a fault.
fn ends(child: &mut Child) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(1) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    false
}
