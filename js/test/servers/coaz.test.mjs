// Gateways that speak COAZ-MCP: the mappings are evaluated by an implementation of CEL, and the service says of what comes out what
// `callgate eval` says of the call.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Environment } from "@marcbachmann/cel-js";
import { CALLGATE, start } from "./guard.mjs";

const cel = new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true });

/** The member of a tool's `inputSchema` that the page shows. */
const page = readFileSync(new URL("../../../host-shim/serve/README.md", import.meta.url), "utf8");
const [, shown] = /```json\n(\{\n {2}"x-authzen-mapping"[^`]+)```/.exec(page);
const DECLARED = JSON.parse(shown)["x-authzen-mapping"];

const common = {
  subject: { type: "identity", id: "$token.sub" },
  context: { agent: "$token.?client_id" },
};
const byDefault = (name, type, id) => ({ evaluation: { ...common, action: { name }, resource: { type, id } } });

/** The default mappings of the draft, but for those that differ from one of these in `action.name` alone. */
const DEFAULTS = {
  initialize: byDefault("initialize", "mcp_server", "$token.aud"),
  "tools/list": byDefault("tools/list", "mcp_server", "$token.aud"),
  "tools/call": byDefault("tools/call", "tool", "$params.name"),
  "resources/read": byDefault("resources/read", "resource", "$params.uri"),
  "prompts/get": byDefault("prompts/get", "prompt", "$params.name"),
  "completion/complete": byDefault(
    "completion/complete",
    "$params.ref.type == 'ref/prompt' ? 'prompt' : 'resource'",
    "$params.ref.type == 'ref/prompt' ? params.ref.name : params.ref.uri",
  ),
};

const TOKEN = { sub: "ann", client_id: "bot", sid: "s-1", aud: "https://mcp.example" };

/** What a gateway sends: a text that begins with `$` is an expression, and an optional one that has no value is left out. */
function resolved(template, variables) {
  if (Array.isArray(template)) return template.map((item) => resolved(item, variables));
  if (typeof template === "object" && template !== null) {
    const members = Object.entries(template).map(([name, value]) => [name, resolved(value, variables)]);
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }
  if (typeof template !== "string" || !template.startsWith("$")) return template;
  if (template.startsWith("$$")) return template.slice(1);
  const value = cel.evaluate(template.slice(1), variables);
  return typeof value?.hasValue === "function" ? (value.hasValue() ? value.value() : undefined) : value;
}

const BUNDLE = {
  policy: {
    rules: [
      {
        name: "handbook",
        if: { domains: { roles: ["fetch-url"], allowed: ["handbook.example"] } },
        then: "allow",
        reason: "it is public",
      },
      {
        name: "own notes",
        if: { tool: "note", context: { subject: "ann", agent: "bot", session: "s-*" } },
        then: "allow",
        reason: "ann's own",
      },
      { name: "long work", if: { tool: "work" }, then: "escalate", reason: "a person decides" },
    ],
  },
  annotations: {
    servers: {
      everything: {
        tools: [
          { toolName: "echo", args: { message: "fetch-url" } },
          { toolName: "note", args: { text: "none" } },
          { toolName: "work", args: {} },
        ],
      },
    },
  },
};

const HANDBOOK = "https://handbook.example/start";
const CALLS = [
  { name: "echo", arguments: { message: HANDBOOK } },
  { name: "echo", arguments: { message: "https://evil.example/" } },
  { name: "echo", arguments: { message: "HTTPS://Handbook.example/start" } },
  { name: "echo", arguments: {} },
  { name: "echo" },
  { name: "echo", arguments: { message: [HANDBOOK, 1.5, true, null, { a: 7 }] } },
  { name: "note", arguments: { text: "$token.sub", more: { n: 7, f: 1.5, none: null, several: [1, "é"] } } },
  { name: "note", arguments: { text: "x" } },
  { name: "note" },
  { name: "work", arguments: {} },
  { name: "other", arguments: {} },
];
const TOKENS = [TOKEN, { ...TOKEN, sub: "bob" }, { ...TOKEN, client_id: "other" }, { sub: "ann", aud: TOKEN.aud }];

/** A gateway before a service: sends what a mapping makes of a message to the door that it names. */
async function begin(t, ...flags) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-coaz-")));
  const bundle = join(folder, "callgate.json");
  writeFileSync(bundle, JSON.stringify(BUNDLE));
  const service = await start(
    CALLGATE,
    ["serve", "--bundle", bundle, "--listen", "0", ...flags],
    { cwd: folder },
    /listening on (\S+)/,
  );
  t.after(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = async (mapping, params, token = TOKEN) => {
    const [[door, template]] = Object.entries(mapping);
    const response = await fetch(`http://${service.found[1]}/access/v1/${door}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(resolved(template, { params, token })),
    });
    assert.equal(response.status, 200, `${door}: ${JSON.stringify(params)}`);
    return response.json();
  };
  return { bundle, folder, ask };
}

