// callgate/openai-agents with OpenAI's Agents SDK and a model of these tests.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, Runner, RunState, tool, Usage } from "@openai/agents-core";
import { gateAgent, gateTool } from "callgate/openai-agents";
import { z } from "zod";
import { ALLOWED, ASKED, BROKEN, DENIED, OPTIONS, SPELLED, UNREADABLE } from "./place.mjs";

/** A model that makes these calls first, and says then what it was told. */
function modelOf(calls) {
  const answer = ({ input }) => {
    const told = Array.isArray(input) ? input.filter(({ type }) => type === "function_call_result") : [];
    const text = JSON.stringify(told.map(({ callId, output }) => [callId, output?.text ?? output]));
    const message = {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text }],
    };
    const made = calls.map(([name, args], at) => ({
      type: "function_call",
      callId: `call-${at}`,
      name,
      status: "completed",
      arguments: typeof args === "string" ? args : JSON.stringify(args),
    }));
    return { usage: new Usage(), output: told.length > 0 || calls.length === 0 ? [message] : made };
  };
  return {
    getResponse: async (request) => answer(request),
    async *getStreamedResponse(request) {
      const { output } = answer(request);
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      yield { type: "response_done", response: { id: "r", usage, output } };
    },
  };
}

function toolsOf(ran, more = {}) {
  const parameters = z.object({ path: z.string() });
  const execute = ({ path }) => {
    ran.push(path);
    return `reads ${path}`;
  };
  return ["read", "hidden"].map((name) => tool({ name, description: "Reads", parameters, execute, ...more }));
}

const agentOf = (calls, tools, options = OPTIONS) =>
  gateAgent(new Agent({ name: "agent", model: modelOf(calls), tools }), options);
const runner = new Runner({ tracingDisabled: true });

/** Each way to run an agent. */
const WAYS = {
  run: (agent, input) => runner.run(agent, input),
  stream: async (agent, input) => {
    const result = await runner.run(agent, input, { stream: true });
    for await (const _ of result) {
      // Until it ends.
    }
    await result.completed;
    return result;
  },
};
const saidBy = ({ finalOutput }) => Object.fromEntries(JSON.parse(finalOutput));

