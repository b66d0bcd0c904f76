// Official clients before the guard, and real servers behind it, over standard streams and HTTP.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { freePort } from "../tools/ports.mjs";
import { CLIENTS } from "./clients/clients.mjs";
import { whyNoClients } from "./clients/install.mjs";
import { CALLGATE, start, writeBundle } from "./guard.mjs";
import { startNetwork } from "./network.mjs";
import { commandOf, environmentOf, listeningOf, whyMissing } from "./programs.mjs";
import { plantTree } from "./tree.mjs";

const MODERN = "2026-07-28";

const tree = plantTree();
const network = await startNetwork();
const world = { tree, network };
const bundle = writeBundle(tree);
const talked = tree.at("gate/talked");
/** The root that clients name. A server of files works in it. */
const root = `file://${tree.root}`;
const options = { env: { ...environmentOf(world), TALK_LOG: talked }, cwd: tree.at("gate") };

/** The steps with each server, and their outcome. */
const SERVERS = {
  filesystem: {
    uses: [
      [read(tree.at("docs/../docs/d.txt")), { text: "<<docs/d.txt>>\n", isError: false, rule: null }],
      [read(tree.at("outside/x.txt")), denied("default-deny")],
      [read(tree.at("home/.ssh/id")), denied("structural-protected-path")],
    ],
    shows: ["read_text_file", "write_file"],
  },
  git: {
    uses: [
      [status(tree.at("repos/app")), { contains: "On branch main" }],
      [status(tree.at("secret/repo")), denied("structural-protected-path")],
    ],
    shows: ["git_status", "git_commit"],
  },
  fetch: {
    uses: [
      [use("fetch", { url: "http://docs.example/" }), { contains: "hello" }],
      [use("fetch", { url: "http://evil.example/" }), denied("default-deny")],
    ],
    shows: ["fetch"],
  },
  everything: {
    uses: [
      [use("echo", { message: "hi" }), { text: "Echo: hi", isError: false, rule: null }],
      [use("trigger-long-running-operation", { duration: 1, steps: 1 }), denied("ask before waiting")],
      [{ do: "resources", uri: "demo://resource/static/document/architecture.md" }, { contains: "Everything Server" }],
      [{ do: "prompts", name: "simple-prompt", arguments: {} }, { contains: "This is a simple prompt" }],
    ],
    shows: ["echo", "get-sum"],
    hides: ["trigger-elicitation-request"],
  },
  talk: {
    uses: [
      [use("read", { path: tree.at("docs/x/../d.txt") }), { text: tree.at("docs/d.txt"), isError: false, rule: null }],
      [use("read", { path: tree.at("outside/x.txt") }), denied("default-deny")],
      [
        { do: "resources", uri: "note://first" },
        { uris: ["note://first"], text: "the first note" },
      ],
      [
        { do: "prompts", name: "greet", arguments: { name: "Ada" } },
        { names: ["greet"], text: "Hello Ada" },
      ],
    ],
    shows: ["ask", "change", "read", "slow"],
    hides: ["nobody_annotated_this"],
  },
};

/** The steps of clients that can go on after an answer. */
const TALKS = [
  [
    use("ask", {}),
    {
      text: `{"message": "sampled", "roots": ["file://${tree.root}"], "form": {"name": "Ada"}, "state": "remember"}`,
      isError: false,
      rule: null,
    },
  ],
  [{ ...use("slow", { seconds: 0.4 }), do: "progress" }, { text: "done" }],
  [{ ...use("slow", { seconds: 60 }), do: "cancel" }, { cancelled: true }],
  [use("ask", {}), { contains: "sampled" }],
];

function read(path) {
  return use("read_text_file", { path });
}

function status(path) {
  return use("git_status", { repo_path: path });
}

function use(name, args) {
  return { do: "call", name, arguments: args };
}

function denied(rule) {
  return { isError: true, rule };
}

const missing = [
  existsSync(CALLGATE) ? undefined : `${CALLGATE} is missing; cargo build`,
  whyNoClients(),
  ...Object.keys(SERVERS).map(whyMissing),
].find((reason) => reason !== undefined);
const skip = missing !== undefined && process.env.CI !== "true" && `the guard is not tested: ${missing}`;

/** How many calls have been cancelled. */
let cancellations = 0;

/** Servers that listen, by name. */
const addresses = {};
const opened = [];

after(async () => {
  for (const one of opened) await one.close();
  await network.close();
  tree.remove();
});

before(async () => {
  if (skip) return;
  assert.equal(missing, undefined);
  for (const name of ["everything", "talk"]) {
    const port = await freePort();
    const [[command, ...args], env, says] = listeningOf(name, port);
    opened.push(await start(command, args, { ...options, env: { ...options.env, ...env } }, says));
    addresses[name] = `http://127.0.0.1:${port}/mcp`;
  }
});

