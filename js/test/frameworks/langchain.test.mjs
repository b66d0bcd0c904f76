// callgate/langchain with LangChain's agents and a fake model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { gateMiddleware } from "callgate/langchain";
import { createAgent, createMiddleware, fakeModel, ToolMessage, tool } from "langchain";
import { z } from "zod";
import { ALLOWED, ASKED, BROKEN, DENIED, OPTIONS, SPELLED, UNREADABLE } from "./place.mjs";

function toolsOf(ran) {
  const run = ({ path }) => {
    ran.push(path);
    return `reads ${path}`;
  };
  const schema = z.object({ path: z.string() });
  return ["read", "hidden"].map((name) => tool(run, { name, description: "Reads", schema }));
}

/** An agent whose model makes these calls first. */
function agentOf(calls, ran, middleware, more = {}) {
  const named = calls.map(([name, args], at) => ({ name, args, id: `call-${at}` }));
  const model = fakeModel()
    .respondWithTools(named)
    .respond((messages) => messages.at(-1));
  const checkpointer = new MemorySaver();
  return createAgent({ model, tools: toolsOf(ran), middleware, checkpointer, ...more });
}

const GO = { messages: [{ role: "user", content: "go" }] };
const thread = () => ({ configurable: { thread_id: crypto.randomUUID() } });
const saidIn = ({ messages }) =>
  Object.fromEntries(
    messages.filter(ToolMessage.isInstance).map(({ tool_call_id, content }) => [tool_call_id, content]),
  );
const approve = (type = "approve") => new Command({ resume: { decisions: [{ type }] } });

/** Each way to run an agent. */
const WAYS = {
  invoke: (agent, input, config) => agent.invoke(input, config),
  stream: async (agent, input, config) => {
    let last;
    for await (const state of await agent.stream(input, { ...config, streamMode: "values" })) last = state;
    return last;
  },
};

