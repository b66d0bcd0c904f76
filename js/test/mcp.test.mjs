// callgate/mcp: on the cases that the command's guard answers too.
import assert from "node:assert/strict";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { filterTools, gateClient, gateServer } from "../dist/mcp.js";
import { bareEnd, later, place, read, SIDES } from "./mcp.mjs";

/** Returns `true` if the members that are expected are there. Lists are compared as wholes. */
function holds(expected, found) {
  if (typeof expected === "object" && expected !== null && !Array.isArray(expected)) {
    return Object.entries(expected).every(([name, value]) => holds(value, found?.[name]));
  }
  try {
    assert.deepEqual(found, expected);
    return true;
  } catch {
    return false;
  }
}
for (const [side, sideOf] of Object.entries(SIDES)) {
  test(`a gated ${side} answers as the guard does`, async (t) => {
    let count = 0;
    for (const line of read("cases.jsonl").trim().split("\n")) {
      const { root, options } = place(t);
      const { name, lock, listed, steps } = JSON.parse(line.replaceAll("ROOT", root));
      const ends = sideOf(lock ? { ...options, lock: read("callgate.lock") } : options);
      await ends.ready;
      for (const step of steps) {
        ends.reached.length = 0;
        ends.got.length = 0;
        const asking = ends.asks(step.client);
        await later();
        // The gate's own request for the tools.
        const own = ends.reached.findIndex(({ id }) => String(id).startsWith("callgate/"));
        if (own >= 0) {
          const [{ id }] = ends.reached.splice(own, 1);
          await ends.answers({ jsonrpc: "2.0", id, result: listed });
          await later();
        }
        await asking;
        assert.deepEqual(ends.reached, step.reaches === null ? [] : [step.reaches], name);
        if (step.answers !== undefined) {
          await ends.answers(step.answers);
          await later();
        }
        assert.equal(ends.got.length, step.gets === null ? 0 : 1, `${name}: ${JSON.stringify(ends.got)}`);
        assert.ok(holds(step.gets ?? {}, ends.got[0] ?? {}), `${name}: ${JSON.stringify(ends.got)}`);
        count += 1;
      }
    }
    assert.ok(count > 30, String(count));
  });
}

for (const [side, sideOf] of Object.entries(SIDES)) {
  test(`a gated ${side} takes no half of a character for an id`, async (t) => {
    const ends = sideOf(place(t).options);
    await ends.ready;
    await ends.asks({ jsonrpc: "2.0", id: "\ud800", method: "ping" });
    assert.deepEqual(ends.reached, []);
    await ends.asks({ jsonrpc: "2.0", id: "\u{1f600}", method: "ping" });
    assert.equal(ends.reached.length, 1);
  });
}

/** A gated client with a person behind it. */
async function asking(t, ask, more = {}) {
  const found = place(t);
  const decisions = [];
  const onDecision = ({ verdict, sent, answer }) => decisions.push([verdict.rule, sent !== undefined, answer]);
  const ends = SIDES.client({ ...found.options, ask, onDecision, ...more });
  await ends.ready;
  const call = async (id, path = `${found.root}/docs/a`) => {
    await ends.asks({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "read", arguments: { path } } });
    await later();
  };
  return { ...found, ...ends, call, decisions };
}

test("a person who is asked lets a call pass once, always or not", async (t) => {
  const answers = ["deny", "once", "always"];
  const questions = [];
  const { root, call, got, reached, decisions } = await asking(t, (question) => {
    questions.push(question);
    return Promise.resolve(answers.shift());
  });
  for (const id of [1, 2, 3, 4]) {
    await call(id);
  }
  assert.equal(questions.length, 3);
  assert.equal(questions[0].offer.description, `Allow files/read read-path within ${root}/docs`);
  assert.equal(questions[0].argsForTransport.path, `${root}/docs/a`);
  assert.match(got[0].result.content[0].text, /nobody has allowed it/);
  assert.equal(got.length, 1);
  assert.deepEqual(
    reached.map(({ id }) => id),
    [2, 3, 4],
  );
  assert.deepEqual(decisions, [
    ["ask", false, "deny"],
    ["ask", true, "once"],
    ["structural-approval", true, "always"],
    ["structural-approval", true, undefined],
  ]);
});

test("what has changed while a person decided is not what was allowed", async (t) => {
  let root = "";
  const found = await asking(t, () => {
    rmSync(join(root, "docs"), { recursive: true });
    symlinkSync("/etc", join(root, "docs"));
    return Promise.resolve("once");
  });
  root = found.root;
  await found.call(1);
  assert.equal(found.got[0].result.isError, true);
  assert.deepEqual(found.reached, []);
});

test("no answer is a denial, and so is one that cannot be read", async (t) => {
  for (const ask of [
    () => new Promise(() => {}),
    () => Promise.resolve("yes"),
    () => Promise.reject(new Error("no")),
    () => true,
  ]) {
    const { call, got, reached } = await asking(t, ask, { patience: 1 });
    await call(1);
    await later();
    assert.equal(got[0].result.isError, true);
    assert.deepEqual(reached, []);
  }
});