/** The guard's arguments before a server. */
const guardBefore = (name, over, flags = []) => [
  ...["guard", "--bundle", bundle, "--server", name, ...flags],
  ...(over === "HTTP" ? ["--url", addresses[name]] : ["--", ...commandOf(name, world)]),
];

/** Does something with a client before the guard, over streams or HTTP. */
async function through(name, over, front, client, actions) {
  if (front === "streams") {
    return CLIENTS[client]({ command: [CALLGATE, ...guardBefore(name, over)], ...options, root }, actions);
  }
  const guard = await start(CALLGATE, guardBefore(name, over, ["--listen", "0"]), options, /listening on (\S+)/);
  try {
    return await CLIENTS[client]({ url: guard.found[1], root }, actions);
  } finally {
    await guard.close();
  }
}

function compare(found, expected, what) {
  const { contains, ...members } = expected;
  if (contains !== undefined) assert.ok(found.text.includes(contains), `${what}: ${JSON.stringify(found)}`);
  for (const [name, value] of Object.entries(members)) {
    assert.deepEqual(found[name], value, `${what}: ${JSON.stringify(found)}`);
  }
}

/** Each thing that the Inspector does is a process of its own, so it does less. */
const isMeant = (client, name, over, front) =>
  client === "Inspector" ? over === front : client !== "Python SDK, by handshake" || name in { everything: 1, talk: 1 };

for (const [name, { uses, shows, hides = [] }] of Object.entries(SERVERS)) {
  const ways = name === "everything" || name === "talk" ? ["streams", "HTTP"] : ["streams"];
  for (const over of ways) {
    for (const front of ["streams", "HTTP"]) {
      for (const client of Object.keys(CLIENTS).filter((client) => isMeant(client, name, over, front))) {
        test(`${client} over ${front}, ${name} over ${over}`, { skip }, async () => {
          const goesOn = name === "talk" && client !== "Inspector" ? TALKS : [];
          const all = client === "Inspector" && name !== "talk" ? uses.slice(0, 2) : [...uses, ...goesOn];
          const actions = [{ do: "tools" }, ...all.map(([action]) => action)];
          const { revision, done } = await through(name, over, front, client, actions);
          const [tools, ...rest] = done;
          for (const tool of shows) assert.ok(tools.includes(tool), `${tool} is shown`);
          for (const tool of hides) assert.ok(!tools.includes(tool), `${tool} is hidden`);
          for (const [at, [action, expected]] of all.entries()) compare(rest[at], expected, JSON.stringify(action));
          const isModern = name !== "filesystem" && name !== "everything";
          if (client === "TypeScript SDK 2" || client === "Python SDK") {
            assert.equal(revision === MODERN, isModern, `the revision ${revision}`);
          }
          if (goesOn.length > 0) await cancelled();
        });
      }
    }
  }
}

/** The server has noted that its call was cancelled, and nobody else's. */
async function cancelled() {
  const count = () => (existsSync(talked) ? readFileSync(talked, "utf8").split("\n").length - 1 : 0);
  cancellations += 1;
  for (let waited = 0; count() < cancellations && waited < 20_000; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(count(), cancellations);
}

test("tools that change are told of", { skip }, async () => {
  const actions = [{ ...use("change", {}), do: "changes" }];
  for (const [over, front] of [
    ["streams", "streams"],
    ["HTTP", "streams"],
    ["streams", "HTTP"],
    ["HTTP", "HTTP"],
  ]) {
    const { done } = await through("talk", over, front, "TypeScript SDK 1", actions);
    assert.deepEqual(done.at(-1), true, `${front} to ${over}`);
  }
});

test("two clients of one guard do not mix up", { skip }, async () => {
  for (const over of ["streams", "HTTP"]) {
    const guard = await start(CALLGATE, guardBefore("talk", over, ["--listen", "0"]), options, /listening on (\S+)/);
    try {
      const path = (at) => tree.at(`docs/${at}.txt`);
      const clients = ["TypeScript SDK 1", "TypeScript SDK 2", "Python SDK", "TypeScript SDK 1"];
      const done = await Promise.all(
        clients.map((client, at) => {
          const actions = Array.from({ length: 10 }, () => use("read", { path: path(at) }));
          return CLIENTS[client]({ url: guard.found[1], root }, actions);
        }),
      );
      for (const [at, { done: answers }] of done.entries()) {
        assert.deepEqual(new Set(answers.map(({ text }) => text)), new Set([path(at)]), `${over}: ${clients[at]}`);
      }
    } finally {
      await guard.close();
    }
  }
});
