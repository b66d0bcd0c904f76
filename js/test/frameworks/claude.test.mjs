// callgate/claude with Claude's Agent SDK, before a program that stands in for Claude Code.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { gateCanUseTool, gateHooks } from "callgate/claude";
import { ALLOWED, ASKED, BROKEN, DENIED, makeEngine, OPTIONS, SPELLED, UNREADABLE } from "./place.mjs";

const pathToClaudeCodeExecutable = fileURLToPath(new URL("claude-code.mjs", import.meta.url));
const read = (path, more = {}) => ({ name: "mcp__files__read", input: { path }, ...more });

/** Runs the calls of a script through the SDK, and returns what came of each. */
async function outcomes(calls, options, mode = "default", isOld = false) {
  const script = JSON.stringify({ calls, mode, isOld });
  const env = { ...process.env, CALLGATE_SCRIPT: script };
  for await (const message of query({ prompt: "go", options: { pathToClaudeCodeExecutable, env, ...options } })) {
    if (message.type === "result") return JSON.parse(message.result);
  }
  return assert.fail("there was no result");
}

const CLAUDE = { ...OPTIONS, serverName: "claude-code" };
const hooks = (options = CLAUDE) => ({ hooks: gateHooks(options) });
const allow = async (_name, updatedInput) => ({ behavior: "allow", updatedInput });
const both = (ask, options = CLAUDE) => ({ ...hooks(options), canUseTool: gateCanUseTool(options, ask) });

for (const [way, options] of Object.entries({
  hooks: (given) => hooks(given),
  canUseTool: (given) => ({ canUseTool: gateCanUseTool(given) }),
  both: (given) => both(undefined, given),
})) {
  test(`${way}: calls of one step, side by side`, async () => {
    const calls = [read(SPELLED), read(DENIED), { name: "mcp__files__hidden", input: {} }, { name: "Read", input: {} }];
    const [allowed, denied, hidden, own] = await outcomes([...calls, read(ALLOWED)], options(CLAUDE));
    assert.deepEqual(allowed, { ran: { path: ALLOWED } });
    assert.match(denied.denied, /deny by rule `default-deny`/);
    assert.match(hidden.denied, /Unknown tool: files\/hidden/);
    assert.match(own.denied, /Unknown tool: claude-code\/Read/);
  });

  // Both together are each of them.
  for (const [what, broken] of way === "both" ? [] : Object.entries(BROKEN)) {
    test(`${way}: nothing passes where ${what}`, async () => {
      const name = typeof broken.serverName === "function" ? "read" : "mcp__files__read";
      const [{ ran, denied }] = await outcomes([{ name, input: { path: ALLOWED } }], options(broken));
      assert.equal(ran, undefined);
      assert.match(denied, /deny by rule `structural-/);
      assert.doesNotMatch(denied, /secret/);
    });
  }
}

test("a call that escalates is asked about by canUseTool, with the arguments that were judged", async () => {
  const asked = [];
  const ask = async (name, input) => {
    asked.push([name, input]);
    return {
      behavior: "allow",
      updatedPermissions: [{ type: "setMode", mode: "bypassPermissions", destination: "session" }],
    };
  };
  assert.deepEqual(await outcomes([read("ask/./a"), read(ALLOWED)], both(ask)), [
    { ran: { path: ASKED } },
    { ran: { path: ALLOWED } },
  ]);
  assert.deepEqual(asked, [["mcp__files__read", { path: ASKED }]]);
});

test("a refusal, no answer, and an answer that cannot be read are denials", async () => {
  const never = (answer) => async () => answer;
  const asks = [
    undefined,
    never({ behavior: "deny", message: "not today" }),
    never(undefined),
    never(null),
    never("allow"),
    never({ behavior: "ALLOW" }),
    never({ behavior: "allow", updatedInput: "text" }),
    never({ behavior: "allow", updatedInput: { path: DENIED } }),
    () => Promise.reject(new Error("broken")),
    () => {
      throw new Error("broken");
    },
  ];
  for (const ask of asks) {
    const [{ ran, denied }] = await outcomes([read(ASKED)], both(ask));
    assert.equal(ran, undefined);
    assert.match(denied, /Callgate did not let this call through/);
  }
});

test("what a person changes is judged, and asked about again", async () => {
  const asked = [];
  const ask = async (_name, input) => {
    asked.push(input.path);
    return { behavior: "allow", updatedInput: { path: asked.length === 1 ? "ask/b/../c" : input.path } };
  };
  assert.deepEqual(await outcomes([read(ASKED)], both(ask)), [{ ran: { path: "/srv/ask/c" } }]);
  assert.deepEqual(asked, [ASKED, "/srv/ask/c"]);
  let count = 0;
  const endless = async () => {
    count += 1;
    return { behavior: "allow", updatedInput: { path: `/srv/ask/${count}` } };
  };
  assert.match((await outcomes([read(ASKED)], both(endless)))[0].denied, /nobody has allowed it/);
});

test("an approved call is judged again", async () => {
  let { engine } = CLAUDE;
  const ask = async (_name, updatedInput) => {
    engine = BROKEN["the engine throws"].engine;
    return { behavior: "allow", updatedInput };
  };
  const [{ denied }] = await outcomes([read(ASKED)], both(ask, { ...CLAUDE, engine: () => engine }));
  assert.match(denied, /structural-hook-fault/);
});

test("in a mode that is not for questions, a call that escalates is denied", async () => {
  for (const mode of ["bypassPermissions", "dontAsk", "auto", "plan", "another"]) {
    const [asked, allowed] = await outcomes([read(ASKED), read(ALLOWED)], both(allow), mode);
    assert.match(asked.denied, new RegExp(`the gate asks nobody in the mode \`${mode}\``));
    assert.deepEqual(allowed, { ran: { path: ALLOWED } });
  }
});

