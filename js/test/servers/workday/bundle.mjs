// What a new user has: `callgate init`, `callgate annotate --into` for each server, and the few edits that the pages lead to.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { CALLGATE } from "../guard.mjs";

/** Servers that work with the project's files, so that the sandbox decides on them. */
const FILES = [
  "filesystem",
  "git",
  "gitx",
  "playwright",
  "chrome-devtools",
  "desktop-commander",
  "excel",
  "drawio",
  "fastfs",
];
const MORE_FILES = ["textedit", "archive", "image", "bank", "everything"];

/** Servers that may be used freely, but for what other rules say. */
const FREE = [
  ...[
    "everything",
    "memory",
    "sequential-thinking",
    "playwright",
    "chrome-devtools",
    "desktop-commander",
    "time",
    "tasks",
  ],
  ...[
    "excel",
    "drawio",
    "fastfs",
    "bank",
    "filesystem",
    "sqlite",
    "notion",
    "slack",
    "textedit",
    "image",
    "archive",
    "email",
  ],
  ...["git", "gitx", "github", "gitlab", "kubernetes"],
];

const rule = (name, effect, conditions, reason) => ({ name, if: conditions, then: effect, reason });

const SITES = rule(
  "sites",
  "allow",
  { domains: { roles: "fetch-url", allowed: ["docs.example", "*.docs.example", "127.0.0.1", "localhost"] } },
  "Sites of the project",
);

const RULES = [
  rule(
    "no-push-to-main",
    "deny",
    {
      tool: "git_push",
      lists: [{ roles: "branch-name", allowed: ["main"], matchType: "identifiers" }],
    },
    "main changes by review",
  ),
  rule(
    "ask-to-run",
    "escalate",
    { tool: ["start_process", "interact_with_process", "shell_execute"] },
    "A person decides what is run",
  ),
  rule(
    "ask-cluster",
    "escalate",
    { tool: ["kubectl_delete", "kubectl_apply", "kubectl_create"] },
    "A person decides about the cluster",
  ),
  rule("ask-to-send", "escalate", { tool: ["send_email", "forward_email"] }, "A person decides what is sent"),
  SITES,
  rule("ask-to-fetch", "escalate", { roles: "fetch-url" }, "A person decides about other sites"),
  rule(
    "our-remotes",
    "allow",
    { domains: { roles: "git-remote-url", allowed: ["github.com/acme/*", "github.com/acme/platform"] } },
    "The project's own forge",
  ),
  rule("ask-remotes", "escalate", { roles: "git-remote-url" }, "A person decides about other remotes"),
  rule(
    "ours",
    "allow",
    { lists: [{ roles: "github-owner", allowed: ["acme"], matchType: "identifiers" }] },
    "The project's own forge",
  ),
  rule("ask-to-read", "escalate", { roles: "read-path" }, "Outside the project a person decides what is read"),
  rule(
    "ask-to-write",
    "escalate",
    { roles: ["write-path", "delete-path", "write-history", "delete-history"] },
    "Outside the project a person decides what is written",
  ),
  rule("free", "allow", { server: FREE }, "These servers may be used"),
];

const run = (...args) => execFileSync(CALLGATE, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Servers for which there is a pack: annotations and rules that were reviewed by hand. */
export const PACKS = [
  ...["desktop-commander", "fetch", "filesystem", "git", "github", "gitlab", "kubernetes", "memory", "notion"],
  ...["playwright", "sequential-thinking", "slack", "sqlite", "time"],
];

/** Writes the bundle of a project for servers with these tools, some of them from packs. Returns its path. */
export function writeBundle({ repo }, tools, packs = []) {
  run("init", ...(packs.length === 0 ? [] : ["--for", packs.join(",")]), repo);
  const bundle = join(repo, "callgate.json");
  for (const [name, list] of Object.entries(tools).filter(([name]) => !packs.includes(name))) {
    const file = join(repo, "..", `${name}.json`);
    writeFileSync(file, JSON.stringify({ tools: list }));
    run("annotate", "--server", name, "--into", bundle, file);
  }
  // Comments and trailing commas are JavaScript's.
  const written = runInNewContext(`(${readFileSync(bundle, "utf8")})`);
  // The rules of packs stand behind the project's own sites; of those that `init` writes, the first one is kept.
  const kept = packs.length === 0 ? written.policy.rules.slice(0, 1) : [SITES, ...written.policy.rules];
  const policy = { rules: [...kept, ...RULES] };
  const { serverAliases, sandboxServers = [] } = written.options;
  const others = [...FILES, ...MORE_FILES].filter((name) => !packs.includes(name));
  const options = {
    ...written.options,
    serverAliases: { ...serverAliases, gitx: "git" },
    sandboxServers: [...sandboxServers, ...others],
  };
  writeFileSync(bundle, JSON.stringify({ ...written, policy, options }, null, 2));
  return bundle;
}
