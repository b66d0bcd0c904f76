//! The registry of roles.

use super::*;

#[test]
fn every_builtin_role_is_found_by_its_name() {
    let registry = Registry::default();
    assert_eq!(registry.iter().count(), BUILTIN);
    for (role, definition) in registry.iter() {
        assert_eq!(registry.find(&definition.name), Some(role));
    }
    // The numbers in the table are the places of its rows.
    assert_eq!(registry.name(RoleId::READ_PATH), "read-path");
    assert_eq!(registry.name(RoleId::GIT_REMOTE_URL), "git-remote-url");
    assert_eq!(registry.name(RoleId::NONE), "none");
}

#[test]
fn a_description_has_the_words_that_prompts_rely_on() {
    // Whoever drafts annotations hands the descriptions to a model, as the existing runtime does.
    let words: &[(&str, &[&str])] = &[
        ("read-path", &["filesystem path", "read"]),
        ("write-path", &["filesystem path", "written"]),
        ("delete-path", &["filesystem path", "deleted"]),
        ("write-history", &["git repository", "history", "written"]),
        ("delete-history", &["git repository", "history", "deleted"]),
        ("fetch-url", &["URL", "fetched"]),
        ("git-remote-url", &["git remote", "fetched", "pushed"]),
        ("github-owner", &["owner", "GitHub"]),
        ("github-repo", &["name", "GitHub repository"]),
        ("proxy-domain", &["domain", "proxy"]),
        ("share-permission", &["permission", "sharing"]),
        ("branch-name", &["branch", "tag"]),
        ("commit-message", &["message", "commit"]),
        ("email-address", &["e-mail address"]),
        ("email-body", &["text", "sent"]),
        ("none", &["no resource"]),
        ("text", &["prose or data", "never", "path"]),
        ("resource-uri", &["URI", "file", "web page", "read"]),
        ("shell-command", &["command", "POSIX shell"]),
        ("execute", &["program", "runs"]),
    ];
    let registry = Registry::default();
    assert_eq!(words.len(), registry.iter().count());
    for (name, words) in words {
        let description = &registry.get(registry.find(name).unwrap()).description;
        for word in *words {
            assert!(
                description.contains(word),
                "{name}: `{description}` lacks `{word}`"
            );
        }
    }
}

#[test]
fn a_host_role_needs_a_new_name() {
    let role = |name: &str| RoleDefinition {
        name: name.into(),
        description: "".into(),
        form: Form::Name,
        category: Category::Opaque,
        canonicalize: Step::Identity,
        extract_policy_value: Some(Step::Redact),
        annotation_guidance: "".into(),
        server_names: &[],
    };
    let mut registry = Registry::new(false);
    assert_eq!(registry.add(role("secret")), Ok(()));
    let secret = registry.find("secret").unwrap();
    assert!(!Registry::is_builtin(secret));
    assert!(registry.get(secret).is_prepared());
    assert_eq!(registry.add(role("none")), Err(RoleError::Taken("none".into())));
}
