//! The requirements for recorded cases that depend on a known weakness: SPEC §15 as data.

use crate::compare::Requirement::{self, *};

/// The engine's treatment of a weakness when it evaluates a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Treatment {
    /// Repaired; no verdict becomes looser.
    Repaired,
    /// Repaired; a rule that could never match now does, so a verdict may change either way.
    EitherWay,
    /// Kept as the seeds describe.
    Kept,
}

const TREATMENTS: &[(&str, Treatment)] = &[
    ("annotation-key-collision", Treatment::Repaired),
    ("combined", Treatment::Repaired),
    ("conditional-recanonicalize", Treatment::Kept),
    ("dangling-symlink", Treatment::Repaired),
    ("deny-needs-all", Treatment::Repaired),
    ("depth-64", Treatment::Repaired),
    ("disjoint-conditions", Treatment::Repaired),
    ("empty-path-is-cwd", Treatment::Repaired),
    ("empty-remote", Treatment::Repaired),
    ("enrichment-after-gate", Treatment::Repaired),
    ("file-uri", Treatment::Repaired),
    ("first-role-canonicalize", Treatment::Repaired),
    ("git-helper-remote", Treatment::Repaired),
    ("git-newline", Treatment::Repaired),
    ("git-path-arg-name", Treatment::Repaired),
    ("host-case", Treatment::EitherWay),
    ("identifier-case", Treatment::EitherWay),
    ("introspection-overrides-deny", Treatment::Kept),
    ("ip-obfuscated", Treatment::Repaired),
    ("lexical-dotdot", Treatment::Repaired),
    ("link-removal", Treatment::Repaired),
    ("list-domains-raw-url", Treatment::EitherWay),
    ("localhost", Treatment::Repaired),
    ("nested-protected", Treatment::Repaired),
    ("no-constraint-allow", Treatment::Kept),
    ("node-realpath-lexical-link", Treatment::Repaired),
    ("nonstring-resource-arg", Treatment::Repaired),
    ("normalize-url-slash", Treatment::EitherWay),
    ("nul-byte", Treatment::Repaired),
    ("opaque-role-rule", Treatment::Repaired),
    ("port-ignored", Treatment::Kept),
    ("process-relative", Treatment::Repaired),
    ("protected-ancestor", Treatment::Repaired),
    ("proto-name", Treatment::Repaired),
    ("relative-path-cwd", Treatment::Kept),
    ("root-directory", Treatment::EitherWay),
    ("sandbox-overrides-deny", Treatment::Kept),
    ("scheme-ignored", Treatment::Repaired),
    ("ssh-slash-before-colon", Treatment::Repaired),
    ("star-restricts", Treatment::EitherWay),
    ("symlink-loop", Treatment::Repaired),
    ("tilde-git-path", Treatment::Repaired),
    ("tilde-user", Treatment::Repaired),
    ("trailing-dot-host", Treatment::EitherWay),
    ("unannotated-arg", Treatment::Kept),
    ("unknown-role", Treatment::Repaired),
    ("url-first-role-only", Treatment::Repaired),
    ("wildcard-unparsable", Treatment::Repaired),
];

