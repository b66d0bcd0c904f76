//! The source of a crate as tokens, without comments and without items that only tests compile.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// One file of a crate that is compiled outside tests.
pub(crate) struct Source {
    /// Its path below the crate's `src`.
    pub(crate) file: String,
    /// The modules that lead to it; empty for `lib.rs`.
    pub(crate) module: Vec<String>,
    /// Its tokens in order, those of groups included.
    pub(crate) tokens: Vec<Token>,
    /// Every path in it; an import with braces is several.
    pub(crate) paths: Vec<Named>,
}

/// A token and its line.
#[derive(Clone)]
pub(crate) struct Token {
    /// An identifier, a literal or a single punctuation mark or bracket.
    pub(crate) text: String,
    /// Its line, from 1.
    pub(crate) line: usize,
}

/// A path such as `crate::host::Facts`; `self` and `super` at its start are resolved to `crate::…`.
pub(crate) struct Named {
    /// Its segments.
    pub(crate) segments: Vec<String>,
    /// Its line, from 1.
    pub(crate) line: usize,
}

impl Source {
    /// The module directly below the crate's root, or `lib`.
    pub(crate) fn top(&self) -> &str {
        self.module.first().map_or("lib", String::as_str)
    }

    /// The file and the line, for a message.
    pub(crate) fn at(&self, line: usize) -> String {
        format!("core/engine/src/{}:{line}", self.file)
    }
}

/// The folder `core`.
pub(crate) fn core_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../core")
}

/// The files that make up the engine, found from `lib.rs` by their `mod` items.
pub(crate) fn core_sources() -> Vec<Source> {
    sources(&core_folder().join("engine/src"), "lib.rs")
}

/// The crates in `core` beside the engine that are pure as well.
pub(crate) const BESIDE: &[&str] = &[
    "analysis",
    "authoring",
    "compat",
    "jsontext",
    "programs",
    "shell",
    "virtual-host",
];

/// The files of the engine, and of the crates beside it.
pub(crate) fn pure_sources() -> Vec<Source> {
    let mut found = core_sources();
    for name in BESIDE {
        let of = sources(&core_folder().join(name).join("src"), "lib.rs");
        found.extend(of.into_iter().map(|source| Source {
            file: format!("../../{name}/src/{}", source.file),
            ..source
        }));
    }
    found
}

/// The files of a crate, found from its root by their `mod` items.
pub(crate) fn sources(folder: &Path, root: &str) -> Vec<Source> {
    let mut found = Vec::new();
    read(folder, root, &[], &mut found);
    found
}

fn read(root: &Path, file: &str, module: &[String], found: &mut Vec<Source>) {
    let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let stream: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
    let kept = without_tests(stream);
    let mut tokens = Vec::new();
    flatten(&kept, &mut tokens);
    let mut paths = Vec::new();
    collect_paths(&kept, module, &mut paths);
    for name in submodules(&kept) {
        let mut module = module.to_vec();
        module.push(name);
        let stem = module.join("/");
        let nested = format!("{stem}/mod.rs");
        let file = if root.join(&nested).exists() {
            nested
        } else {
            format!("{stem}.rs")
        };
        read(root, &file, &module, found);
    }
    found.push(Source {
        file: file.to_owned(),
        module: module.to_vec(),
        tokens,
        paths,
    });
}

fn is_punct(tree: Option<&TokenTree>, mark: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

fn is_ident(tree: Option<&TokenTree>, name: &str) -> bool {
    matches!(tree, Some(TokenTree::Ident(ident)) if ident == name)
}

/// Leaves out every item with the attribute `#[cfg(test)]`, or `#[cfg(all(test, …))]`.
fn without_tests(stream: TokenStream) -> Vec<TokenTree> {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        if is_punct(Some(tree), '#') && trees.get(at + 1).is_some_and(is_for_tests) {
            at = end_of_item(&trees, at + 2);
            continue;
        }
        kept.push(match tree {
            TokenTree::Group(group) => {
                let inner = without_tests(group.stream()).into_iter().collect();
                let mut new = proc_macro2::Group::new(group.delimiter(), inner);
                new.set_span(group.span());
                TokenTree::Group(new)
            }
            other => other.clone(),
        });
        at += 1;
    }
    kept
}

