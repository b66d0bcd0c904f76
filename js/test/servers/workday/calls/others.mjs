// Calls of servers that keep or compute something, and of the one that does a bit of everything.

export const memory = () => ({
  everyday: [
    [
      "create_entities",
      { entities: [{ name: "~/.ssh/config", entityType: ".env", observations: [".env", "/etc/hosts"] }] },
    ],
    ["create_entities", { entities: [{ name: "Ann", entityType: "person", observations: ["likes ./x"] }] }],
    ["create_relations", { relations: [{ from: "Ann", to: "~/.ssh/config", relationType: "edits" }] }],
    ["add_observations", { observations: [{ entityName: "Ann", contents: ["~/.ssh/known_hosts"] }] }],
    ["search_nodes", { query: ".env" }],
    ["search_nodes", { query: "~/.ssh/config" }],
    ["open_nodes", { names: ["~/.ssh/config"] }],
    ["read_graph", {}],
    ["delete_observations", { deletions: [{ entityName: "Ann", observations: ["likes ./x"] }] }],
    ["delete_entities", { entityNames: ["~/.ssh/config"] }],
  ],
});

export const sequentialThinking = () => ({
  everyday: [
    [
      "sequentialthinking",
      { thought: "~/.ssh/config may have the host.", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 },
    ],
    ["sequentialthinking", { thought: ".env", nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2 }],
  ],
});

export const time = () => ({
  everyday: [
    ["convert_time", { source_timezone: "Europe/Berlin", time: "16:30", target_timezone: "America/New_York" }],
    ["get_current_time", { timezone: "Asia/Tokyo" }, "allow", "differs"],
  ],
});

export const tasks = () => ({
  everyday: [
    [
      "request_planning",
      {
        originalRequest: "/docs are old",
        tasks: [
          { title: "~/.ssh/config", description: ".env" },
          { title: "b", description: "./x\n../y" },
        ],
      },
    ],
    ["list_requests", {}],
    ["get_next_task", { requestId: "req-1" }],
    ["mark_task_done", { requestId: "req-1", taskId: "task-1", completedDetails: "~/.ssh/config was read" }],
    ["approve_task_completion", { requestId: "req-1", taskId: "task-1" }],
    ["update_task", { requestId: "req-1", taskId: "task-2", title: ".git", description: "/etc" }],
    ["open_task_details", { taskId: "task-2" }],
    ["delete_task", { requestId: "req-1", taskId: "task-2" }],
  ],
});

export const desktopCommander = ({ repo, network }) => ({
  everyday: [
    ["read_file", { path: `${repo}/README.md` }],
    ["read_file", { path: `${repo}/data/big.txt`, offset: 10, length: 2 }],
    ["read_multiple_files", { paths: [`${repo}/README.md`, `${repo}/package.json`] }],
    ["list_directory", { path: repo, depth: 1 }],
    ["get_file_info", { path: `${repo}/src/index.ts` }, "allow", "differs"],
    ["write_file", { path: `${repo}/notes/more.txt`, content: "~/.ssh/config\n", mode: "append" }],
    ["write_file", { path: `${repo}/notes/more.txt`, content: ".env", mode: "rewrite" }],
    ["edit_block", { file_path: `${repo}/.gitignore`, old_string: ".env", new_string: ".env\n.env.local" }],
    ["create_directory", { path: `${repo}/out/dc` }],
    ["move_file", { source: `${repo}/notes/more.txt`, destination: `${repo}/out/dc/more.txt` }],
    ["start_search", { path: repo, pattern: "TODO", searchType: "content" }, "allow", "differs"],
    ["start_search", { path: `${repo}/packages/api`, pattern: "*.go", searchType: "files" }, "allow", "differs"],
    ["list_searches", {}, "allow", "differs"],
    ["list_sessions", {}],
    ["start_process", { command: "git status", timeout_ms: 1000 }, "ask"],
  ],
  rare: [
    ["read_file", { path: `${network.origin}/page`, isUrl: true }],
    ["write_pdf", { path: `${repo}/out/r.pdf`, content: "# Report" }, "allow", "differs"],
    ["read_file", { path: "README.md" }],
  ],
  controls: [
    ["read_file", { path: `${repo}/.env` }],
    ["edit_block", { file_path: `${repo}/callgate.json`, old_string: "deny", new_string: "allow" }],
    ["write_file", { path: `${repo}/.git/hooks/pre-push`, content: "x" }],
  ],
});

export const sqlite = () => ({
  everyday: [
    ["list_tables", {}],
    ["describe_table", { table_name: "orders" }],
    ["read_query", { query: "SELECT * FROM orders WHERE name LIKE '~/.ssh%' -- x" }],
    ["write_query", { query: "UPDATE orders SET path = '/etc/hosts', n = '.env'" }],
    ["append_insight", { insight: "~/.ssh/config is a frequent value" }],
  ],
});

export const textedit = ({ repo }) => ({
  everyday: [
    ["get_text_file_contents", { files: [{ file_path: `${repo}/README.md`, ranges: [{ start: 1, end: 2 }] }] }],
    [
      "edit_text_file_contents",
      {
        files: [
          {
            path: `${repo}/README.md`,
            file_hash: "a",
            patches: [{ line_start: 1, line_end: null, contents: "~/.ssh/config\n", range_hash: "b" }],
          },
        ],
      },
    ],
  ],
  controls: [["get_text_file_contents", { files: [{ file_path: `${repo}/.env`, ranges: [{ start: 1 }] }] }]],
});

export const archive = ({ repo }) => ({
  everyday: [
    ["compress", { input: [`${repo}/src`, `${repo}/README.md`], output: `${repo}/out/b.zip` }],
    ["list_archive", { input: `${repo}/out/b.zip` }],
    ["get_archive_info", { input: `${repo}/out/b.zip` }],
    ["extract", { input: `${repo}/out/b.zip`, output: `${repo}/out/b` }, "ask"],
  ],
  controls: [
    ["compress", { input: `${repo}/.env`, output: `${repo}/out/c.zip` }],
    ["extract", { input: `${repo}/out/b.zip`, output: `${repo}/.git/hooks` }],
  ],
});

export const email = () => ({
  everyday: [
    ["send_email", { recipients: ["bob@example.com"], subject: "~/.ssh", body: "see .env" }, "ask"],
    ["list_emails_metadata", { account_name: "work", page: 1, subject: "/docs" }],
    ["get_emails_content", { account_name: "work", email_ids: ["12"] }],
    ["get_attachment_content", { account_name: "work", email_id: "12", attachment_name: "report, final.pdf" }],
    ["move_emails", { account_name: "work", email_ids: ["12"], destination_mailbox: "Archive/2026" }],
  ],
});
