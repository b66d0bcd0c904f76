// callgate/mastra with Mastra's agents and a mock model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { tool as aiTool, simulateReadableStream } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { gateTools } from "callgate/mastra";
import { z } from "zod";
import { ALLOWED, ASKED, BROKEN, DENIED, OPTIONS, SPELLED, UNREADABLE } from "./place.mjs";

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** A model that makes these calls in its first step, and keeps what it is told. */
function modelOf(calls, told) {
  const next = ({ prompt }) => {
    const results = prompt.filter(({ role }) => role === "tool").flatMap(({ content }) => content);
    for (const { toolCallId, output } of results) told[toolCallId] = JSON.stringify(output);
    const isFirst = results.length === 0;
    const made = calls.map(([toolName, input], at) => {
      return { type: "tool-call", toolCallId: `call-${at}`, toolName, input: JSON.stringify(input) };
    });
    return { content: isFirst ? made : [{ type: "text", text: "done" }], reason: isFirst ? "tool-calls" : "stop" };
  };
  return new MockLanguageModelV3({
    doGenerate: async (asked) => {
      const { content, reason } = next(asked);
      return { content, finishReason: { unified: reason, raw: reason }, usage: USAGE, warnings: [] };
    },
    doStream: async (asked) => {
      const { content, reason } = next(asked);
      const text = [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "done" },
        { type: "text-end", id: "t" },
      ];
      const chunks = [
        { type: "stream-start", warnings: [] },
        ...(reason === "stop" ? text : content),
        { type: "finish", finishReason: { unified: reason, raw: reason }, usage: USAGE },
      ];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}

const inputSchema = z.object({ path: z.string() });

function toolsOf(ran, more = {}) {
  const execute = async ({ path }) => {
    ran.push(path);
    return `reads ${path}`;
  };
  const make = (id) => createTool({ id, description: "Reads", inputSchema, execute, ...more });
  return { read: make("read"), hidden: make("hidden") };
}

function agentOf(calls, told, tools, more = {}) {
  const agent = new Agent({ id: "a", name: "a", instructions: "go", model: modelOf(calls, told), tools, ...more });
  return new Mastra({ agents: { a: agent }, storage: new InMemoryStore(), logger: false }).getAgent("a");
}

/** Each way to run an agent, and to answer for a person. */
const WAYS = {
  generate: {
    run: (agent) => agent.generate("go", { maxSteps: 3 }),
    answer: (agent, isAllowed, ids) =>
      isAllowed ? agent.approveToolCallGenerate(ids) : agent.declineToolCallGenerate(ids),
  },
  stream: {
    run: async (agent) => {
      const output = await agent.stream("go", { maxSteps: 3 });
      await output.consumeStream();
      return { runId: output.runId };
    },
    answer: async (agent, isAllowed, ids) => {
      const output = await (isAllowed ? agent.approveToolCall(ids) : agent.declineToolCall(ids));
      await output.consumeStream();
    },
  },
};

for (const [way, { run, answer }] of Object.entries(WAYS)) {
  test(`${way}: calls of one step, side by side`, async () => {
    const [ran, told] = [[], {}];
    const calls = [
      ["read", { path: SPELLED }],
      ["read", { path: DENIED }],
      ["hidden", { path: ALLOWED }],
      ["read", { path: ALLOWED }],
    ];
    await run(agentOf(calls, told, gateTools(toolsOf(ran), OPTIONS)));
    assert.deepEqual(ran, [ALLOWED, ALLOWED]);
    assert.match(told["call-0"], /reads/);
    assert.match(told["call-1"], /deny by rule `default-deny`/);
    assert.match(told["call-2"], /deny by rule `structural-unknown-tool`/);
  });

  test(`${way}: a call that escalates needs approval`, async () => {
    for (const isAllowed of [true, false]) {
      const [ran, told] = [[], {}];
      const agent = agentOf([["read", { path: "ask/./a" }]], told, gateTools(toolsOf(ran), OPTIONS));
      const { runId } = await run(agent);
      assert.deepEqual([ran, told], [[], {}]);
      await answer(agent, isAllowed, { runId, toolCallId: "call-0" });
      assert.deepEqual(ran, isAllowed ? [ASKED] : []);
      assert.match(told["call-0"], isAllowed ? /reads/ : /not approved|declined/i);
    }
  });

  for (const [what, options] of Object.entries(BROKEN)) {
    test(`${way}: nothing passes where ${what}`, async () => {
      const [ran, told] = [[], {}];
      await run(agentOf([["read", { path: ALLOWED }]], told, gateTools(toolsOf(ran), options)));
      assert.deepEqual(ran, []);
      assert.match(told["call-0"], /deny by rule `structural-/);
      assert.doesNotMatch(told["call-0"], /secret/);
    });
  }
}

test("an approved call is judged again", async () => {
  const [ran, told] = [[], {}];
  let { engine } = OPTIONS;
  const tools = gateTools(toolsOf(ran), { ...OPTIONS, engine: () => engine });
  const agent = agentOf([["read", { path: ASKED }]], told, tools);
  const { runId } = await WAYS.generate.run(agent);
  engine = BROKEN["the engine throws"].engine;
  await WAYS.generate.answer(agent, true, { runId, toolCallId: "call-0" });
  assert.deepEqual(ran, []);
  assert.match(told["call-0"], /structural-hook-fault/);
});

test("a call that is another one after its approval does not run", async () => {
  const [ran, told] = [[], {}];
  let gate = OPTIONS.engine.gate;
  const tools = gateTools(toolsOf(ran), { ...OPTIONS, engine: { gate: (...given) => gate(...given) } });
  const agent = agentOf([["read", { path: ASKED }]], told, tools);
  const { runId } = await WAYS.generate.run(agent);
  let asked = 0;
  gate = (call, options) => {
    asked += 1;
    const gated = OPTIONS.engine.gate(call, options);
    return { ...gated, argsForTransport: { path: `/srv/ask/${asked}` } };
  };
  await WAYS.generate.answer(agent, true, { runId, toolCallId: "call-0" });
  assert.deepEqual(ran, []);
});

test("what a tool says of its own approval cannot take a question away, and adds its own", async () => {
  const none = createTool({
    id: "read",
    description: "",
    inputSchema,
    requireApproval: () => false,
    execute: assert.fail,
  });
  const ai = aiTool({ description: "", inputSchema, needsApproval: () => false, execute: assert.fail });
  for (const read of [none, ai]) {
    const told = {};
    await WAYS.generate.run(agentOf([["read", { path: ASKED }]], told, gateTools({ read }, OPTIONS)));
    assert.deepEqual(told, {});
  }
  for (const requireApproval of [true, async () => true, () => Promise.reject(new Error("broken"))]) {
    const [ran, told] = [[], {}];
    const tools = gateTools(toolsOf(ran, { requireApproval }), OPTIONS);
    await WAYS.generate.run(agentOf([["read", { path: ALLOWED }]], told, tools));
    assert.deepEqual([ran, told], [[], {}]);
  }
});

test("a tool that suspends itself is not resumed into a call that nobody was asked about", async () => {
  const ran = [];
  let engine = {
    gate: () => ({ verdict: { decision: "allow", rule: "r", reason: "" }, argsForTransport: { path: ASKED } }),
  };
  const read = createTool({
    id: "read",
    description: "",
    inputSchema,
    execute: async ({ path }) => void ran.push(path),
  });
  const gated = gateTools({ read }, { ...OPTIONS, engine: () => engine }).read;
  await gated.execute({ path: ASKED }, {});
  engine = OPTIONS.engine;
  await gated.needsApprovalFn({ path: ASKED });
  await assert.rejects(gated.execute({ path: ASKED }, { agent: { resumeData: {} } }), /escalate by rule/);
  assert.deepEqual(ran, [ASKED]);
});

test("what a person declined in an agent, or was asked about there, does not run anywhere else", async () => {
  const [ran, told] = [[], {}];
  const tools = gateTools(toolsOf(ran, { outputSchema: z.any() }), OPTIONS);
  const agent = agentOf([["read", { path: ASKED }]], told, tools);
  const { runId } = await WAYS.generate.run(agent);
  await WAYS.generate.answer(agent, false, { runId, toolCallId: "call-0" });
  const workflow = createWorkflow({ id: "w", inputSchema, outputSchema: z.any() })
    .then(createStep(tools.read))
    .commit();
  const run = await workflow.createRun();
  assert.equal((await run.start({ inputData: { path: ASKED } })).status, "failed");
  await tools.read.needsApprovalFn({ path: ASKED });
  for (const context of [undefined, {}, { agent: {} }, { runId: "r", agent: { toolCallId: "" } }, { workflow: {} }]) {
    await assert.rejects(tools.read.execute({ path: ASKED }, context), /escalate by rule/);
  }
  assert.deepEqual(ran, []);
});

test("an approval ends with the tool, unless that suspends itself", async () => {
  const ran = [];
  const execute = async ({ path }, { agent }) => {
    ran.push(path);
    return agent.resumeData === undefined ? agent.suspend({}) : "done";
  };
  const { read } = gateTools({ read: createTool({ id: "read", description: "", inputSchema, execute }) }, OPTIONS);
  const run = (toolCallId, resumeData) => {
    const context = { runId: "r", agent: { toolCallId, resumeData, suspend: async () => undefined } };
    return read.execute({ path: ASKED }, context);
  };
  await read.needsApprovalFn({ path: ASKED });
  await run("1");
  await assert.rejects(run("2", {}), /escalate by rule/);
  assert.equal(await run("1", {}), "done");
  await assert.rejects(run("1", {}), /escalate by rule/);
  assert.deepEqual(ran, [ASKED, ASKED]);
});

test("a schema that makes other arguments of those that were judged is no way around a rule", async () => {
  for (const [schema, expected] of [
    [inputSchema.transform(({ path }) => ({ file: path })), undefined],
    [inputSchema.transform(({ path }) => ({ path: "/srv/docs/b", file: path })), undefined],
    [z.object({ path: z.string().transform((path) => `${path}/../../ask`) }), undefined],
    [z.object({ path: z.string().trim(), most: z.number().default(5) }), { path: ALLOWED, most: 5 }],
  ]) {
    const [ran, told] = [[], {}];
    const execute = async (input) => `ran ${ran.push(input)}`;
    const read = createTool({ id: "read", description: "", inputSchema: schema, execute });
    await WAYS.generate.run(agentOf([["read", { path: ALLOWED }]], told, gateTools({ read }, OPTIONS)));
    assert.deepEqual(ran, expected === undefined ? [] : [expected]);
    assert.match(told["call-0"], expected === undefined ? /deny by rule/ : /ran 1/);
  }
});

test("a sub-agent's calls are judged by its own tools", async () => {
  const [ran, told, inner] = [[], {}, {}];
  const agent = new Agent({
    id: "reader",
    name: "reader",
    description: "Reads",
    instructions: "",
    model: modelOf([["read", { path: DENIED }]], inner),
    tools: gateTools(toolsOf(ran), OPTIONS),
  });
  await WAYS.generate.run(agentOf([["agent-reader", { prompt: "go" }]], told, {}, { agents: { reader: agent } }));
  assert.match(inner["call-0"], /default-deny/);
  assert.deepEqual(ran, []);
});

test("a renamed tool is one of another name, unless a function says which it is", async () => {
  const [ran, told] = [[], {}];
  const tools = { files_read: toolsOf(ran).read };
  await WAYS.generate.run(agentOf([["files_read", { path: ALLOWED }]], told, gateTools(tools, OPTIONS)));
  assert.match(told["call-0"], /structural-unknown-tool/);
  const serverName = (name) => ({ serverName: "files", toolName: name.replace("files_", "") });
  await WAYS.generate.run(
    agentOf([["files_read", { path: SPELLED }]], told, gateTools(tools, { ...OPTIONS, serverName })),
  );
  assert.deepEqual(ran, [ALLOWED]);
});

test("arguments that are no object, a call without a name, and a tool without `execute` are denied", async () => {
  const ran = [];
  const { read } = gateTools(toolsOf(ran), OPTIONS);
  for (const input of UNREADABLE) {
    await assert.rejects(read.execute(input, {}), /structural-unreadable-argument/);
  }
  const unnamed = gateTools({ "": toolsOf(ran).read }, OPTIONS)[""];
  await assert.rejects(unnamed.execute({ path: ALLOWED }, {}), /structural-hook-fault/);
  const away = gateTools({ read: createTool({ id: "read", description: "", inputSchema }) }, OPTIONS).read;
  await assert.rejects(away.execute({ path: ALLOWED }, {}), /has no `execute`/);
  assert.deepEqual(ran, []);
});