/// The requirements for the other operations: operation, tag, requirement.
const ANSWERS: &[(&str, &str, Requirement)] = &[
    // An unresolvable value stays as given in both views (SPEC §6.6).
    ("prepareToolArgs", "empty-path-is-cwd", GivenOrRecorded),
    ("prepareToolArgs", "file-uri", GivenOrRecorded),
    ("prepareToolArgs", "lexical-dotdot", GivenOrRecorded),
    ("prepareToolArgs", "nul-byte", GivenOrRecorded),
    ("prepareToolArgs", "symlink-loop", GivenOrRecorded),
    ("prepareToolArgs", "tilde-user", GivenOrRecorded),
    // The recorded engine used another tool's annotation or another name, or the value has another canonical form.
    ("prepareToolArgs", "annotation-key-collision", WellFormed),
    ("prepareToolArgs", "dangling-symlink", WellFormed),
    ("prepareToolArgs", "depth-64", WellFormed),
    ("prepareToolArgs", "first-role-canonicalize", WellFormed),
    ("prepareToolArgs", "link-removal", WellFormed),
    ("prepareToolArgs", "normalize-url-slash", WellFormed),
    ("prepareToolArgs", "proto-name", WellFormed),
    ("getAnnotation", "proto-name", WellFormed),
    ("resolveStoredAnnotation", "proto-name", WellFormed),
    // For an unresolvable path, the plain function answers with the lexical form (SPEC §6.6).
    ("resolveRealPath", "lexical-dotdot", Lexical),
    ("resolveRealPath", "symlink-loop", Lexical),
    ("resolveRealPath", "dangling-symlink", WellFormed),
    ("resolveRealPath", "node-realpath-lexical-link", WellFormed),
    ("directoryForPath", "dangling-symlink", WellFormed),
    ("directoryForPath", "depth-64", WellFormed),
    ("directoryForPath", "lexical-dotdot", WellFormed),
    ("extractPolicyRoots", "dangling-symlink", WellFormed),
    ("extractPolicyRoots", "symlink-loop", WellFormed),
    // Everything is within `/`, but nothing is known about an unresolvable path (SPEC §2.4, §2.5).
    ("isWithinDirectory", "root-directory", True),
    ("isWithinDirectory", "nul-byte", NeverTruer),
    ("isWithinDirectory", "symlink-loop", NeverTruer),
    ("resolveGitRemote", "tilde-git-path", WellFormed),
    // Only the `/` of an otherwise empty path is dropped (SPEC §3); the recorded answers dropped others.
    ("normalizeUrl", "normalize-url-slash", WithSlash),
    ("normalizeGitUrl", "normalize-url-slash", Recorded),
    // Plain extraction and matching are as recorded (SPEC §3); judging a call is stricter.
    ("extractDomain", "scheme-ignored", Recorded),
    ("isIpAddress", "ip-obfuscated", Recorded),
    ("domainMatchesAllowlist", "host-case", Recorded),
    ("domainMatchesAllowlist", "ip-obfuscated", Recorded),
    ("domainMatchesAllowlist", "wildcard-unparsable", Recorded),
    ("getListMatcher", "host-case", Recorded),
    ("getListMatcher", "identifier-case", Recorded),
    ("getListMatcher", "trailing-dot-host", Recorded),
    ("getListMatcher", "wildcard-unparsable", Recorded),
    ("extractGitDomain", "git-helper-remote", GivenOrRecorded),
    ("extractGitDomain", "ssh-slash-before-colon", GivenOrRecorded),
    ("extractGitDomain", "git-newline", WellFormed),
    ("rewriteResultContent", "result-boundary", WellFormed),
    ("rewriteResultContent", "result-dollar", WellFormed),
    // An approval may cover less than the recorded one (SPEC §9).
    ("whitelist", "git-helper-remote", NeverWider),
    ("whitelist", "git-newline", NeverWider),
    ("whitelist", "nul-byte", NeverWider),
    ("whitelist", "scheme-ignored", NeverWider),
    ("whitelist", "symlink-loop", NeverWider),
    ("whitelist", "whitelist-empty-domain", NeverWider),
    ("whitelist", "whitelist-parent-dir", NeverWider),
    ("whitelist", "dangling-symlink", WellFormed),
    ("whitelist", "lexical-dotdot", WellFormed),
    ("whitelist", "root-directory", WellFormed),
    ("whitelist", "whitelist-named-remote", WellFormed),
];

/// The requirements for a case with these tags, of which it must meet any one: with several tags the loosest applies.
///
/// # Errors
/// The tables do not have the tag for that operation; somebody must decide about it first.
pub(super) fn requirements(op: &str, tags: &[String]) -> Result<Vec<Requirement>, String> {
    if tags.is_empty() {
        return Ok(vec![Recorded]);
    }
    tags.iter().map(|tag| requirement(op, tag)).collect()
}

fn requirement(op: &str, tag: &str) -> Result<Requirement, String> {
    let found = if op == "evaluate" {
        let row = TREATMENTS.iter().find(|(known, _)| *known == tag);
        row.map(|(_, treatment)| match treatment {
            Treatment::Repaired => NeverLooser,
            Treatment::EitherWay => WellFormed,
            Treatment::Kept => Recorded,
        })
    } else {
        let row = ANSWERS.iter().find(|(of, known, _)| *of == op && *known == tag);
        row.map(|(_, _, requirement)| *requirement)
    };
    found.ok_or_else(|| format!("no rule says what `{op}` answers to a case with the tag `{tag}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_say_what_is_required() {
        let check = |op: &str, tags: &[&str], expected: &[Requirement]| {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            assert_eq!(requirements(op, &tags).as_deref(), Ok(expected), "{op} {tags:?}");
        };
        check("evaluate", &[], &[Recorded]);
        check("evaluate", &["nul-byte"], &[NeverLooser]);
        check("evaluate", &["nul-byte", "host-case"], &[NeverLooser, WellFormed]);
        check("evaluate", &["port-ignored"], &[Recorded]);
        check("normalizeUrl", &["normalize-url-slash"], &[WithSlash]);
        assert!(requirements("evaluate", &["new-weakness".to_owned()]).is_err());
        assert!(requirements("normalizeUrl", &["nul-byte".to_owned()]).is_err());
    }

    #[test]
    fn a_tag_stands_once_in_each_table() {
        let mut tags: Vec<_> = TREATMENTS.iter().map(|(tag, _)| tag).collect();
        tags.dedup();
        assert_eq!(tags.len(), TREATMENTS.len());
        assert!(tags.is_sorted());
        for (at, (op, tag, _)) in ANSWERS.iter().enumerate() {
            assert!(
                !ANSWERS[..at]
                    .iter()
                    .any(|(of, known, _)| of == op && known == tag),
                "{op} {tag}"
            );
        }
    }
}