test("a Claude Code that lets calls pass where a hook fails is not started", async () => {
  await assert.rejects(outcomes([read(ALLOWED)], hooks(), "default", true), /does not honor onFailure/);
});

test("a sub-agent's call is judged like any other", async () => {
  const more = { agent_id: "sub", agent_type: "general-purpose" };
  assert.match((await outcomes([read(DENIED, { more })], hooks()))[0].denied, /default-deny/);
});

test("a command in a skill's text is denied, unless it is allowed as it stands", async () => {
  const annotations = { servers: { "claude-code": { tools: [{ toolName: "Bash", args: { command: "read-path" } }] } } };
  const options = { ...CLAUDE, engine: makeEngine({ annotations }) };
  const event = "PreSkillShellCommand";
  const commands = [ALLOWED, SPELLED, ASKED, DENIED].map((command) => ({ name: "Bash", input: { command }, event }));
  const [allowed, ...others] = await outcomes(commands, hooks(options));
  assert.deepEqual(allowed, { ran: { command: ALLOWED } });
  for (const { ran, denied } of others) {
    assert.equal(ran, undefined);
    assert.match(denied, /Callgate did not let this call through/);
  }
});

test("the server of an MCP tool is the one that the SDK names, or the one that its name has", async () => {
  const named = (name, server) => ({
    name,
    input: { path: ALLOWED },
    server: server && { name: server, source: "project" },
  });
  const annotations = { servers: { "my files": { tools: [{ toolName: "a__read", args: { path: "read-path" } }] } } };
  const options = { ...CLAUDE, engine: makeEngine({ annotations }) };
  const calls = [
    named("mcp__my_files__a__read", "my files"),
    named("mcp__my_files__a__read", "other"),
    named("mcp__my_files__a__read"),
    named("mcp__my_files"),
    named("mcp____read"),
  ];
  const [right, ...wrong] = await outcomes(calls, hooks(options));
  assert.deepEqual(right, { ran: { path: ALLOWED } });
  for (const { denied } of wrong) assert.match(denied, /is not the name of one tool of a known MCP server/);
});

test("arguments that are no object, and a call without a name, are denied", async () => {
  const [{ hooks: found }] = gateHooks(CLAUDE).PreToolUse;
  const canUseTool = gateCanUseTool(CLAUDE, allow);
  const calls = [
    ...UNREADABLE.map((input) => ["mcp__files__read", input]),
    ...[undefined, "", null, 5].map((name) => [name, { path: ALLOWED }]),
  ];
  for (const [tool_name, tool_input] of calls) {
    const { hookSpecificOutput } = await found[0]({ tool_name, tool_input, permission_mode: "default" });
    assert.equal(hookSpecificOutput.permissionDecision, "deny");
    assert.equal((await canUseTool(tool_name, tool_input, {})).behavior, "deny");
  }
});
