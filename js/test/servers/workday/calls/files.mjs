// Calls of servers that work with files. `everyday` and `rare` ones must be allowed, or asked about where a third item says so;
// `controls` must not reach the server.

export const filesystem = ({ repo, home, through }) => ({
  everyday: [
    ["read_text_file", { path: "README.md" }],
    ["read_text_file", { path: `${repo}/src/index.ts`, head: 2 }],
    ["read_text_file", { path: "./docs/latest.md" }],
    ["read_text_file", { path: "src/app/(auth)/[id]/page.tsx" }],
    ["read_text_file", { path: "src/routes/$slug.ts" }],
    ["read_text_file", { path: ".env.example" }],
    ["read_text_file", { path: ".github/workflows/ci.yml" }],
    ["read_text_file", { path: "docs/画面.md" }],
    ["read_text_file", { path: "docs/Guía/introducción.md" }],
    ["read_text_file", { path: `${through}/docs/guide.md` }, "allow", "differs"],
    ["read_multiple_files", { paths: ["README.md", "package.json", "src/greet.ts"] }],
    ["list_directory", { path: "." }],
    ["list_directory", { path: repo }],
    ["list_directory_with_sizes", { path: "src", sortBy: "name" }],
    ["directory_tree", { path: ".", excludePatterns: ["node_modules", ".git"] }],
    ["directory_tree", { path: "src", excludePatterns: ["**/.git/**", ".env"] }],
    ["search_files", { path: ".", pattern: "**/*.ts" }],
    ["search_files", { path: repo, pattern: "*.md", excludePatterns: [".git", "node_modules"] }],
    ["get_file_info", { path: "package.json" }],
    ["list_allowed_directories", {}],
    ["read_media_file", { path: "docs/logo.png" }],
    ["write_file", { path: "docs/new.md", content: "# New\n" }],
    ["write_file", { path: ".dockerignore", content: ".env\n" }],
    ["write_file", { path: ".gitignore", content: "node_modules\n.env\n~/.ssh/config\n" }],
    ["write_file", { path: "docs/hosts.md", content: "~/.ssh/config is where hosts are configured.\n" }],
    ["write_file", { path: "packages/web/fonts.css", content: "./fonts/inter.css\n../../.env\n" }],
    ["write_file", { path: "docs/json.md", content: '{"a": ["/etc/passwd"]}' }],
    ["create_directory", { path: "packages/new/src" }],
    ["edit_file", { path: "src/greet.ts", edits: [{ oldText: "hello", newText: "good day" }] }],
    ["edit_file", { path: ".gitignore", edits: [{ oldText: ".env", newText: ".env\n.env.local" }], dryRun: true }],
    ["move_file", { source: "docs/old draft.md", destination: "docs/older draft.md" }],
  ],
  rare: [
    ["read_text_file", { path: "Smith, John.md" }],
    ["read_text_file", { path: "-notes.txt" }],
    ["read_text_file", { path: "docs/Guía/introducción.md".normalize("NFD") }, "allow", "differs"],
    ["read_text_file", { path: "README.md", head: null, tail: null }],
    ["read_text_file", { path: "src/docs/guide.md" }],
    ["write_file", { path: "docs/long.txt", content: "word ".repeat(60_000) }],
    ["read_text_file", { path: "~/elsewhere.txt" }, "ask"],
    ["list_directory", { path: `${home}/worktree` }, "ask"],
  ],
  controls: [
    ["read_text_file", { path: ".env" }],
    ["read_text_file", { path: "out/to-env" }],
    ["read_text_file", { path: "out/to-home/.ssh/config" }],
    ["write_file", { path: ".git/hooks/post-commit", content: "#!/bin/sh\n" }],
    ["write_file", { path: "callgate.json", content: "{}" }],
    ["read_text_file", { path: "README.md\u0000.png" }],
    ["read_multiple_files", { paths: ["README.md", "packages/api/.env"] }],
    ["move_file", { source: "packages/api/.env", destination: "docs/env.txt" }],
  ],
});

export const fastfs = ({ repo }) => ({
  everyday: [
    ["fast_list_allowed_directories", {}],
    ["fast_read_file", { path: "README.md" }],
    ["fast_read_file", { path: "data/big.txt", line_start: 0, line_count: 3 }],
    ["fast_read_multiple_files", { paths: ["README.md", "package.json"] }],
    ["fast_write_file", { path: "out/fast.txt", content: ".env\n", append: false }],
    ["fast_list_directory", { path: repo, pattern: "*.md", show_hidden: true }],
    ["fast_get_file_info", { path: "src/index.ts" }],
    ["fast_create_directory", { path: "out/deep/er", recursive: true }],
    [
      "fast_search_files",
      { path: repo, pattern: "TODO", content_search: true, file_pattern: "*.ts" },
      "allow",
      "differs",
    ],
    ["fast_search_code", { path: "src", pattern: "greet\\(" }, "allow", "differs"],
    ["fast_get_directory_tree", { path: ".", max_depth: 2 }, "allow", "differs"],
    ["fast_get_disk_usage", { path: repo }, "allow", "differs"],
    ["fast_find_large_files", { path: repo, min_size: "50KB" }],
    ["fast_edit_block", { path: "docs/guide.md", old_text: "First", new_text: "~/.ssh/config first" }],
    ["fast_edit_blocks", { path: "src/greet.ts", edits: [{ old_text: "name", new_text: "who" }], backup: false }],
    ["fast_copy_file", { source: "docs/guide.md", destination: "out/guide.md" }],
    ["fast_move_file", { source: "out/fast.txt", destination: "out/faster.txt" }],
    [
      "fast_compress_files",
      { paths: ["src", "docs/guide.md"], output_path: "out/src.zip", exclude_patterns: [".git"] },
    ],
    ["fast_delete_file", { path: "out/faster.txt", confirm_delete: true }],
    [
      "fast_batch_file_operations",
      { operations: [{ operation: "copy", source: "README.md", destination: "out/r.md" }] },
    ],
  ],
  rare: [
    // Its default is the root of the disk.
    ["fast_get_disk_usage", {}, "ask"],
    ["fast_extract_archive", { archive_path: "out/src.zip", extract_to: "out/unpacked" }, "ask"],
    ["fast_sync_directories", { source_dir: "src", target_dir: "out/mirror", dry_run: true }],
    ["fast_copy_file", { source: "src", destination: "out/src", recursive: true }],
  ],
  controls: [
    ["fast_compress_files", { paths: ["src", ".env"], output_path: "out/all.zip" }],
    ["fast_copy_file", { source: "packages", destination: ".git/hooks", recursive: true }],
    ["fast_batch_file_operations", { operations: [{ operation: "copy", source: ".env", destination: "out/e" }] }],
    ["fast_delete_file", { path: ".", recursive: true, force: true }],
  ],
});

