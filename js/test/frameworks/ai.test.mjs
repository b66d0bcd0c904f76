// callgate/ai with the Vercel AI SDK and its mock models.
import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, isStepCount, stepCountIs, streamText, ToolLoopAgent, tool, zodSchema } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { gateTools } from "callgate/ai";
import { z } from "zod";
import { ALLOWED, ASKED, BROKEN, DENIED, OPTIONS, SPELLED, UNREADABLE } from "./place.mjs";

const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const callOf = ([toolName, input], at) => ({
  type: "tool-call",
  toolCallId: `call-${at}`,
  toolName,
  input: JSON.stringify(input),
});
const TEXT = [{ type: "text", text: "done" }];

/** A model that makes these calls in its first step, and keeps what it is told. */
function modelOf(calls, told = []) {
  const next = ({ prompt }) => {
    told.push(...prompt.filter(({ role }) => role === "tool").flatMap(({ content }) => content));
    const isFirst = prompt.every(({ role }) => role !== "tool");
    return { content: isFirst ? calls.map(callOf) : TEXT, reason: isFirst ? "tool-calls" : "stop" };
  };
  return new MockLanguageModelV4({
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
        ...(content === TEXT ? text : content),
        { type: "finish", finishReason: { unified: reason, raw: reason }, usage: USAGE },
      ];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}

function toolsOf(ran, more = {}) {
  const inputSchema = z.object({ path: z.string() });
  const execute = async ({ path }) => {
    ran.push(path);
    return `reads ${path}`;
  };
  return { read: tool({ inputSchema, execute, ...more }), hidden: tool({ inputSchema, execute }) };
}

const stop = (isStepCount ?? stepCountIs)(3);

/** Each way to run a model, with its messages at the end. */
const WAYS = {
  generateText: async (settings) => (await generateText({ stopWhen: stop, ...settings })).responseMessages,
  streamText: async (settings) => {
    const result = streamText({ stopWhen: stop, onError: () => {}, ...settings });
    await result.consumeStream();
    return await result.responseMessages;
  },
  ToolLoopAgent: async ({ messages, prompt, ...settings }) => {
    const agent = new ToolLoopAgent({ stopWhen: stop, ...settings });
    return (await agent.generate(messages ? { messages } : { prompt })).responseMessages;
  },
};

for (const [way, run] of Object.entries(WAYS)) {
  test(`${way}: calls of one step, side by side`, async () => {
    const [ran, told] = [[], []];
    const calls = [
      ["read", { path: SPELLED }],
      ["read", { path: DENIED }],
      ["read", { path: ALLOWED }],
      ["hidden", { path: ALLOWED }],
    ];
    await run({ model: modelOf(calls, told), prompt: "go", ...gateTools(toolsOf(ran), OPTIONS) });
    assert.deepEqual(ran, [ALLOWED, ALLOWED]);
    const results = told.filter(({ type }) => type === "tool-result");
    const said = Object.fromEntries(results.map(({ toolCallId, output }) => [toolCallId, JSON.stringify(output)]));
    assert.match(said["call-0"], /reads \/srv\/docs\/a/);
    assert.match(said["call-1"], /deny by rule `default-deny`/);
    assert.match(said["call-3"], /deny by rule `structural-unknown-tool`/);
  });

  test(`${way}: a call that escalates waits for a person`, async () => {
    for (const approved of [true, false]) {
      const [ran, told] = [[], []];
      const settings = { model: modelOf([["read", { path: "ask/./a" }]], told), ...gateTools(toolsOf(ran), OPTIONS) };
      const messages = [{ role: "user", content: "go" }];
      messages.push(...(await run({ ...settings, messages })));
      assert.deepEqual(ran, []);
      const question = messages.at(-1).content.find(({ type }) => type === "tool-approval-request");
      assert.equal(messages.at(-1).content.find(({ type }) => type === "tool-call").input.path, ASKED);
      const answer = { type: "tool-approval-response", approvalId: question.approvalId, approved };
      await run({ ...settings, messages: [...messages, { role: "tool", content: [answer] }] });
      assert.deepEqual(ran, approved ? [ASKED] : []);
      assert.match(JSON.stringify(told), approved ? /reads/ : /execution-denied/);
    }
  });

  for (const [what, options] of Object.entries(BROKEN)) {
    test(`${way}: nothing passes where ${what}`, async () => {
      const [ran, told] = [[], []];
      await run({
        model: modelOf([["read", { path: ALLOWED }]], told),
        prompt: "go",
        ...gateTools(toolsOf(ran), options),
      });
      assert.deepEqual(ran, []);
      assert.match(JSON.stringify(told), /deny by rule `structural-/);
      assert.doesNotMatch(JSON.stringify(told), /secret/);
    });
  }

  test(`${way}: a tool that is added later is judged by its given arguments`, async () => {
    const [ran, told] = [[], []];
    const { tools, ...settings } = gateTools({}, OPTIONS);
    const calls = [
      ["read", { path: SPELLED }],
      ["read", { path: ALLOWED }],
    ];
    await run({ model: modelOf(calls, told), prompt: "go", ...settings, tools: { ...tools, ...toolsOf(ran) } });
    assert.deepEqual(ran, [ALLOWED]);
    assert.match(JSON.stringify(told), /`path` must be given in canonical form/);
    assert.doesNotMatch(JSON.stringify(told.find(({ toolCallId }) => toolCallId === "call-0").output), /srv/);
  });
}

/** A conversation that waits for a person, and the question. */
async function waiting(settings) {
  const messages = [{ role: "user", content: "go" }];
  messages.push(...(await WAYS.generateText({ ...settings, messages })));
  const question = messages.at(-1).content.find(({ type }) => type === "tool-approval-request");
  const answer = { type: "tool-approval-response", approvalId: question.approvalId, approved: true };
  return { messages: [...messages, { role: "tool", content: [answer] }] };
}

test("an approval does not count for another call", async () => {
  const ran = [];
  const settings = { model: modelOf([["read", { path: ASKED }]]), ...gateTools(toolsOf(ran), OPTIONS) };
  const { messages } = await waiting(settings);
  messages[1].content.find(({ type }) => type === "tool-call").input = { path: "/srv/ask/b" };
  await assert.rejects(WAYS.generateText({ ...settings, messages }), { name: "AI_InvalidToolApprovalSignatureError" });
  assert.deepEqual(ran, []);
});

test("an approval without a signature, or with that of another process, does not count", async () => {
  const ran = [];
  const settings = {
    model: modelOf([["read", { path: ASKED }]]),
    ...gateTools(toolsOf(ran), { ...OPTIONS, secret: "one" }),
  };
  const { messages } = await waiting(settings);
  const other = { ...settings, ...gateTools(toolsOf(ran), { ...OPTIONS, secret: "other" }) };
  await assert.rejects(WAYS.generateText({ ...other, messages }));
  delete messages[1].content.find(({ type }) => type === "tool-approval-request").signature;
  await assert.rejects(WAYS.generateText({ ...settings, messages }));
  assert.deepEqual(ran, []);
});

test("an approved call is judged again", async () => {
  const [ran, told] = [[], []];
  let { engine } = OPTIONS;
  const settings = {
    model: modelOf([["read", { path: ASKED }]], told),
    ...gateTools(toolsOf(ran), { ...OPTIONS, engine: () => engine }),
  };
  const { messages } = await waiting(settings);
  engine = BROKEN["the engine throws"].engine;
  await WAYS.generateText({ ...settings, messages });
  assert.deepEqual(ran, []);
  assert.match(JSON.stringify(told), /structural-hook-fault/);
});

test("what a tool says of its own approval counts, and a failure of it denies", async () => {
  for (const [needsApproval, expected] of [
    [true, /tool-approval-request/],
    [async () => true, /tool-approval-request/],
    [() => false, /reads/],
    [() => Promise.reject(new Error("broken")), /structural-hook-fault/],
  ]) {
    const ran = [];
    const settings = gateTools(toolsOf(ran, { needsApproval }), OPTIONS);
    const messages = await WAYS.generateText({
      model: modelOf([["read", { path: ALLOWED }]]),
      prompt: "go",
      ...settings,
    });
    assert.match(JSON.stringify(messages), expected);
    assert.deepEqual(ran, String(expected) === "/reads/" ? [ALLOWED] : []);
  }
});

test("a tool that is run without `toolApproval` judges its calls itself", async () => {
  const ran = [];
  const { tools, toolApproval } = gateTools(toolsOf(ran), OPTIONS);
  const run = async (path, toolCallId) => tools.read.execute({ path }, { toolCallId, messages: [] });
  assert.equal(await run(SPELLED, "1"), `reads ${ALLOWED}`);
  await assert.rejects(run(DENIED, "1"), /default-deny/);
  await assert.rejects(run(ASKED, "1"), /escalate by rule `ask`/);
  const toolCall = { toolName: "read", toolCallId: "2", input: { path: ASKED } };
  assert.equal((await toolApproval({ toolCall })).type, "user-approval");
  await assert.rejects(run(ASKED, "1"), /escalate by rule `ask`/);
  await assert.rejects(run("/srv/ask/b", "2"), /escalate by rule `ask`/);
  await run(ASKED, "2");
  await assert.rejects(run(ASKED, "2"), /escalate by rule `ask`/);
  assert.deepEqual(ran, [ALLOWED, ASKED]);
});

const inputSchema = z.object({ path: z.string() });

/** Schemas that make other arguments of what a model writes. */
const CHANGING = [
  inputSchema.transform(({ path }) => ({ file: path })),
  inputSchema.transform(({ path }) => ({ path: ALLOWED, file: path })),
  z.object({ path: z.string().transform((path) => ({ path })) }),
  z.object({ path: z.string().transform((path) => new URL(`file://${path}`)) }),
];

test("a schema that makes other arguments of what the model wrote is no way around a rule", async () => {
  for (const inputSchema of CHANGING) {
    for (const path of [DENIED, ASKED, SPELLED]) {
      const [ran, told] = [[], []];
      const execute = async (input) => `ran ${ran.push(JSON.stringify(input))}`;
      const calls = [["read", { path }]];
      const settings = { model: modelOf(calls, told), prompt: "go" };
      await WAYS.generateText({ ...settings, ...gateTools({ read: tool({ inputSchema, execute }) }, OPTIONS) });
      // What is judged is what the model wrote, and what runs is made of what was judged.
      const made = JSON.stringify(inputSchema.parse({ path: ALLOWED }));
      assert.deepEqual(ran, path === SPELLED ? [made] : []);
    }
    // A tool that is added later, and one that the program runs itself, have what the schema made.
    for (const [gated, later] of [
      [{}, { read: tool({ inputSchema, execute: assert.fail }) }],
      [{ read: tool({ inputSchema }) }, {}],
    ]) {
      const { tools, ...settings } = gateTools(gated, OPTIONS);
      const all = { ...tools, ...later };
      const calls = [["read", { path: DENIED }]];
      const messages = await WAYS.generateText({ model: modelOf(calls), prompt: "go", ...settings, tools: all });
      assert.match(JSON.stringify(messages), /deny by rule/);
    }
  }
});

test("an approval is of what the model wrote, and the tool is given what the schema makes of it", async () => {
  const [ran, seen] = [[], []];
  const read = tool({
    inputSchema: CHANGING[0],
    needsApproval: (input) => Boolean(seen.push(input)),
    execute: async (input) => `ran ${ran.push(input)}`,
  });
  for (const [path, judged] of [
    [ALLOWED, ALLOWED],
    ["ask/./a", ASKED],
  ]) {
    const settings = { model: modelOf([["read", { path }]]), ...gateTools({ read }, OPTIONS) };
    const { messages } = await waiting(settings);
    assert.deepEqual(messages[1].content.find(({ type }) => type === "tool-call").input, { path: judged });
    await WAYS.generateText({ ...settings, messages });
    assert.deepEqual(ran.at(-1), { file: judged });
  }
  assert.deepEqual(seen[0], { file: ALLOWED });
});

test("a schema that gives back what it made lets a call pass", async () => {
  const schema = z.object({ path: z.string().trim(), most: z.coerce.number().default(5) });
  const asynchronous = schema.refine(async () => true);
  for (const inputSchema of [schema, asynchronous, zodSchema(schema), () => zodSchema(schema)]) {
    const ran = [];
    const read = tool({ inputSchema, execute: async (input) => void ran.push(input) });
    const calls = [["read", { path: ` ${SPELLED}` }]];
    await WAYS.generateText({ model: modelOf(calls), prompt: "go", ...gateTools({ read }, OPTIONS) });
    assert.deepEqual(ran, [{ path: ALLOWED, most: 5 }]);
  }
});

test("a tool that streams its results does so when it is gated", async () => {
  const [ran, told] = [[], []];
  const execute = async function* ({ path }) {
    ran.push(path);
    yield "begins";
    yield `reads ${path}`;
  };
  const tools = { read: tool({ inputSchema: z.object({ path: z.string() }), execute }) };
  await WAYS.streamText({
    model: modelOf([["read", { path: SPELLED }]], told),
    prompt: "go",
    ...gateTools(tools, OPTIONS),
  });
  assert.match(JSON.stringify(told), /reads \/srv\/docs\/a/);
});

test("arguments that are no object, and a call without a name, are denied", async () => {
  const { toolApproval } = gateTools({}, OPTIONS);
  for (const input of UNREADABLE) {
    assert.equal((await toolApproval({ toolCall: { toolName: "read", toolCallId: "1", input } })).type, "denied");
  }
  for (const toolName of [undefined, "", null, 5, {}]) {
    const toolCall = { toolName, toolCallId: "1", input: { path: ALLOWED } };
    assert.equal((await toolApproval({ toolCall })).type, "denied");
  }
});

test("a renamed tool is one of another name, unless a function says which it is", async () => {
  const ran = [];
  const tools = { files_read: toolsOf(ran).read };
  const calls = [["files_read", { path: SPELLED }]];
  await WAYS.generateText({ model: modelOf(calls), prompt: "go", ...gateTools(tools, OPTIONS) });
  assert.deepEqual(ran, []);
  const serverName = (name) => ({ serverName: "files", toolName: name.replace("files_", "") });
  await WAYS.generateText({ model: modelOf(calls), prompt: "go", ...gateTools(tools, { ...OPTIONS, serverName }) });
  assert.deepEqual(ran, [ALLOWED]);
});

test("options that cannot be meant are refused", () => {
  for (const options of [
    undefined,
    {},
    { ...OPTIONS, engine: {} },
    { ...OPTIONS, serverName: 5 },
    { ...OPTIONS, patience: 1 },
  ]) {
    assert.throws(() => gateTools({}, options), { name: "CallgateError", code: "invalid-argument" });
  }
});