/** What the engine says of a call, and whether it would be sent as it came. */
function judged({ bundle, folder }, { name, arguments: args = {} }, { sub, client_id, sid }) {
  const context = JSON.stringify({ subject: sub, agent: client_id, session: sid });
  const call = JSON.stringify({ serverName: "everything", toolName: name, arguments: args });
  const flags = ["eval", "--bundle", bundle, "--context", context, call];
  const { stdout, stderr } = spawnSync(CALLGATE, flags, { cwd: folder, encoding: "utf8" });
  assert.notEqual(stdout, "", stderr);
  const { decision, rule, arguments: sent } = JSON.parse(stdout);
  return { decision, rule, isExact: JSON.stringify(sent) === JSON.stringify(args) };
}

test("the mapping of the page has a call judged as it is", async (t) => {
  const service = await begin(t, "--callers-from-evaluations");
  const seen = new Set();
  for (const params of CALLS) {
    for (const token of TOKENS) {
      const expected = judged(service, params, token);
      const { decision, context } = await service.ask(DECLARED, params, token);
      const about = JSON.stringify([params, token, expected, context]);
      if (expected.decision === "allow" && !expected.isExact) {
        assert.deepEqual([decision, context.id], [false, "structural-inexact-call"], about);
      } else {
        assert.deepEqual(
          [decision, context.effect, context.id],
          [expected.decision === "allow", expected.decision, expected.rule],
          about,
        );
      }
      seen.add(context.id);
    }
  }
  for (const rule of ["handbook", "own notes", "long work", "structural-inexact-call", "structural-unknown-tool"]) {
    assert.ok(seen.has(rule), `${rule}: ${[...seen]}`);
  }
});

test("the default mappings", async (t) => {
  const all = await begin(t, "--server", "everything");
  const onlyTools = await begin(t, "--server", "everything", "--only-tools");
  const denied = await all.ask(DEFAULTS["tools/call"], { name: "echo", arguments: { message: HANDBOOK } });
  assert.equal(denied.decision, false);
  // The reason has the line of the page.
  const { arguments: line } = DECLARED.evaluation.context;
  assert.ok(
    denied.context.reason_user.en.includes(`{"arguments": ${JSON.stringify(line)}}`),
    denied.context.reason_user.en,
  );
  for (const [method, params, withOnlyTools] of [
    ["initialize", { protocolVersion: "2025-11-25" }, true],
    ["tools/list", {}, true],
    ["resources/read", { uri: "file:///etc/passwd" }, false],
    ["prompts/get", { name: "greet" }, false],
    ["completion/complete", { ref: { type: "ref/prompt", name: "greet" } }, false],
    ["completion/complete", { ref: { type: "ref/resource", uri: "file:///{path}" } }, false],
  ]) {
    assert.equal((await all.ask(DEFAULTS[method], params)).decision, true, method);
    assert.equal((await onlyTools.ask(DEFAULTS[method], params)).decision, withOnlyTools, method);
  }
  assert.equal((await all.ask(byDefault("x/later", "mcp_server", "$token.aud"), {})).decision, false);
});