export const excel = ({ repo }) => ({
  everyday: [
    ["create_workbook", { path: `${repo}/out/plan.xlsx`, sheets: ["Plan", "Notes"] }],
    ["list_workbooks", { directory: `${repo}/out` }],
    [
      "write_range",
      {
        path: `${repo}/out/plan.xlsx`,
        sheet: "Plan",
        at: "A1",
        rows: [
          ["Task", "Days"],
          ["~/.ssh", 2],
        ],
      },
    ],
    ["read_range", { path: `${repo}/out/plan.xlsx`, sheet: "Plan", range: "A1:B2" }],
    ["describe_workbook", { path: `${repo}/out/plan.xlsx` }],
    ["describe_sheet", { path: `${repo}/out/plan.xlsx`, sheet: "Plan" }],
    ["import_csv", { path: `${repo}/out/plan.xlsx`, csv_path: `${repo}/data/orders.csv`, sheet: "Notes" }],
    ["export_csv", { path: `${repo}/out/plan.xlsx`, sheet: "Plan", csv_path: `${repo}/out/plan.csv` }],
    ["find_cells", { path: `${repo}/out/plan.xlsx`, query: "Task" }],
    ["rename_sheet", { path: `${repo}/out/plan.xlsx`, sheet: "Plan", new_name: "Week 1" }],
    ["set_note", { path: `${repo}/out/plan.xlsx`, sheet: "Notes", cell: "A1", text: ".env is not here" }],
    ["insert_image", { path: `${repo}/out/plan.xlsx`, sheet: "Notes", image_path: `${repo}/docs/logo.png`, at: "D1" }],
    ["set_defined_name", { path: `${repo}/out/plan.xlsx`, name: "total", refers_to: "=Notes!$B$2" }],
    ["delete_sheet", { path: `${repo}/out/plan.xlsx`, sheet: "Notes" }],
  ],
  rare: [
    ["replace_cells", { path: `${repo}/out/plan.xlsx`, query: "Task", replacement: "./x" }],
    ["create_workbook", { path: "out/relative.xlsx" }, "allow", "differs"],
  ],
  controls: [
    ["import_csv", { path: `${repo}/out/plan.xlsx`, csv_path: `${repo}/.env`, sheet: "Week 1" }],
    ["export_csv", { path: `${repo}/out/plan.xlsx`, sheet: "Week 1", csv_path: `${repo}/.git/config` }],
  ],
});

export const drawio = ({ repo }) => ({
  everyday: [
    ["new_diagram", { file_path: `${repo}/out/a.drawio.svg` }],
    [
      "add_nodes",
      {
        file_path: `${repo}/out/a.drawio.svg`,
        nodes: [
          { id: "web", title: "Web", kind: "Rectangle", x: 10, y: 10, width: 80, height: 40 },
          { id: "api", title: ".env", kind: "Rectangle", x: 10, y: 90, width: 80, height: 40 },
        ],
      },
    ],
    ["link_nodes", { file_path: `${repo}/out/a.drawio.svg`, edges: [{ from: "web", to: "api", title: "calls" }] }],
    ["get_diagram_info", { file_path: "out/a.drawio.svg" }],
    ["edit_nodes", { file_path: `${repo}/out/a.drawio.svg`, nodes: [{ id: "api", title: "API" }] }],
    ["remove_nodes", { file_path: `${repo}/out/a.drawio.svg`, ids: ["web"] }],
  ],
  controls: [["new_diagram", { file_path: `${repo}/.git/config` }]],
});

export const bank = () => ({
  everyday: [
    ["list_projects", {}],
    ["list_project_files", { projectName: "platform" }],
    ["memory_bank_read", { projectName: "platform", fileName: "brief.md" }],
    ["memory_bank_write", { projectName: "platform", fileName: "progress.md", content: "~/.ssh/config\n" }],
    ["memory_bank_update", { projectName: "platform", fileName: "brief.md", content: ".env" }],
    ["memory_bank_read", { projectName: "platform", fileName: "progress.md" }],
  ],
});
