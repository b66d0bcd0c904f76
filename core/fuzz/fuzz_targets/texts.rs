//! The functions that need no engine, on any text. What is canonical already does not change.

#![no_main]

use callgate_engine::net::{domain_matches_allowlist, extract_domain, extract_git_domain, normalize_url};
use callgate_compat::{is_within_directory, normalize_git_url, resolve_real_path, rewrite_text};
use callgate_fuzz::Guessing;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let url = normalize_url(text);
    assert_eq!(normalize_url(&url), url);
    let git = normalize_git_url(text);
    assert_eq!(normalize_git_url(&git), git);
    let domain = extract_domain(text);
    let _ = domain_matches_allowlist(&domain, &[text, "*", "*.example.com"]);
    let _ = extract_git_domain(text);
    let _ = rewrite_text(text, "/srv", "/workspace");
    if let Ok(path) = resolve_real_path(text, &Guessing) {
        assert!(path.starts_with('/'), "{path:?}");
    }
    let _ = is_within_directory(text, "/srv", &Guessing);
});