for (const [way, run] of Object.entries(WAYS)) {
  test(`${way}: calls of one step, side by side`, async () => {
    const ran = [];
    const calls = [
      ["read", { path: SPELLED }],
      ["read", { path: DENIED }],
      ["hidden", { path: ALLOWED }],
      ["read", { path: ALLOWED }],
    ];
    const said = saidIn(await run(agentOf(calls, ran, [gateMiddleware(OPTIONS)]), GO, thread()));
    assert.deepEqual(ran, [ALLOWED, ALLOWED]);
    assert.equal(said["call-0"], `reads ${ALLOWED}`);
    assert.match(said["call-1"], /deny by rule `default-deny`/);
    assert.match(said["call-2"], /deny by rule `structural-unknown-tool`/);
  });

  test(`${way}: a call that escalates interrupts the graph`, async () => {
    for (const [answer, isAllowed] of [
      [approve(), true],
      [approve("reject"), false],
      [approve("edit"), false],
      [new Command({ resume: true }), false],
      [new Command({ resume: { decisions: [] } }), false],
      [new Command({ resume: { decisions: [{ type: "approve" }, { type: "approve" }] } }), false],
    ]) {
      const [ran, config] = [[], thread()];
      const calls = [
        ["read", { path: "ask/./a" }],
        ["read", { path: ALLOWED }],
      ];
      const agent = agentOf(calls, ran, [gateMiddleware(OPTIONS)]);
      await run(agent, GO, config);
      const [{ interrupts }] = (await agent.getState(config)).tasks.filter(({ interrupts }) => interrupts.length > 0);
      const [{ value }] = interrupts;
      assert.deepEqual(value.actionRequests[0].args, { path: ASKED });
      assert.match(value.actionRequests[0].description, /For ask/);
      const said = saidIn(await run(agent, answer, config));
      // What ran beside the question does not run twice.
      assert.deepEqual(ran, isAllowed ? [ALLOWED, ASKED] : [ALLOWED]);
      assert.match(said["call-0"], isAllowed ? /reads/ : /escalate by rule `ask`/);
    }
  });

  for (const [what, options] of Object.entries(BROKEN)) {
    test(`${way}: nothing passes where ${what}`, async () => {
      const ran = [];
      const agent = agentOf([["read", { path: ALLOWED }]], ran, [gateMiddleware(options)]);
      const said = saidIn(await run(agent, GO, thread()));
      assert.deepEqual(ran, []);
      assert.match(said["call-0"], /deny by rule `structural-/);
      assert.doesNotMatch(said["call-0"], /secret/);
    });
  }
}

test("two questions of one step are two interrupts, each with an answer of its own", async () => {
  const [ran, config] = [[], thread()];
  const calls = [
    ["read", { path: ASKED }],
    ["read", { path: "/srv/ask/b" }],
  ];
  const agent = agentOf(calls, ran, [gateMiddleware(OPTIONS)]);
  await agent.invoke(GO, config);
  const asked = (await agent.getState(config)).tasks.flatMap(({ interrupts }) => interrupts);
  assert.equal(asked.length, 2);
  const answers = asked.map(({ id, value }) => {
    const type = value.actionRequests[0].args.path === ASKED ? "approve" : "reject";
    return [id, { decisions: [{ type }] }];
  });
  const said = saidIn(await agent.invoke(new Command({ resume: Object.fromEntries(answers) }), config));
  assert.deepEqual(ran, [ASKED]);
  assert.match(said["call-1"], /escalate by rule `ask`/);
});

test("an answer counts for the call that was asked about: another one is asked about again", async () => {
  const [ran, config] = [[], thread()];
  let rule = OPTIONS.engine;
  const engine = () => rule;
  const agent = agentOf([["read", { path: ASKED }]], ran, [gateMiddleware({ ...OPTIONS, engine })]);
  await agent.invoke(GO, config);
  // Meanwhile the path leads elsewhere.
  rule = {
    gate: (call) => {
      const { verdict } = OPTIONS.engine.gate(call);
      return { verdict, argsForTransport: { path: "/srv/ask/elsewhere" } };
    },
  };
  await agent.invoke(approve(), config);
  assert.deepEqual(ran, []);
  const question = async () => (await agent.getState(config)).tasks[0].interrupts.at(-1).value.actionRequests[0].args;
  assert.deepEqual(await question(), { path: "/srv/ask/elsewhere" });
  await agent.invoke(approve(), config);
  assert.deepEqual(ran, ["/srv/ask/elsewhere"]);
});

test("another process has not asked, so it asks again, and the last answer counts", async () => {
  for (const [last, expected] of [
    ["approve", [ASKED]],
    ["reject", []],
  ]) {
    const [ran, config, checkpointer] = [[], thread(), new MemorySaver()];
    const agent = () => agentOf([["read", { path: ASKED }]], ran, [gateMiddleware(OPTIONS)], { checkpointer });
    await agent().invoke(GO, config);
    const second = agent();
    await second.invoke(approve(), config);
    assert.deepEqual(ran, []);
    await second.invoke(approve(last), config);
    assert.deepEqual(ran, expected);
  }
});

test("an approved call is judged again", async () => {
  const [ran, config] = [[], thread()];
  let { engine } = OPTIONS;
  const agent = agentOf([["read", { path: ASKED }]], ran, [gateMiddleware({ ...OPTIONS, engine: () => engine })]);
  await agent.invoke(GO, config);
  engine = BROKEN["the engine throws"].engine;
  const said = saidIn(await agent.invoke(approve(), config));
  assert.deepEqual(ran, []);
  assert.match(said["call-0"], /structural-hook-fault/);
});

const question = tool(({ path }) => `${path} ${interrupt("Really?")}`, {
  name: "read",
  schema: z.object({ path: z.string() }),
});

test("a tool's own question is not answered by the answer to the gate's, also where the call is allowed by then", async () => {
  const allows = (call) => ({
    verdict: { decision: "allow", rule: "r", reason: "" },
    argsForTransport: call.arguments,
  });
  for (const [then, answer] of [
    [OPTIONS.engine, "approve"],
    [{ gate: allows }, "approve"],
    [{ gate: allows }, "reject"],
  ]) {
    let { engine } = OPTIONS;
    const config = thread();
    const middleware = [gateMiddleware({ ...OPTIONS, engine: () => engine })];
    const agent = agentOf([["read", { path: ASKED }]], [], middleware, { tools: [question] });
    await agent.invoke(GO, config);
    engine = then;
    const state = await agent.invoke(approve(answer), config);
    if (answer === "reject") {
      assert.match(saidIn(state)["call-0"], /did not let this call through/);
    } else {
      assert.equal((await agent.getState(config)).tasks[0].interrupts.at(-1).value, "Really?");
      assert.equal(saidIn(await agent.invoke(new Command({ resume: "yes" }), config))["call-0"], `${ASKED} yes`);
    }
  }
});

test("without a checkpointer nobody can be asked, and nothing passes", async () => {
  const ran = [];
  const agent = agentOf([["read", { path: ASKED }]], ran, [gateMiddleware(OPTIONS)], { checkpointer: undefined });
  await agent.invoke(GO).catch(() => {});
  assert.deepEqual(ran, []);
});

test("a tool that other middleware adds later, and one that it renames", async () => {
  const [ran, [read]] = [[], toolsOf([])];
  const added = createMiddleware({
    name: "adds",
    wrapToolCall: (request, handler) => {
      const run = tool(({ path }) => void ran.push(path), { name: "added", schema: z.object({ path: z.string() }) });
      return handler({ ...request, tool: request.tool ?? run });
    },
  });
  const calls = [["added", { path: ALLOWED }]];
  const said = saidIn(await agentOf(calls, ran, [added, gateMiddleware(OPTIONS)]).invoke(GO, thread()));
  assert.match(said["call-0"], /structural-unknown-tool/);
  const serverName = () => ({ serverName: "files", toolName: read.name });
  await agentOf(calls, ran, [added, gateMiddleware({ ...OPTIONS, serverName })]).invoke(GO, thread());
  assert.deepEqual(ran, [ALLOWED]);
});

test("middleware that tries again is judged again, and so is what it changes", async () => {
  const ran = [];
  const retry = createMiddleware({
    name: "retries",
    wrapToolCall: async (request, handler) => {
      await handler(request);
      return handler({ ...request, toolCall: { ...request.toolCall, args: { path: DENIED } } });
    },
  });
  const agent = agentOf([["read", { path: SPELLED }]], ran, [retry, gateMiddleware(OPTIONS)]);
  assert.match(saidIn(await agent.invoke(GO, thread()))["call-0"], /default-deny/);
  assert.deepEqual(ran, [ALLOWED]);
});

test("a sub-agent's calls are judged by its own middleware", async () => {
  const ran = [];
  const inner = agentOf([["read", { path: DENIED }]], ran, [gateMiddleware(OPTIONS)]);
  const delegate = tool(async () => saidIn(await inner.invoke(GO, thread()))["call-0"], {
    name: "delegate",
    schema: z.object({}),
  });
  const outer = createAgent({
    model: fakeModel()
      .respondWithTools([{ name: "delegate", args: {}, id: "outer" }])
      .respond((messages) => messages.at(-1)),
    tools: [delegate],
  });
  assert.match(saidIn(await outer.invoke(GO)).outer, /default-deny/);
  assert.deepEqual(ran, []);
});

test("arguments that are no object, and a call without a name, are denied", async () => {
  const { wrapToolCall } = gateMiddleware(OPTIONS);
  const cases = [
    ...UNREADABLE.map((args) => ({ id: "1", name: "read", args })),
    ...[undefined, "", null, 5].map((name) => ({ id: "1", name, args: { path: ALLOWED } })),
    { name: "read", args: { path: ASKED } },
  ];
  for (const toolCall of cases) {
    const answer = await wrapToolCall({ toolCall, runtime: {} }, () => assert.fail("it ran"));
    assert.ok(ToolMessage.isInstance(answer) && answer.status === "error");
  }
});
