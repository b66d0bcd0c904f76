//! Files whose names are made of an operand and something more.

use super::operand::operand;
use super::options::Words;
use super::role::Role;
use super::{Invocation, Operand};
use callgate_shell::{Construct, NotUnderstood, Value, Word};

/// Adds the copies that `sed -i.bak` leaves beside what it edits, and the archives that programs look for.
pub(super) fn beside(
    found: &Words,
    directories: &Option<Vec<String>>,
    invocation: &mut Invocation,
) -> Result<(), NotUnderstood> {
    let (role, files, ends) = match invocation.program.as_str() {
        "sed" => {
            let edited = invocation
                .operands
                .iter()
                .filter(|one| one.role == Role::WritePath);
            (Role::WritePath, edited.map(word).collect(), suffixes(found))
        }
        "zip" => {
            // It reads what is in an archive anew from the disk, if its name matches.
            no_pattern(&found.operands)?;
            (Role::WritePath, first(found).to_vec(), vec![".zip".to_owned()])
        }
        "unzip" => {
            no_pattern(first(found))?;
            (
                Role::ReadPath,
                first(found).to_vec(),
                vec![".zip".to_owned(), ".ZIP".to_owned()],
            )
        }
        "zcat" => (Role::ReadPath, found.operands.clone(), ended(&[".gz", ".Z"])),
        "bzcat" => (Role::ReadPath, found.operands.clone(), ended(&[".bz2"])),
        "xzcat" => (Role::ReadPath, found.operands.clone(), ended(&[".xz", ".lzma"])),
        "zgrep" => {
            let searched = invocation.operands.iter();
            let searched = searched.filter(|one| one.role == Role::ReadPath && one.place != invocation.place);
            (
                Role::ReadPath,
                searched.map(word).collect(),
                ended(&[".gz", ".Z"]),
            )
        }
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" => {
            let ends = ended(&[".gz", ".Z", ".bz2", ".xz", ".lzma", ".zst"]);
            (Role::ReadPath, found.operands.clone(), ends)
        }
        _ => return Ok(()),
    };
    // Their copies have the suffix as well, beside them.
    let known = invocation.operands.len();
    for word in found.after_suffix.iter().flatten().skip(1) {
        operand(
            Role::WritePath,
            word,
            directories,
            false,
            &mut invocation.operands,
        )?;
    }
    // After an empty suffix the first word is the script to BSD.
    let script = first(found).iter().filter(|_| found.has_empty_suffix);
    let script = script.map(|word| word.place).next();
    for (at, one) in invocation.operands.iter_mut().enumerate() {
        one.is_edited_if_there = at >= known || Some(one.place) == script;
    }
    for (word, text) in files.iter().filter_map(|word: &Word| Some((word, word.exact()?))) {
        for end in &ends {
            let beside = Word {
                place: word.place,
                value: Value::Exact(format!("{text}{end}")),
            };
            operand(role, &beside, directories, false, &mut invocation.operands)?;
        }
    }
    Ok(())
}

fn word(operand: &Operand) -> Word {
    Word {
        place: operand.place,
        value: operand.value.clone(),
    }
}

/// Refuses a pattern that the program matches itself, be it quoted or one of the shell that matches nothing.
fn no_pattern(words: &[Word]) -> Result<(), NotUnderstood> {
    let is_pattern = |word: &&Word| match &word.value {
        Value::Exact(text) => text.contains(['*', '?', '[']),
        value => matches!(value, Value::Pattern { .. }),
    };
    match words.iter().find(is_pattern) {
        Some(word) => Err(NotUnderstood {
            place: word.place,
            construct: Construct::UnknownWord,
        }),
        None => Ok(()),
    }
}

fn ended(ends: &[&str]) -> Vec<String> {
    ends.iter().map(|end| (*end).to_owned()).collect()
}

fn first(found: &Words) -> &[Word] {
    found.operands.get(..1).unwrap_or_default()
}

/// What `sed` puts behind the names of its copies. BSD takes the word after `-i` for it, which is the script to GNU.
fn suffixes(found: &Words) -> Vec<String> {
    let given = found.values.iter().filter(|(_, role, _)| *role == Role::Suffix);
    let given: Vec<String> = given
        .filter_map(|(_, _, word)| Some(word.exact()?.to_owned()))
        .collect();
    let is_apart =
        given.is_empty() && !found.has_empty_suffix && found.options.iter().any(|option| option == "-i");
    let script = first(found)
        .iter()
        .filter_map(Word::exact)
        .filter(|text| !text.contains('/'));
    let script = script.filter(|_| is_apart && found.operands.len() > 2);
    given.into_iter().chain(script.map(str::to_owned)).collect()
}