fn is_for_tests(attribute: &TokenTree) -> bool {
    let TokenTree::Group(group) = attribute else {
        return false;
    };
    let text: String = group.stream().to_string().split_whitespace().collect();
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// The index after the item that begins at `at`, its other attributes included.
fn end_of_item(trees: &[TokenTree], mut at: usize) -> usize {
    while is_punct(trees.get(at), '#') {
        at += 2;
    }
    let imports = trees.iter().skip(at).find_map(|tree| match tree {
        TokenTree::Ident(ident) if ident != "pub" => Some(ident == "use"),
        _ => None,
    });
    while let Some(tree) = trees.get(at) {
        at += 1;
        let block = matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        if is_punct(Some(tree), ';') || (block && imports != Some(true)) {
            break;
        }
    }
    at
}

fn submodules(trees: &[TokenTree]) -> Vec<String> {
    let names = trees
        .windows(3)
        .filter(|three| is_ident(three.first(), "mod") && is_punct(three.get(2), ';'));
    names.map(|three| three[1].to_string()).collect()
}

fn flatten(trees: &[TokenTree], tokens: &mut Vec<Token>) {
    for tree in trees {
        let mut push = |text: String| {
            tokens.push(Token {
                text,
                line: tree.span().start().line,
            })
        };
        match tree {
            TokenTree::Ident(ident) => push(ident.to_string()),
            TokenTree::Punct(punct) => push(punct.as_char().to_string()),
            TokenTree::Literal(literal) => push(literal.to_string()),
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                push(open.to_owned());
                flatten(&group.stream().into_iter().collect::<Vec<_>>(), tokens);
                tokens.push(Token {
                    text: close.to_owned(),
                    line: tree.span().end().line,
                });
            }
        }
    }
}

fn collect_paths(trees: &[TokenTree], module: &[String], found: &mut Vec<Named>) {
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        match tree {
            TokenTree::Ident(ident) => {
                let line = ident.span().start().line;
                at = path_from(trees, at, &[], &mut |segments| {
                    found.push(Named {
                        segments: absolute(segments, module),
                        line,
                    });
                });
            }
            TokenTree::Group(group) => {
                collect_paths(&group.stream().into_iter().collect::<Vec<_>>(), module, found);
                at += 1;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => at += 1,
        }
    }
}

/// Reads the path that begins at `at`, every branch of an import's braces; gives the index after it.
fn path_from(trees: &[TokenTree], at: usize, before: &[String], found: &mut dyn FnMut(Vec<String>)) -> usize {
    let mut segments = before.to_vec();
    let mut next = at;
    loop {
        match trees.get(next) {
            Some(TokenTree::Ident(ident)) => {
                segments.push(ident.to_string().trim_start_matches("r#").to_owned())
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace && next > at => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut branch = 0;
                while branch < inner.len() {
                    let renamed = is_ident(inner.get(branch), "as");
                    branch = if renamed {
                        branch + 2
                    } else {
                        path_from(&inner, branch, &segments, found).max(branch + 1)
                    };
                }
                return next + 1;
            }
            _ => break,
        }
        if is_punct(trees.get(next + 1), ':') && is_punct(trees.get(next + 2), ':') {
            next += 3;
        } else {
            next += 1;
            break;
        }
    }
    if segments.len() > before.len() {
        found(segments);
    }
    next
}

/// The path from the crate's root; another crate's path stays as it is.
fn absolute(segments: Vec<String>, module: &[String]) -> Vec<String> {
    let mut base = module.to_vec();
    let mut rest = segments.iter().peekable();
    match segments.first().map(String::as_str) {
        Some("self") => drop(rest.next()),
        Some("super") => {
            while rest.next_if(|segment| *segment == "super").is_some() {
                base.pop();
            }
        }
        _ => return segments,
    }
    let own = std::iter::once("crate".to_owned());
    own.chain(base).chain(rest.cloned()).collect()
}
