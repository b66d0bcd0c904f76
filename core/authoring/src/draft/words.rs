//! The words of names and sentences.

/// The words of a name, in lower case: `repo_path`, `repoPath`, `repo-path` and `RepoPath` have the same.
pub(super) fn of_name(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let is_lower = |at: usize| characters.get(at).is_some_and(|one| one.is_lowercase());
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    for (at, one) in characters.iter().enumerate() {
        // `fileName` begins a word at `N`, and so does `URLName`; `URLs` is one word.
        let is_plural = characters.get(at + 1) == Some(&'s') && !is_lower(at + 2);
        let begins = before.is_lowercase() || before.is_numeric() || is_lower(at + 1) && !is_plural;
        if !one.is_alphanumeric() || one.is_uppercase() && begins {
            keep(&mut words, &mut word);
        }
        if one.is_alphanumeric() {
            word.extend(one.to_lowercase());
        }
        before = *one;
    }
    keep(&mut words, &mut word);
    words
}

/// The words without what only counts: `path1`, `path_2` and `pathB` are each a `path`.
pub(super) fn without_count(mut words: Vec<String>) -> Vec<String> {
    while words.len() > 1 && words.last().is_some_and(|word| is_count(word)) {
        words.pop();
    }
    if let Some(last) = words.last_mut() {
        let stem = last.trim_end_matches(char::is_numeric).len();
        if stem > 1 {
            last.truncate(stem);
        }
    }
    words
}

fn is_count(word: &str) -> bool {
    word.len() == 1 || word.chars().all(char::is_numeric)
}

fn keep(words: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// The words of a text, in lower case, with the number of the sentence that each stands in.
pub(super) fn of_text(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let mut sentence = 0;
    let mut word = String::new();
    let mut characters = text.chars().take(READ).peekable();
    while let Some(one) = characters.next() {
        if one.is_alphanumeric() {
            word.extend(one.to_lowercase());
            continue;
        }
        if !word.is_empty() {
            words.push((sentence, std::mem::take(&mut word)));
        }
        let ends =
            matches!(one, '.' | ';' | '!' | '?') && characters.peek().is_none_or(|next| next.is_whitespace());
        // Descriptions are often indented, and begin with a line that has no words.
        if (ends || one == '\n') && words.last().is_some_and(|(last, _)| *last == sentence) {
            sentence += 1;
        }
    }
    if !word.is_empty() {
        words.push((sentence, word));
    }
    words
}

/// Words for what is a place on a disk in the languages in which servers describe their tools.
const FOREIGN: [(&str, &str); 26] = [
    ("路径", "path"),
    ("路徑", "path"),
    ("目录", "directory"),
    ("目錄", "directory"),
    ("文件夹", "directory"),
    ("資料夾", "directory"),
    ("文件", "file"),
    ("檔案", "file"),
    ("压缩包", "file"),
    ("パス", "path"),
    ("ディレクトリ", "directory"),
    ("フォルダ", "directory"),
    ("ファイル", "file"),
    ("경로", "path"),
    ("디렉터리", "directory"),
    ("폴더", "directory"),
    ("파일", "file"),
    ("путь", "path"),
    ("каталог", "directory"),
    ("файл", "file"),
    ("chemin", "path"),
    ("dateipfad", "path"),
    ("verzeichnis", "directory"),
    ("ruta", "path"),
    ("caminho", "path"),
    ("percorso", "path"),
];

/// The English word for the place of which a description in another language speaks.
pub(super) fn foreign_place(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let is_there = |word: &str| match word.is_ascii() {
        true => text
            .split(|one: char| !one.is_alphanumeric())
            .any(|one| one == word),
        false => text.contains(word),
    };
    let found = FOREIGN.iter().find(|(word, _)| is_there(word));
    found.map(|(_, english)| *english)
}

/// The most characters of a text that are looked at. What matters stands at its start.
const READ: usize = 2_000;

/// Returns `true` if the word is the singular `one`, or its plural.
pub(super) fn is_form_of(word: &str, one: &str) -> bool {
    if word == one {
        return true;
    }
    match one.strip_suffix('y') {
        Some(stem) if word.strip_suffix("ies") == Some(stem) => true,
        Some(_) | None => word
            .strip_prefix(one)
            .is_some_and(|rest| rest == "s" || rest == "es"),
    }
}

/// Returns `true` if the words end with those of `phrase`, in the singular or the plural.
pub(super) fn end_with(words: &[String], phrase: &str) -> bool {
    let mut words = words.iter().rev();
    phrase
        .rsplit(' ')
        .all(|one| words.next().is_some_and(|word| is_form_of(word, one)))
}

/// The place in `words` at which `phrase` begins, in the singular or the plural.
pub(super) fn find<'w>(words: &[&'w str], phrase: &str) -> Option<usize> {
    let length = phrase.split(' ').count();
    let is_here = |part: &[&'w str]| {
        let mut pairs = part.iter().zip(phrase.split(' '));
        pairs.all(|(word, one)| is_form_of(word, one))
    };
    words.windows(length).position(is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_same_words_however_they_are_written() {
        for (name, expected) in [
            ("repo_path", "repo path"),
            ("repoPath", "repo path"),
            ("Repo-Path", "repo path"),
            ("filename", "filename"),
            ("sourceURL", "source url"),
            ("URLPath", "url path"),
            ("imageURLs", "image urls"),
            ("URLs", "urls"),
            ("file2Path", "file2 path"),
            ("__a..b", "a b"),
            ("ÄnderungsName", "änderungs name"),
            ("", ""),
        ] {
            assert_eq!(of_name(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn names_that_count_have_the_words_of_what_they_count() {
        for (name, expected) in [
            ("path1", "path"),
            ("file_12", "file"),
            ("fileB", "file"),
            ("q", "q"),
            ("a1", "a1"),
            ("1", "1"),
            ("", ""),
        ] {
            assert_eq!(without_count(of_name(name)).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn places_are_known_in_other_languages() {
        for (text, expected) in [
            ("待压缩的文件或文件夹路径", Some("path")),
            ("保存先のディレクトリ", Some("directory")),
            ("Chemin du fichier", Some("path")),
            ("A truncated text", None),
            ("压缩密码", None),
        ] {
            assert_eq!(foreign_place(text), expected, "{text}");
        }
    }

    #[test]
    fn phrases_are_found_in_either_number() {
        let words = of_name("allowedRepositories");
        assert!(end_with(&words, "repository"));
        assert!(end_with(&words, "allowed repository"));
        assert!(!end_with(&words, "my allowed repository"));
        let text = of_text("\n  The paths of files. Next one");
        assert_eq!(text.last(), Some(&(1, "one".to_owned())));
        let words: Vec<&str> = text.iter().map(|(_, word)| word.as_str()).collect();
        assert_eq!(find(&words, "path of"), Some(1));
        assert_eq!(find(&words, "of path"), None);
    }
}
