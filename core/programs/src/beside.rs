//! Files whose names are made of an operand and something more.

use super::Invocation;
use super::operand::operand;
use super::options::Words;
use super::role::Role;
use callgate_shell::{Construct, NotUnderstood, Value, Word};

/// Adds the copies that `sed -i.bak` leaves beside what it edits, and the archives that `zip` and `unzip` look for.
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
            let edited = edited.map(|one| Word {
                place: one.place,
                value: one.value.clone(),
            });
            (Role::WritePath, edited.collect(), suffixes(found))
        }
        "zip" => (Role::WritePath, first(found).to_vec(), vec![".zip".to_owned()]),
        "unzip" => {
            // It matches names itself.
            let is_pattern = |word: &&Word| word.exact().is_some_and(|text| text.contains(['*', '?', '[']));
            if let Some(word) = first(found).iter().find(is_pattern) {
                return Err(NotUnderstood {
                    place: word.place,
                    construct: Construct::UnknownWord,
                });
            }
            (
                Role::ReadPath,
                first(found).to_vec(),
                vec![".zip".to_owned(), ".ZIP".to_owned()],
            )
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
