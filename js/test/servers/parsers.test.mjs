// What the guard passes on is the same call to every parser: to those of C, Go, JavaScript, Python, Perl and jq, held against
// what the guard has judged.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { createEngine, createNodeHost } from "../../dist/node.js";
import { SIDES } from "../mcp.mjs";
import { CALLGATE } from "./guard.mjs";
import { messages } from "./parsers/messages.mjs";
import { buildParsers, readHere, readWith } from "./parsers/parsers.mjs";

const CALL = `t${Buffer.from("tools/call").toString("hex")}`;

/** A server that keeps each line, and answers each request so that its id is free again. */
const SERVER = `
const { appendFileSync } = require("node:fs");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(process.argv[1], line + "\\n");
  const { id, method } = JSON.parse(line);
  if (id !== undefined && method !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
});`;

const BUNDLE = {
  policy: { rules: [{ name: "all", if: { tool: ["note", "stop"] }, then: "allow", reason: "These may be called" }] },
  annotations: {
    servers: {
      files: {
        tools: [
          { toolName: "note", args: { text: "none" } },
          { toolName: "stop", args: {} },
        ],
      },
    },
  },
};

const { parsers, missing } = buildParsers();
const skip = missing !== undefined && process.env.CI !== "true" && `there are no parsers: ${missing}`;

test("what the guard passes on is one call to every parser", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = mkdtempSync(join(tmpdir(), "callgate-parsers-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [bundle, log, kept] = ["callgate.json", "log", "kept"].map((name) => join(folder, name));
  writeFileSync(bundle, JSON.stringify(BUNDLE));
  writeFileSync(kept, "");
  await passThroughGuard(messages(), bundle, log, [process.execPath, "-e", SERVER, kept]);
  const lines = readFileSync(kept, "utf8").split("\n").slice(0, -2);
  const here = lines.map(readHere);
  const differ = [];
  for (const parser of parsers) {
    readWith(parser, lines).forEach((reading, at) => {
      if (reading === undefined) return;
      const expected = here[at];
      const isCall = [reading, expected].some((read) => read?.method === CALL);
      const shown = ({ method, id, tool, names }) => JSON.stringify(isCall ? [method, id, tool, names] : [method, id]);
      if (expected === undefined || shown(reading) !== shown(expected)) differ.push(`${parser}: ${lines[at]}`);
    });
  }
  assert.deepEqual(differ, []);
  // Each call that a server finds was judged, in this order.
  const calls = here.filter((reading) => reading.method === CALL).map(({ tool }) => tool);
  const judged = readFileSync(log, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .filter(({ kind, decision }) => kind === "decision" && decision === "allow")
    .map(({ tool }) => `t${Buffer.from(tool).toString("hex")}`);
  assert.deepEqual(calls, judged);
  assert.ok(calls.length > 100 && lines.length - calls.length > 100, `${calls.length} of ${lines.length} are calls`);
});

/** The message with its members in one order. */
const sorted = (line) =>
  JSON.stringify(JSON.parse(line), (_, value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );

/** The messages that arrive at the server, each as a line, where a gate of the package stands before it. */
async function passThroughGate(sideOf, texts) {
  const host = createNodeHost({ homeDir: "/home/u", currentDir: "/" });
  const ends = sideOf({ engine: createEngine({ ...BUNDLE, host }), serverName: "files" });
  await ends.ready;
  const lines = [];
  for (const text of texts) {
    ends.reached.length = 0;
    await ends.asks(JSON.parse(text));
    for (const message of [...ends.reached]) {
      lines.push(JSON.stringify(message));
      const { id, method } = message;
      if (id !== undefined && method !== undefined) await ends.answers({ jsonrpc: "2.0", id, result: {} });
    }
  }
  return lines;
}

for (const [side, sideOf] of Object.entries(SIDES)) {
  test(`a gated ${side} passes on what the guard does, and it is one call to every parser`, { skip }, async (t) => {
    assert.equal(missing, undefined);
    const folder = mkdtempSync(join(tmpdir(), "callgate-parsers-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [bundle, log, kept] = ["callgate.json", "log", "kept"].map((name) => join(folder, name));
    writeFileSync(bundle, JSON.stringify(BUNDLE));
    writeFileSync(kept, "");
    // An SDK reads a message before the gate has it, so that both get what JSON.parse makes of each.
    const texts = messages().flatMap((text) => {
      try {
        const message = JSON.parse(text);
        return typeof message === "object" && message !== null ? [JSON.stringify(message)] : [];
      } catch {
        return [];
      }
    });
    const lines = await passThroughGate(sideOf, texts);
    await passThroughGuard(texts, bundle, log, [process.execPath, "-e", SERVER, kept]);
    const guarded = readFileSync(kept, "utf8").split("\n").slice(0, -2);
    // The guard reads texts, and so also refuses what is ill-formed or nested too deep for some parser: that ends a call there.
    const passed = new Set(lines.map(sorted));
    assert.deepEqual(
      guarded.filter((line) => !passed.has(sorted(line))),
      [],
    );
    assert.ok(guarded.length > lines.length * 0.9, `${guarded.length} of ${lines.length}`);
    const here = lines.map(readHere);
    for (const parser of parsers) {
      readWith(parser, lines).forEach((reading, at) => {
        if (reading === undefined || here[at].method !== CALL) return;
        const shown = ({ method, tool, names }) => JSON.stringify([method, tool, names]);
        assert.equal(shown(reading), shown(here[at]), `${parser}: ${lines[at]}`);
      });
    }
    assert.ok(here.filter(({ method }) => method === CALL).length > 100, String(lines.length));
  });
}

/** Sends lines through a guard before a server, and waits until the server has had what passes. */
async function passThroughGuard(lines, bundle, log, server) {
  const args = [
    "guard",
    "--server",
    "files",
    "--engine",
    "native",
    "--bundle",
    bundle,
    "--audit",
    log,
    "--",
    ...server,
  ];
  const guard = spawn(CALLGATE, args, { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise((resolve, reject) => guard.on("error", reject).on("close", resolve));
  const last = new Promise((resolve) => {
    createInterface({ input: guard.stdout }).on("line", (line) => {
      if (JSON.parse(line).id === "last") resolve();
    });
  });
  for (const line of [...lines, '{"jsonrpc":"2.0","id":"last","method":"ping"}']) guard.stdin.write(`${line}\n`);
  await Promise.race([last, ended]);
  guard.stdin.end();
  assert.equal(await ended, 0);
}
