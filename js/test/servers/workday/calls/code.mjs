// Calls of servers of repositories, forges and the shell.

export const git = ({ repo, home }) => ({
  everyday: [
    ["git_status", { repo_path: "." }],
    ["git_status", { repo_path: repo }],
    ["git_diff_unstaged", { repo_path: ".", context_lines: 1 }],
    ["git_diff_staged", { repo_path: "." }],
    ["git_diff", { repo_path: ".", target: "main" }],
    ["git_diff", { repo_path: ".", target: "main..work" }],
    ["git_log", { repo_path: ".", max_count: 3 }],
    ["git_log", { repo_path: repo, start_timestamp: null, end_timestamp: null }],
    ["git_show", { repo_path: ".", revision: "HEAD" }],
    ["git_show", { repo_path: ".", revision: "HEAD:README.md" }],
    ["git_show", { repo_path: ".", revision: "HEAD^{tree}" }],
    ["git_add", { repo_path: ".", files: ["src/new.ts"] }],
    ["git_add", { repo_path: ".", files: ["README.md", "src/app/(auth)/[id]/page.tsx"] }],
    ["git_commit", { repo_path: ".", message: ".git/hooks: document the hooks" }],
    ["git_create_branch", { repo_path: ".", branch_name: "feature/@types", base_branch: "main" }],
    ["git_branch", { repo_path: ".", branch_type: "local" }],
    ["git_checkout", { repo_path: ".", branch_name: "feature/@types" }],
    ["git_checkout", { repo_path: ".", branch_name: "work" }],
    ["git_reset", { repo_path: "." }],
  ],
  rare: [
    ["git_add", { repo_path: ".", files: ["docs/*.md"] }],
    ["git_commit", { repo_path: ".", message: "~/.ssh/config: `document` $(it)\n\n- and -this" }],
    ["git_show", { repo_path: ".", revision: ":/first" }],
    ["git_log", { repo_path: ".", start_timestamp: "yesterday", end_timestamp: "now" }],
    ["git_status", { repo_path: `${home}/worktree` }, "ask"],
  ],
  controls: [
    ["git_add", { repo_path: ".", files: [".env"] }],
    ["git_add", { repo_path: ".", files: ["-A"] }],
    ["git_add", { repo_path: ".", files: ["packages/api/.env", "README.md"] }],
    ["git_add", { repo_path: ".", files: ["*.env"] }],
    ["git_status", { repo_path: "-c core.fsmonitor=x" }],
  ],
});

export const gitx = ({ repo }) => ({
  everyday: [
    ["git_set_working_dir", { path: repo }],
    ["git_status", {}],
    ["git_status", { path: repo }],
    ["git_log", { maxCount: 3 }],
    ["git_diff", { path: repo, target: "main" }],
    ["git_add", { paths: ["README.md"] }],
    ["git_add", { path: repo, paths: ["."] }],
    ["git_commit", { message: ".git/hooks: document them" }],
    ["git_commit", { path: repo, message: "b", filesToStage: ["README.md"] }],
    ["git_show", { object: "HEAD~1" }],
    ["git_blame", { filePath: "src/index.ts" }],
    ["git_branch", { mode: "list" }],
    ["git_checkout", { target: "feature/x#1", createBranch: false }],
    ["git_stash", { mode: "push", message: "~/.ssh later" }],
    ["git_tag", { mode: "list" }],
    ["git_worktree", { path: repo, mode: "list" }],
    ["git_remote", { mode: "list" }],
    ["git_push", { path: repo, remote: "origin", branch: "work" }],
    ["git_fetch", { path: repo, remote: "origin" }],
    ["git_reset", { path: repo, mode: "mixed" }],
  ],
  rare: [
    ["git_remote", { mode: "add", name: "upstream", url: "https://github.com/acme/upstream.git" }],
    ["git_worktree", { path: repo, mode: "add", worktreePath: `${repo}/out/wt`, branch: "feature/x#1" }],
    ["git_clone", { url: "https://github.com/other/x.git", path: `${repo}/out/x` }, "ask"],
    ["git_clean", { path: `${repo}/out`, dryRun: true, force: false }, "ask"],
  ],
  controls: [
    ["git_push", { path: repo, remote: "origin", branch: "main" }],
    ["git_add", { path: repo, paths: [".env"] }],
  ],
});

export const gitlab = () => ({
  everyday: [
    ["get_file_contents", { project_id: "acme/platform", file_path: "src/index.ts", ref: "main" }],
    ["create_branch", { project_id: "acme/platform", branch: "feature/a", ref: "main" }],
    [
      "create_or_update_file",
      {
        project_id: "acme/platform",
        file_path: ".gitignore",
        content: ".env\n",
        commit_message: ".env: ignore",
        branch: "feature/a",
      },
    ],
    [
      "push_files",
      {
        project_id: "acme/platform",
        branch: "feature/a",
        files: [{ file_path: "docs/a.md", content: "~/.ssh/config" }],
        commit_message: "docs",
      },
    ],
    ["create_issue", { project_id: "acme/platform", title: "~/.ssh/config is not read", description: "/etc/ssh" }],
    ["create_merge_request", { project_id: "1", title: "A", source_branch: "feature/a", target_branch: "main" }],
    ["search_repositories", { search: ".env" }],
  ],
});

export const github = () => ({
  everyday: [
    ["get_file_contents", { owner: "acme", repo: "platform", path: "src/index.ts" }],
    ["list_issues", { owner: "acme", repo: "platform", state: "open" }],
    ["create_issue", { owner: "acme", repo: "platform", title: "Bug", body: "~/.ssh/config\n\nsee /etc/hosts" }],
    ["search_code", { q: "TODO repo:acme/platform path:/src" }],
    [
      "create_or_update_file",
      {
        owner: "acme",
        repo: "platform",
        path: ".gitignore",
        content: ".env\n",
        message: "m",
        branch: "b",
      },
    ],
    [
      "create_pull_request",
      { owner: "acme", repo: "platform", title: "A", head: "feature/a", base: "main", body: "./x" },
    ],
    ["get_pull_request_files", { owner: "Acme", repo: "platform", pull_number: 1 }],
    ["add_issue_comment", { owner: "acme", repo: "platform", issue_number: 1, body: ".git" }],
  ],
  rare: [["search_repositories", { query: "user:acme" }]],
});

export const shell = ({ repo }) => ({
  everyday: [
    ["shell_execute", { command: ["git", "status"], directory: repo }, "ask"],
    ["shell_execute", { command: ["cat", "README.md"], directory: "src", timeout: 5 }, "ask"],
  ],
  controls: [["shell_execute", { command: ["ls"], directory: `${repo}/.git` }]],
});

export const kubernetes = () => ({
  everyday: [
    ["kubectl_get", { resourceType: "pods", namespace: "default", output: "json" }],
    ["kubectl_describe", { resourceType: "deployment", name: "web" }],
    ["kubectl_logs", { resourceType: "pod", name: "web-1", tail: 20 }],
    ["kubectl_delete", { resourceType: "pod", name: "web-1" }, "ask"],
    ["kubectl_create", { resourceType: "deployment", name: "web", image: "nginx:1.27" }, "ask"],
    [
      "kubectl_create",
      { resourceType: "configmap", name: "a", fromFileContent: [{ key: "a.conf", content: "server {\n}\n" }] },
      "ask",
    ],
    ["kubectl_apply", { manifest: "kind: Pod\nmetadata:\n  name: a\n" }, "ask"],
    ["install_helm_chart", { name: "db", chart: "bitnami/postgresql", namespace: "default" }],
  ],
});
