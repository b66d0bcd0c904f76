// Calls of the git server. Its working directory is a repository too, which no call may reach.

const call = (tool, args, expect, rest) => ({ tool, args, expect, ...rest });

export const CASES = ({ tree: { at } }) => {
  const app = at("repos/app");
  const far = at("far/repo");
  // git refreshes the index when it looks, so a look may change that file.
  const staged = ["repos/app/.git/index"];
  const unstaged = { lands: staged };
  return [
    call("git_log", { repo_path: app }, "allow", { rule: "use the repositories", says: "first of repos/app" }),
    call("git_log", { repo_path: app, max_count: 1 }, "allow", { says: "first of repos/app" }),
    call("git_log", { repo_path: at("repos/other") }, "allow", { says: "first of repos/other" }),
    call("git_log", { repo_path: at("sandbox/repo") }, "allow", {
      rule: "structural-sandbox-allow",
      says: "first of sandbox/repo",
    }),
    call("git_log", { repo_path: at("entrance/repo") }, "allow", {
      sends: { repo_path: at("sandbox/repo") },
      says: "first of sandbox/repo",
    }),
    call("git_log", { repo_path: `${app}/../other/.` }, "allow", {
      sends: { repo_path: at("repos/other") },
      says: "first of repos/other",
    }),
    call("git_log", { repo_path: "~/../repos/app" }, "allow", {
      sends: { repo_path: app },
      says: "first of repos/app",
    }),
    call("git_log", { repo_path: far }, "deny", { rule: "default-deny", otherwise: { says: "first of far/repo" } }),
    call("git_log", { repo_path: at("repos/link") }, "deny", {
      rule: "default-deny",
      otherwise: { says: "first of far/repo" },
    }),
    call("git_log", { repo_path: `${app}/../../far/repo` }, "deny", { rule: "default-deny" }),
    call("git_log", { repo_path: at("secret/repo") }, "deny", {
      rule: "structural-protected-path",
      otherwise: { says: "first of secret/repo" },
    }),
    call("git_log", { repo_path: "" }, "deny", { rule: "structural-unresolvable-value" }),
    call("git_log", { repo_path: `file://${app}` }, "deny", { rule: "structural-unresolvable-value" }),
    // A path in the sandbox, whatever it looks like.
    call("git_log", { repo_path: "https://github.com/acme/app" }, "allow", { fails: true }),
    call("git_status", { repo_path: app }, "allow", { says: "staged.txt" }),
    call("git_status", { repo_path: far }, "deny", { rule: "default-deny" }),
    call("git_diff_staged", { repo_path: app, context_lines: 0 }, "allow", { reads: ["repos/app/staged.txt"] }),
    call("git_diff_staged", { repo_path: at("secret/repo") }, "deny", {
      otherwise: { reads: ["secret/repo/staged.txt"] },
    }),
    call("git_diff_unstaged", { repo_path: app }, "allow"),
    call("git_diff", { repo_path: app, target: "main" }, "allow", { reads: ["repos/app/staged.txt"] }),
    call("git_diff", { repo_path: app, target: "--output=../../outside/z.txt" }, "allow", { fails: true }),
    call("git_show", { repo_path: app, revision: "main" }, "allow", { reads: ["repos/app/r.txt"] }),
    call("git_show", { repo_path: app, revision: "main:r.txt" }, "allow", { reads: ["repos/app/r.txt"] }),
    call("git_show", { repo_path: far, revision: "main" }, "deny", { otherwise: { reads: ["far/repo/r.txt"] } }),
    call("git_branch", { repo_path: app, branch_type: "local" }, "allow", { says: "topic" }),
    call("git_branch", { repo_path: far, branch_type: "local" }, "deny", { rule: "default-deny" }),
    call("git_reset", { repo_path: app }, "allow", unstaged),
    call("git_reset", { repo_path: at("sandbox/repo") }, "allow", { lands: ["sandbox/repo/.git/index"] }),
    call("git_reset", { repo_path: far }, "deny", {
      rule: "default-deny",
      otherwise: { lands: ["far/repo/.git/index"] },
    }),
    call("git_reset", { repo_path: at("docs") }, "deny", { rule: "default-deny" }),
    call("git_commit", { repo_path: app, message: "second" }, "allow", { lands: ["repos/app/.git/**"] }),
    call("git_commit", { repo_path: app, message: "-m /etc/passwd" }, "allow", { lands: ["repos/app/.git/**"] }),
    call("git_commit", { repo_path: far, message: "second" }, "deny", {
      rule: "default-deny",
      otherwise: { lands: ["far/repo/.git/**"] },
    }),
    call("git_commit", { repo_path: app, message: at("secret") }, "allow", { lands: ["repos/app/.git/**"] }),
    call("git_add", { repo_path: app, files: [`${app}/new.txt`] }, "allow", { lands: ["repos/app/.git/**"] }),
    call("git_add", { repo_path: app, files: [`${app}/lib/../new.txt`] }, "allow", {
      sends: { repo_path: app, files: ["new.txt"] },
      lands: ["repos/app/.git/**"],
    }),
    call("git_add", { repo_path: at("sandbox/repo"), files: [at("sandbox/repo/new.txt")] }, "allow", {
      lands: ["sandbox/repo/.git/**"],
    }),
    call("git_add", { repo_path: app, files: [at("sandbox/a.txt")] }, "allow", { fails: true }),
    call("git_add", { repo_path: app, files: [at("outside/x.txt")] }, "deny", { rule: "default-deny" }),
    call("git_add", { repo_path: app, files: [at("secret/key.txt")] }, "deny", { rule: "structural-protected-path" }),
    call("git_add", { repo_path: far, files: [`${far}/new.txt`] }, "deny", {
      rule: "default-deny",
      otherwise: { lands: ["far/repo/.git/**"] },
    }),
    call("git_add", { repo_path: app, files: ["new.txt"] }, "allow", { lands: ["repos/app/.git/**"] }),
    call("git_add", { repo_path: app, files: ["lib/new.txt", "new.txt"] }, "allow", {
      lands: ["repos/app/.git/**"],
    }),
    call("git_add", { repo_path: app, files: ["../../outside/x.txt"] }, "deny"),
    call("git_add", { repo_path: app, files: `["${app}/new.txt", "${at("outside/x.txt")}"]` }, "deny"),
    call("git_add", { repo_path: app, files: [["new.txt"]] }, "deny", { rule: "structural-unreadable-argument" }),
    // git takes these for patterns, and adds the protected file that they match.
    call("git_add", { repo_path: app, files: [`${app}/key.txt`] }, "deny", {
      rule: "structural-protected-path",
      otherwise: { lands: ["repos/app/.git/**"] },
    }),
    call("git_add", { repo_path: app, files: [`${app}/ke?.txt`] }, "deny", {
      otherwise: { lands: ["repos/app/.git/**"] },
    }),
    call("git_add", { repo_path: app, files: [":/key.txt"] }, "deny", {
      otherwise: { lands: ["repos/app/.git/**"] },
    }),
    call("git_add", { repo_path: app, files: [":(icase)KEY.txt"] }, "deny", {
      otherwise: { lands: ["repos/app/.git/**"] },
    }),
    call("git_add", { repo_path: app }, "deny", { rule: "structural-unreadable-argument" }),
    call("git_create_branch", { repo_path: app, branch_name: "next" }, "allow", { lands: ["repos/app/.git/**"] }),
    call("git_create_branch", { repo_path: app, branch_name: "next", base_branch: "main" }, "allow", {
      lands: ["repos/app/.git/**"],
    }),
    call("git_create_branch", { repo_path: app, branch_name: "release" }, "deny", {
      rule: "nobody switches main",
      otherwise: { lands: ["repos/app/.git/**"] },
    }),
    call("git_create_branch", { repo_path: app, branch_name: "Main" }, "allow", { lands: ["repos/app/.git/**"] }),
    call("git_create_branch", { repo_path: far, branch_name: "next" }, "deny", {
      rule: "default-deny",
      otherwise: { lands: ["far/repo/.git/**"] },
    }),
    call("git_checkout", { repo_path: app, branch_name: "topic" }, "allow", { lands: ["repos/app/.git/**"] }),
    call("git_checkout", { repo_path: app, branch_name: "missing" }, "allow", { fails: true }),
    call("git_checkout", { repo_path: app, branch_name: "main" }, "deny", { rule: "nobody switches main" }),
    call("git_checkout", { repo_path: far, branch_name: "topic" }, "deny", {
      rule: "default-deny",
      otherwise: { lands: ["far/repo/.git/**"] },
    }),
    // These are `main` as well. Another spelling of the branch must not lead around the rule.
    call("git_checkout", { repo_path: app, branch_name: "refs/heads/main" }, "deny", {
      rule: "nobody switches main",
      otherwise: { lands: ["repos/app/.git/**"] },
    }),
    call("git_checkout", { repo_path: app, branch_name: "heads/main" }, "deny", {
      rule: "nobody switches main",
      otherwise: { lands: ["repos/app/.git/**"] },
    }),
    call("git_checkout", { repo_path: app, branch_name: "HEAD" }, "deny", {
      rule: "nobody switches main",
    }),
    call("git_checkout", { repo_path: app, branch_name: "@" }, "deny", { rule: "nobody switches main" }),
    call("git_checkout", { repo_path: app, branch_name: "main~0" }, "deny", {
      rule: "nobody switches main",
      otherwise: { lands: ["repos/app/.git/**"] },
    }),
    call("git_checkout", { repo_path: app, branch_name: "tags/main" }, "deny", {
      rule: "nobody switches main",
    }),
    // The server would read these in its own working directory, which is a repository.
    call("git_log", { repo_path: "repo" }, "allow", {
      sends: { repo_path: at("sandbox/repo") },
      says: "first of sandbox/repo",
    }),
    call("git_reset", { repo_path: "repo" }, "allow", { lands: ["sandbox/repo/.git/index"] }),
    call("git_log", { repo_path: "../repos/app" }, "allow", {
      sends: { repo_path: app },
      says: "first of repos/app",
    }),
    call("git_log", { repo_path: "." }, "allow", { fails: true }),
    call("git_reset", { repo_path: "." }, "allow", { fails: true }),
    call("git_log", { repo_path: "../far/repo" }, "deny", { rule: "default-deny" }),
    call("git_reset", {}, "deny", { rule: "structural-unreadable-argument" }),
    call("git_reset", { repo_path: null }, "deny", { rule: "structural-unreadable-argument" }),
    call("git_push", { repo_path: app }, "deny", { rule: "structural-unknown-tool" }),
  ];
};