test("a call that is taken back while a person decides is never sent", async (t) => {
  let answer;
  const { root, asks, got, reached } = await asking(
    t,
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  const params = { name: "read", arguments: { path: `${root}/docs/a` } };
  const asked = asks({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  await later();
  await asks({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  answer("once");
  await asked;
  await later();
  assert.deepEqual([got, reached], [[], []]);
});

test("nothing is sent if a decision cannot be noted, or judging fails", async (t) => {
  const { options, engine } = place(t);
  for (const [more, expected] of [
    [
      {
        onDecision: () => {
          throw new Error("disk full");
        },
      },
      /structural-audit/,
    ],
    [{ onDecision: () => Promise.reject(new Error("disk full")) }, /structural-audit/],
    // A promise of another realm, and one of a library.
    [{ onDecision: () => runInNewContext("Promise.reject(new Error('disk full'))") }, /structural-audit/],
    [{ onDecision: () => ({ then: (_, refuse) => refuse(new Error("disk full")) }) }, /structural-audit/],
    [
      {
        engine: () => {
          throw new Error("gone");
        },
      },
      /gone/,
    ],
    [
      {
        context: () => {
          throw new Error("no context");
        },
      },
      /no context/,
    ],
  ]) {
    const ends = SIDES.server({ ...options, ...more });
    await ends.ready;
    ends.asks({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "read", arguments: { path: "a" } } });
    await later();
    assert.deepEqual(ends.reached, []);
    assert.match(JSON.stringify(ends.got), expected);
  }
  const listing = SIDES.client({
    ...options,
    engine: () => {
      throw new Error("gone");
    },
  });
  await listing.ready;
  await listing.asks({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  listing.answers({ jsonrpc: "2.0", id: 1, result: { tools: [{ name: "read" }] } });
  assert.deepEqual(listing.got, [
    {
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32603, message: "the server's answer to `tools/list` cannot be filtered: gone" },
    },
  ]);
  engine.dispose();
  const ends = SIDES.client(options);
  await ends.ready;
  await ends.asks({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "read", arguments: { path: "a" } } });
  await later();
  assert.deepEqual(ends.reached, []);
  assert.equal(ends.got.length, 1);
});

test("arguments are data", async (t) => {
  const { options } = place(t);
  const ends = SIDES.client(options);
  await ends.ready;
  const toJSON = () => ({ path: "/etc/passwd" });
  let reads = 0;
  const shifty = {
    get path() {
      reads += 1;
      return reads > 1 ? "/etc/passwd" : "a";
    },
  };
  for (const [id, params] of [
    [1, { name: "read", arguments: { path: "a", toJSON } }],
    [2, { name: "read", arguments: { path: "a" }, toJSON }],
    [3, { name: "read", arguments: shifty }],
    [31, { name: "read", arguments: { path: Object.assign(["a"], { toJSON }) } }],
    [32, { name: "read", arguments: { path: "a" }, _meta: { deep: [Object.assign([], { toJSON })] } }],
  ]) {
    await ends.asks({ jsonrpc: "2.0", id, method: "tools/call", params });
  }
  await later();
  assert.deepEqual(ends.reached, []);
  assert.deepEqual(
    ends.got.map(({ id, error }) => [id, error.code]),
    [1, 2, 3, 31, 32].map((id) => [id, -32602]),
  );
  // Each level holds the next one twice, so that nobody comes to the end of it.
  const twice = [];
  twice.push(twice, twice);
  await ends.asks({
    jsonrpc: "2.0",
    id: 4,
    method: "tools/call",
    params: { name: "read", arguments: { path: twice } },
  });
  await later();
  assert.match(JSON.stringify(ends.got.at(-1)), /levels of arrays and objects/);
});

test("options that cannot be meant are refused", (t) => {
  const { options } = place(t);
  for (const [given, expected] of [
    [undefined, /not an object/],
    [{ ...options, onDecison: () => undefined }, /found the option `onDecison`, expected one of engine, /],
    [{ ...options, serverName: undefined }, /`serverName` is not a string/],
    [{ ...options, serverName: "\ud800" }, /`serverName` is not a string/],
    [{ ...options, engine: undefined }, /`engine` is neither/],
    [{ ...options, engine: {} }, /`engine` is neither/],
    [{ ...options, ask: true }, /`ask` is not a function/],
    [{ ...options, ask: null }, /`ask` is not a function/],
    [{ ...options, onDecision: {} }, /`onDecision` is not a function/],
    [{ ...options, patience: "1" }, /`patience` is not a number/],
    [{ ...options, patience: Number.NaN }, /`patience` is not a number/],
    [{ ...options, patience: -1 }, /`patience` is not a number/],
    [{ ...options, context: "{}" }, /`context` is neither/],
    [{ ...options, context: null }, /`context` is neither/],
    [{ ...options, containerWorkspaceDir: 5 }, /`containerWorkspaceDir` is not a string/],
  ]) {
    for (const gated of [gateClient, gateServer]) {
      assert.throws(() => gated(bareEnd(), given), { code: "invalid-argument", message: expected });
    }
  }
  for (const end of [undefined, null, 5, {}, { connect: true }, { server: {} }]) {
    assert.throws(() => gateClient(end, options), { code: "invalid-argument", message: /no function `connect`/ });
  }
  for (const [tools, given] of [
    [undefined, options],
    [[null], options],
    [[{}], options],
    [[{ name: 5 }], options],
    [[], undefined],
    [[], { engine: options.engine }],
    [[], { serverName: "files" }],
  ]) {
    assert.throws(() => filterTools(tools, given), { code: "invalid-argument" });
  }
});

/** Does something while all objects seem to have a member. */
async function polluted(name, value, act) {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: false, writable: true });
  try {
    await act();
  } finally {
    delete Object.prototype[name];
  }
}

test("nothing of options or messages comes from Object.prototype", async (t) => {
  for (const [name, value] of [
    ["ask", () => Promise.resolve("once")],
    ["onDecision", () => assert.fail("heard")],
    ["lock", { format: "callgate-lock/1", servers: {} }],
    ["containerWorkspaceDir", "/etc"],
    ["method", "ping"],
    ["params", { name: "stop" }],
    ["name", "stop"],
    ["id", 9],
    ["error", { code: 1, message: "" }],
    ["result", {}],
    ["requestState", "S"],
    ["_meta", META._meta],
    ["resultType", "input_required"],
  ]) {
    await polluted(name, value, async () => {
      const { root, options } = place(t);
      const ends = SIDES.client(options);
      await ends.ready;
      const reading = (id, path) => ({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "read", arguments: { path } },
      });
      await ends.asks(reading(1, `${root}/docs/a`));
      await later();
      assert.equal(ends.got.pop().result._meta["callgate/rule"], "ask", name);
      await ends.asks(reading(2, `${root}/work/a`));
      await later();
      assert.deepEqual(ends.reached.pop(), reading(2, `${root}/work/a`), name);
      await ends.answers({ jsonrpc: "2.0", id: 2, result: { content: [] } });
      assert.deepEqual(ends.got.pop(), { jsonrpc: "2.0", id: 2, result: { content: [] } }, name);
      await ends.asks({ jsonrpc: "2.0", id: 3, method: "tools/call" });
      await later();
      assert.equal(ends.got.pop().error.code, -32602, name);
      await ends.asks({ jsonrpc: "2.0", method: "notifications/initialized" });
      assert.deepEqual(ends.reached.pop(), { jsonrpc: "2.0", method: "notifications/initialized" }, name);
    });
  }
});

test("a person may have as long as there is", async (t) => {
  const answer = () => new Promise((resolve) => setTimeout(() => resolve("once"), 20));
  const { call, reached } = await asking(t, answer, { patience: Number.POSITIVE_INFINITY });
  await call(1);
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.equal(reached.length, 1);
});

const META = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };

