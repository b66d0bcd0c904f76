import annotations from "../../../../host-shim/examples/bundle/annotations.json?raw";
import bundle from "../../../../host-shim/examples/bundle/callgate.json?raw";
import calls from "../../../../host-shim/examples/bundle/calls.jsonl?raw";
import policy from "../../../../host-shim/examples/bundle/policy.json?raw";
import type { State } from "../state.js";
import { fromLines, pretty } from "./calls.js";

const state: State = {
  files: { "callgate.json": bundle, "policy.json": policy, "annotations.json": annotations },
  machine: pretty({
    home: "/home/u",
    cwd: "/home/u/app",
    fs: {
      files: [
        "/home/u/.ssh/id_ed25519",
        "/home/u/Documents/plan.md",
        "/home/u/app/.env",
        "/home/u/app/README.md",
        "/home/u/app/annotations.json",
        "/home/u/app/callgate.json",
        "/home/u/app/policy.json",
        "/home/u/app/src/main.rs",
        "/etc/hosts",
      ],
      dirs: ["/home/u/app/.git/hooks", "/tmp"],
      links: { "/home/u/app/docs/plan.md": "../../Documents/plan.md", "/home/u/app/docs/keys": "/home/u/.ssh" },
    },
    git: { "/home/u/app": { branch: "feature", remotes: { origin: ["https://github.com/acme/app.git"] } } },
  }),
  call: pretty({
    serverName: "filesystem",
    toolName: "read_text_file",
    arguments: { path: "docs/plan.md" },
  }),
  scenarios: fromLines(calls, [
    "allow",
    "allow",
    "allow",
    "deny",
    "deny",
    "deny",
    "escalate",
    "deny",
    "deny",
    "allow",
    "allow",
    "deny",
    "allow",
    "escalate",
    "deny",
  ]),
};

export default state;