for (const [way, run] of Object.entries(WAYS)) {
  test(`${way}: calls of one step, side by side`, async () => {
    const ran = [];
    const calls = [
      ["read", { path: ALLOWED }],
      ["read", { path: DENIED }],
      ["hidden", { path: ALLOWED }],
      ["read", { path: SPELLED }],
      ["read", { path: "/srv/docs/b" }],
    ];
    const said = saidBy(await run(agentOf(calls, toolsOf(ran)), "go"));
    assert.deepEqual(ran, [ALLOWED, "/srv/docs/b"]);
    assert.equal(said["call-0"], `reads ${ALLOWED}`);
    assert.match(said["call-1"], /deny by rule `default-deny`/);
    assert.match(said["call-2"], /deny by rule `structural-unknown-tool`/);
    assert.match(said["call-3"], /`path` must be given in canonical form/);
    assert.doesNotMatch(said["call-3"], /srv/);
  });

  test(`${way}: a call that escalates needs approval`, async () => {
    for (const isAllowed of [true, false]) {
      const ran = [];
      const agent = agentOf([["read", { path: ASKED }]], toolsOf(ran));
      const asked = await run(agent, "go");
      assert.equal(asked.interruptions.length, 1);
      assert.deepEqual(ran, []);
      // Kept as text, and read by another process.
      const state = await RunState.fromString(agent, asked.state.toString());
      const [question] = state.getInterruptions();
      isAllowed ? state.approve(question) : state.reject(question);
      const said = saidBy(await run(agent, state));
      assert.deepEqual(ran, isAllowed ? [ASKED] : []);
      assert.match(said["call-0"], isAllowed ? /reads/ : /not approved/);
    }
  });

  for (const [what, options] of Object.entries(BROKEN)) {
    test(`${way}: nothing passes where ${what}`, async () => {
      const ran = [];
      const said = saidBy(await run(agentOf([["read", { path: ALLOWED }]], toolsOf(ran), options), "go"));
      assert.deepEqual(ran, []);
      assert.match(said["call-0"], /deny by rule `structural-/);
      assert.doesNotMatch(said["call-0"], /secret/);
    });
  }
}

test("an approved call is judged again", async () => {
  const ran = [];
  let { engine } = OPTIONS;
  const agent = agentOf([["read", { path: ASKED }]], toolsOf(ran), { ...OPTIONS, engine: () => engine });
  const asked = await runner.run(agent, "go");
  asked.state.approve(asked.interruptions[0]);
  engine = BROKEN["the engine throws"].engine;
  assert.match(saidBy(await runner.run(agent, asked.state))["call-0"], /structural-hook-fault/);
  assert.deepEqual(ran, []);
});

test("a call that nobody was asked about does not run where it escalates by then", async () => {
  const ran = [];
  let count = 0;
  const gate = ({ arguments: argsForTransport }) => {
    count += 1;
    return { verdict: { decision: count === 1 ? "allow" : "escalate", rule: "r", reason: "" }, argsForTransport };
  };
  const agent = agentOf([["read", { path: ASKED }]], toolsOf(ran), { ...OPTIONS, engine: { gate } });
  assert.match(saidBy(await runner.run(agent, "go"))["call-0"], /escalate by rule/);
  assert.deepEqual(ran, []);
});

test("a runner that asks guardrails before a person asks about the same calls", async () => {
  const ran = [];
  const early = new Runner({ tracingDisabled: true, toolExecution: { preApprovalInputGuardrails: true } });
  const agent = agentOf([["read", { path: ASKED }]], toolsOf(ran));
  const asked = await early.run(agent, "go");
  assert.equal(asked.interruptions.length, 1);
  asked.state.approve(asked.interruptions[0]);
  await early.run(agent, asked.state);
  assert.deepEqual(ran, [ASKED]);
});

test("a call that escalates in another spelling is denied, not asked about", async () => {
  const said = saidBy(await runner.run(agentOf([["read", { path: "ask/./a" }]], toolsOf([])), "go"));
  assert.match(said["call-0"], /structural-unresolvable-value/);
});

test("an approval does not count for another call with its id", async () => {
  const ran = [];
  const paths = [ASKED, "/srv/ask/b"];
  const usage = new Usage();
  const getResponse = async () => {
    const args = JSON.stringify({ path: paths.shift() });
    const call = { type: "function_call", callId: "same", name: "read", status: "completed", arguments: args };
    return { usage, output: [call] };
  };
  const agent = gateAgent(new Agent({ name: "agent", model: { getResponse }, tools: toolsOf(ran) }), OPTIONS);
  const asked = await runner.run(agent, "go");
  asked.state.approve(asked.interruptions[0]);
  await assert.rejects(runner.run(agent, asked.state), /reused for a different invocation/);
  assert.deepEqual(ran, [ASKED]);
});

test("a tool's own approval and its other guardrails count", async () => {
  const ran = [];
  const asked = await runner.run(agentOf([["read", { path: ALLOWED }]], toolsOf(ran, { needsApproval: true })), "go");
  assert.equal(asked.interruptions.length, 1);
  const run = async () => ({ behavior: { type: "rejectContent", message: "not today" } });
  const tools = toolsOf(ran, { inputGuardrails: [{ name: "own", run }] });
  assert.equal(saidBy(await runner.run(agentOf([["read", { path: ALLOWED }]], tools), "go"))["call-0"], "not today");
  assert.deepEqual(ran, []);
});

test("tools that are added later, those of a clone, and those of an MCP server are judged", async () => {
  const ran = [];
  const calls = [["hidden", { path: ALLOWED }]];
  const agent = agentOf(calls, []);
  agent.tools.push(...toolsOf(ran));
  const server = {
    name: "server",
    cacheToolsList: false,
    connect: async () => {},
    close: async () => {},
    invalidateToolsCache: async () => {},
    listTools: async () => [
      { name: "hidden", inputSchema: { type: "object", properties: { path: { type: "string" } }, required: [] } },
    ],
    callTool: async (_, { path }) => {
      ran.push(path);
      return [{ type: "text", text: "done" }];
    },
  };
  const withServer = gateAgent(new Agent({ name: "agent", model: modelOf(calls), mcpServers: [server] }), OPTIONS);
  for (const one of [agent, agent.clone({ name: "other" }), withServer]) {
    assert.match(saidBy(await runner.run(one, "go"))["call-0"], /structural-unknown-tool/);
  }
  assert.deepEqual(ran, []);
  const serverName = () => ({ serverName: "files", toolName: "read" });
  await runner.run(
    gateAgent(new Agent({ name: "a", model: modelOf(calls), mcpServers: [server] }), { ...OPTIONS, serverName }),
    "go",
  );
  assert.deepEqual(ran, [ALLOWED]);
});

test("an agent that is a tool is judged, and so are its own calls", async () => {
  const ran = [];
  const inner = agentOf([["read", { path: DENIED }]], toolsOf(ran));
  const delegate = inner.asTool({ toolName: "read", toolDescription: "Delegates" });
  const denied = agentOf([["read", { input: "go" }]], [delegate]);
  assert.match(saidBy(await runner.run(denied, "go"))["call-0"], /Callgate did not let this call through/);
  const outer = new Agent({ name: "outer", model: modelOf([["read", { input: "go" }]]), tools: [delegate] });
  assert.match(saidBy(await runner.run(outer, "go"))["call-0"], /default-deny/);
  assert.deepEqual(ran, []);
});

test("a tool that is not a function cannot be gated, and nothing runs", async () => {
  const ran = [];
  const hosted = { type: "hosted_tool", name: "web_search", providerData: {} };
  const agent = agentOf([["read", { path: ALLOWED }]], [...toolsOf(ran), hosted]);
  await assert.rejects(runner.run(agent, "go"), { code: "invalid-argument" });
  assert.throws(() => gateTool(hosted, OPTIONS), { code: "invalid-argument" });
  assert.deepEqual(ran, []);
});

test("arguments that are no object, and a tool without a name, are denied", async () => {
  const [read] = toolsOf([]);
  const context = { isToolApproved: () => true };
  const behaviorOf = async (gated, text) => {
    const toolCall = { name: "read", callId: "1", arguments: text };
    return (await gated.inputGuardrails.at(-1).run({ context, toolCall })).behavior.type;
  };
  const texts = [...UNREADABLE.map((value) => JSON.stringify(value)), "{", undefined].filter(
    (text) => !text?.includes("NaN"),
  );
  for (const text of texts.filter((text) => text === undefined || !text.startsWith('{"path"'))) {
    assert.equal(await behaviorOf(gateTool(read, OPTIONS), text), "rejectContent", text);
  }
  for (const name of [undefined, "", 5]) {
    assert.equal(await behaviorOf(gateTool({ ...read, name }, OPTIONS), `{"path": "${ALLOWED}"}`), "rejectContent");
  }
});
