import annotations from "../../../../host-shim/examples/world/annotations.json?raw";
import bundle from "../../../../host-shim/examples/world/callgate.json?raw";
import calls from "../../../../host-shim/examples/world/calls.jsonl?raw";
import ceiling from "../../../../host-shim/examples/world/ceiling.json?raw";
import policy from "../../../../host-shim/examples/world/policy.json?raw";
import subBundle from "../../../../host-shim/examples/world/sub-agent.json?raw";
import places from "../../../../host-shim/examples/world/world.json?raw";
import type { State } from "../state.js";
import { fromLines, pretty } from "./calls.js";

const shared = { "policy.json": policy, "annotations.json": annotations, "world.json": places };

const machine = pretty({
  home: "/home/u",
  cwd: "/srv/world",
  fs: {
    files: [
      "/srv/world/game/rules.txt",
      "/srv/world/mods/dragons/events.txt",
      "/srv/world/mods/unfinished/events.txt",
      "/srv/world/notes/diary.md",
    ],
  },
});

export const world: State = {
  files: { "callgate.json": bundle, ...shared },
  machine,
  call: pretty({
    serverName: "modding",
    toolName: "mod_write",
    arguments: { path: "mod:dragons/events.txt", content: "It sleeps." },
    context: { mode: "dev", command: "write" },
  }),
  scenarios: fromLines(calls, [
    "allow",
    "allow",
    "deny",
    "deny",
    "deny",
    "allow",
    "deny",
    "escalate",
    "deny",
    "deny",
    "deny",
  ]),
};

export const subAgent: State = {
  files: { "callgate.json": subBundle, ...shared, "ceiling.json": ceiling },
  machine,
  call: pretty({
    serverName: "modding",
    toolName: "mod_delete",
    arguments: { path: "mod:dragons/events.txt" },
    context: { mode: "dev", command: "delete", has_contract: true },
  }),
  scenarios: fromLines(calls, [
    "allow",
    "allow",
    "deny",
    "deny",
    "deny",
    "allow",
    "deny",
    "deny",
    "deny",
    "deny",
    "deny",
  ]),
};
