import bundle from "../../../../core/authoring/src/start/usual/callgate.json?raw";
import calls from "../../../../core/authoring/src/start/usual/calls.jsonl?raw";
import type { State } from "../state.js";
import { fromLines, pretty } from "./calls.js";

const state: State = {
  files: { "callgate.json": bundle },
  machine: pretty({
    home: "/home/u",
    cwd: "/home/u/app",
    fs: {
      files: ["/home/u/.ssh/id_ed25519", "/home/u/Documents/plan.md", "/home/u/app/README.md", "/etc/hosts"],
      dirs: ["/home/u/app/.git/hooks", "/home/u/app/src", "/tmp"],
    },
  }),
  call: pretty({ serverName: "filesystem", toolName: "read_text_file", arguments: { path: "~/Documents/plan.md" } }),
  scenarios: fromLines(calls, [
    "allow",
    "allow",
    "allow",
    "escalate",
    "deny",
    "escalate",
    "deny",
    "deny",
    "deny",
    "deny",
    "deny",
  ]),
};

export default state;