for (const [side, sideOf] of Object.entries(SIDES)) {
  test(`a gated ${side} asks once about a call that its server continues`, async (t) => {
    let asked = 0;
    const ask = () => {
      asked += 1;
      return Promise.resolve("once");
    };
    const { root, options } = place(t, { ask });
    const ends = sideOf(options);
    await ends.ready;
    const reading = (id, path, more) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "read", arguments: { path: join(root, path) }, ...META, ...more },
    });
    const more = { resultType: "input_required", requestState: "S", inputRequests: { q: {} } };
    const continued = async (id) => {
      await ends.asks(reading(id, "docs/a"));
      await later();
      await ends.answers({ jsonrpc: "2.0", id, result: more });
      await later();
      return ends.got.at(-1).result.requestState;
    };
    const state = await continued(1);
    assert.notEqual(state, "S");
    const answers = { inputResponses: { q: {} }, requestState: state };
    await ends.asks(reading(2, "docs/a", answers));
    await later();
    assert.equal(asked, 1);
    assert.equal(ends.reached.at(-1).id, 2);
    assert.equal(ends.reached.at(-1).params.requestState, "S");
    // Once, and for nothing else.
    const other = await continued(3);
    const count = ends.reached.length;
    for (const [id, path, given] of [
      [4, "docs/a", state],
      [5, "docs/b", other],
      [6, "docs/a", other],
    ]) {
      await ends.asks(reading(id, path, { ...answers, requestState: given }));
      await later();
      assert.equal(ends.got.at(-1).id, id);
      assert.equal(ends.got.at(-1).result._meta["callgate/rule"], "structural-approval");
    }
    assert.equal(ends.reached.length, count);
    assert.equal(asked, 2);
  });
}

test("what a call was judged as is not said where a world has its files", async (t) => {
  for (const [context, expected] of [
    [undefined, /\(judged: \/path "\.\.\/docs\/a" as "[^"]*\/docs\/a"\)$/],
    [{ mode: "dev" }, /A person decides$/],
    [() => ({ mode: "dev" }), /A person decides$/],
  ]) {
    const ends = SIDES.client(place(t, { context }).options);
    await ends.ready;
    const params = { name: "read", arguments: { path: "../docs/a" } };
    await ends.asks({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    assert.match(ends.got[0].result.content[0].text, expected);
  }
});
