//! What a program reads of a tree: names that options leave out, names that alone they take in, and hidden ones.

use super::options::Words;
use super::program::Program;
use super::role::Role;
use super::{Contents, Hidden, Ignored};
use callgate_shell::Word;

/// What is left out of a tree whose contents the program reads.
pub(super) fn contents(program: &Program, found: &Words, name: &str) -> Option<Contents> {
    let without = program.without.clone()?;
    // Where the option also takes names in, those that it leaves out begin with `!`.
    let is_marked = without.contains('!');
    let mut left_out = Vec::new();
    // What takes names in counts beside what leaves them out, and the last one decides.
    let takes_in = |(option, _, word): &&(String, Role, Word)| {
        let is_glob = program.leaves_out.contains(option) && is_marked;
        option == "--include" || is_glob && !word.exact().is_some_and(|name| name.starts_with('!'))
    };
    let taken_in = taken_in(program, found, &takes_in);
    let is_plain = |name: &str| {
        let stem = name.strip_prefix('*').unwrap_or(name);
        !stem.is_empty()
            && stem
                .bytes()
                .all(|one| one.is_ascii_alphanumeric() || b"._-".contains(&one))
    };
    let has_others = found.values.iter().any(|value| takes_in(&value));
    let of_directory = |option: &String| option.ends_with("-dir");
    let options = found.values.iter();
    // To `tar` it says nothing of what stands before it.
    let first = found
        .operands
        .first()
        .map(|word| word.place)
        .filter(|_| name == "tar");
    let counts = |word: &Word| first.is_none_or(|first| word.place.start < first.start);
    let counted = options.filter(|(option, _, word)| counts(word) && (!has_others || of_directory(option)));
    for (option, _, word) in counted {
        let name = word.exact().filter(|_| program.leaves_out.contains(option));
        let name = if is_marked {
            name.and_then(|name| name.strip_prefix('!'))
        } else {
            name
        };
        let Some(name) = name.filter(|name| is_plain(name)) else {
            continue;
        };
        let is_directory = of_directory(option);
        // Programs that have no other option for directories leave those out by the same.
        let is_both = is_marked || option == "--exclude" && !program.values.contains_key("--exclude-dir");
        left_out.extend((is_both || is_directory).then(|| format!("{name}/")));
        left_out.extend((!is_directory).then(|| name.to_owned()));
    }
    let reads_hidden = |option: &String| program.hidden.contains(option);
    // What takes names in takes hidden ones in as well, and nothing that is in a hidden directory.
    let takes = has_others || found.options.iter().any(|option| is_type(program, option));
    let skips_hidden = !program.hidden.is_empty()
        && !found.options.iter().any(reads_hidden)
        && (!takes || taken_in.is_some());
    let has = |name: &str| found.options.iter().any(|option| option == name);
    let unhides = is_marked && !program.hidden.is_empty() && !has("--no-ignore");
    // What takes names in is read whatever ignores it, and another ignore file may take in anything.
    let heeds_git = ["--no-ignore-vcs", "-u", "--unrestricted"]
        .iter()
        .all(|one| !has(one))
        && !has_others;
    let has_own = has("--ignore-file");
    Some(Contents {
        without: Some(without),
        left_out,
        taken_in,
        hidden: match (skips_hidden && !has_own, unhides) {
            (false, _) => Hidden::Read,
            (true, true) => Hidden::SkippedUnlessNamed,
            (true, false) => Hidden::Skipped,
        },
        ignored: match unhides && heeds_git && !has_own {
            true => Ignored::SkippedByRipgrep,
            false => Ignored::Read,
        },
    })
}

/// Returns `true` if the option names a type of files, which are then read although they are hidden.
fn is_type(program: &Program, option: &str) -> bool {
    program.values.contains_key("--type-add") && matches!(option, "-t" | "--type")
}

/// The patterns of the only names that are read, where options say so and none of them is odd.
fn taken_in(
    program: &Program,
    found: &Words,
    takes_in: &dyn Fn(&&(String, Role, Word)) -> bool,
) -> Option<Vec<String>> {
    // The suffixes of the names that `rg --type` takes, or more.
    const TYPES: &[(&str, &str)] = &[
        ("rust", "*.rs"),
        ("py", "*.{py,pyi}"),
        ("python", "*.{py,pyi}"),
        ("ts", "*.{ts,tsx,cts,mts}"),
        ("typescript", "*.{ts,tsx,cts,mts}"),
        ("js", "*.{js,jsx,vue,cjs,mjs}"),
        ("go", "*.go"),
        ("css", "*.{css,scss}"),
        ("html", "*.{htm,html,ejs}"),
        ("md", "*.{markdown,md,mdown,mdwn,mdx,mkd,mkdn}"),
        ("swift", "*.swift"),
    ];
    let first = found.values.iter().find(|(option, _, _)| {
        option == "--include" || option.starts_with("--exclude") && option != "--exclude-dir"
    });
    // With grep the first of them says what is done with other names.
    let is_first = first.is_none_or(|(option, _, _)| option == "--include");
    let is_changed = found
        .options
        .iter()
        .any(|option| option == "--type-add" || option == "--iglob");
    if !is_first || is_changed {
        return None;
    }
    let globs = found.values.iter().filter(takes_in).map(|(_, _, word)| {
        let name = word.exact()?;
        let stem = name.strip_prefix("**/").unwrap_or(name);
        let is_plain = |one: u8| one.is_ascii_alphanumeric() || b"._-*{},".contains(&one);
        let is_known = stem.bytes().all(is_plain) && !stem.contains("**") && has_plain_braces(stem);
        (!stem.is_empty() && is_known).then(|| stem.to_owned())
    });
    let globs = globs.collect::<Option<Vec<String>>>()?;
    let types = found
        .values
        .iter()
        .filter(|(option, _, _)| is_type(program, option))
        .map(|(_, _, word)| {
            let known = TYPES.iter().find(|(name, _)| word.exact() == Some(name));
            known.map(|(_, glob)| (*glob).to_owned())
        });
    let types: Option<Vec<String>> = types.collect();
    // A name that a glob takes in is read whatever its type is.
    let names = if globs.is_empty() { types? } else { globs };
    (!names.is_empty()).then_some(names)
}

/// Returns `true` if there are no braces, or one pair with something in it: what stands alone is not read alike everywhere.
fn has_plain_braces(name: &str) -> bool {
    let Some((before, rest)) = name.split_once('{') else {
        return !name.contains('}');
    };
    let Some((inside, after)) = rest.split_once('}') else {
        return false;
    };
    let is_filled = inside.split(',').all(|one| !one.is_empty());
    !before.contains('}') && !inside.contains('{') && !after.contains(['{', '}']) && is_filled
}
