// callgate/mcp: lists of tools, and locks that pin them.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { filterTools, gateClient } from "../dist/mcp.js";
import { bareEnd, later, place, read, SIDES } from "./mcp.mjs";

test("a list of tools is filtered", (t) => {
  const { options } = place(t);
  const tools = [{ name: "read", description: "Reads" }, { name: "gone" }, { name: "stop" }];
  assert.deepEqual(filterTools(tools, options), [tools[0], tools[2]]);
  assert.deepEqual(filterTools(tools, { ...options, serverName: "other" }), []);
  const lock = read("callgate.lock");
  assert.deepEqual(filterTools(tools, { ...options, lock }), []);
  const [pinned] = Object.values(JSON.parse(lock).servers.files);
  assert.deepEqual(filterTools([pinned.tool], { ...options, lock: JSON.parse(lock) }), [pinned.tool]);
  for (const more of [{ _meta: {} }, { later: 1 }, { icons: [] }, { execution: { taskSupport: "required" } }]) {
    assert.deepEqual(filterTools([{ ...pinned.tool, ...more }], { ...options, lock }), []);
  }
  for (const wrong of [
    "",
    "{}",
    null,
    { format: "callgate-lock/2", servers: {} },
    { format: "callgate-lock/1", servers: { files: [] } },
  ]) {
    assert.throws(() => filterTools(tools, { ...options, lock: wrong }), { code: "invalid-document" });
    assert.throws(() => gateClient(bareEnd(), { ...options, lock: wrong }), { code: "invalid-document" });
  }
});

test("a tool that its server says has changed is listed again before it is called", async (t) => {
  const { root, options } = place(t, { lock: read("callgate.lock") });
  const [pinned] = Object.values(JSON.parse(read("callgate.lock")).servers.files);
  const ends = SIDES.client(options);
  await ends.ready;
  const reading = (id) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "read", arguments: { path: join(root, "work/a") } },
  });
  const list = async (result) => {
    await later();
    const { id, method } = ends.reached.at(-1);
    assert.equal(method, "tools/list");
    await ends.answers({ jsonrpc: "2.0", id, result });
    await later();
  };
  const first = ends.asks(reading(1));
  await list({ tools: [], nextCursor: "more" });
  assert.equal(ends.reached.at(-1).params.cursor, "more");
  await list({ tools: [pinned.tool] });
  await first;
  assert.deepEqual(ends.reached.at(-1), reading(1));
  await ends.asks(reading(2));
  assert.deepEqual(ends.reached.at(-1), reading(2));
  await ends.answers({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  const third = ends.asks(reading(3));
  await list({ tools: [{ ...pinned.tool, description: "Writes" }] });
  await third;
  assert.equal(ends.got.at(-1).result._meta["callgate/rule"], "structural-unpinned-tool");
  assert.equal(ends.got.length, 2);
});

test("an answer from before a change says nothing of the tools", async (t) => {
  const { root, options } = place(t, { lock: read("callgate.lock") });
  const [pinned] = Object.values(JSON.parse(read("callgate.lock")).servers.files);
  const changed = { ...pinned.tool, description: "Writes" };
  const ends = SIDES.client(options);
  await ends.ready;
  const asksForTools = (id) => ends.asks({ jsonrpc: "2.0", id, method: "tools/list" });
  await asksForTools(7);
  await asksForTools(8);
  await asksForTools(9);
  await ends.answers({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await ends.answers({ jsonrpc: "2.0", id: 7, result: { tools: [pinned.tool] } });
  const params = { name: "read", arguments: { path: join(root, "work/a") } };
  const call = (id) => ends.asks({ jsonrpc: "2.0", id, method: "tools/call", params });
  const first = call(1);
  await later();
  const own = ends.reached.at(-1);
  assert.equal(own.method, "tools/list");
  await ends.answers({ jsonrpc: "2.0", id: own.id, result: { tools: [changed] } });
  await first;
  assert.equal(ends.got.pop().result._meta["callgate/rule"], "structural-unpinned-tool");
  await ends.answers({ jsonrpc: "2.0", id: 8, result: { tools: [pinned.tool] } });
  await call(2);
  assert.equal(ends.got.pop().result._meta["callgate/rule"], "structural-unpinned-tool");
  // Nor does one show what was not accepted.
  await ends.answers({ jsonrpc: "2.0", id: 9, result: { tools: [changed] } });
  assert.deepEqual(ends.got.pop().result.tools, []);
});

test("an approval is of the tool as it was accepted", async (t) => {
  const [pinned] = Object.values(JSON.parse(read("callgate.lock")).servers.files);
  for (const [tool, passes] of [
    [pinned.tool, true],
    [{ ...pinned.tool, description: "Writes" }, false],
  ]) {
    let answer;
    const ask = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const { root, options } = place(t, { lock: read("callgate.lock"), ask });
    const ends = SIDES.client(options);
    await ends.ready;
    const list = async (tools) => {
      await later();
      const { id, method } = ends.reached.at(-1);
      assert.equal(method, "tools/list");
      await ends.answers({ jsonrpc: "2.0", id, result: { tools } });
      await later();
    };
    const params = { name: "read", arguments: { path: join(root, "docs/a") } };
    const call = ends.asks({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    await list([pinned.tool]);
    // The tools change while the person decides.
    await ends.answers({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    answer("once");
    await list([tool]);
    await call;
    assert.equal(ends.reached.at(-1).method === "tools/call", passes);
    assert.equal(ends.got.at(-1).result?._meta?.["callgate/rule"] === "structural-unpinned-tool", !passes);
  }
});

test("a tool that cannot be compared is neither shown nor called", async (t) => {
  const [pinned] = Object.values(JSON.parse(read("callgate.lock")).servers.files);
  const parts = ['"\\ud800"', "1e400", `${"[".repeat(200)}${"]".repeat(200)}`, '{"\\udc00":1}'];
  for (const part of parts) {
    for (const name of ["inputSchema", "later"]) {
      const { root, options } = place(t, { lock: read("callgate.lock") });
      const tool = JSON.parse(`${JSON.stringify(pinned.tool).slice(0, -1)},"${name}":${part}}`);
      assert.deepEqual(filterTools([tool], options), [], part);
      const ends = SIDES.client(options);
      await ends.ready;
      await ends.asks({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      await ends.answers({ jsonrpc: "2.0", id: 1, result: { tools: [tool] } });
      assert.deepEqual(ends.got.pop().result.tools, [], part);
      const params = { name: "read", arguments: { path: join(root, "work/a") } };
      await ends.asks({ jsonrpc: "2.0", id: 2, method: "tools/call", params });
      await later();
      const { result } = ends.got.pop();
      assert.equal(result._meta["callgate/rule"], "structural-unpinned-tool");
      assert.match(result.content[0].text, /may read the tool differently/);
      assert.equal(ends.reached.length, 1);
    }
  }
  // A number that JSON does not have is not the null that was accepted.
  const { options } = place(t);
  const accepted = { inputSchema: { maximum: null }, name: "read" };
  const digest = `sha256:${createHash("sha256").update(JSON.stringify(accepted)).digest("hex")}`;
  const lock = { format: "callgate-lock/1", servers: { files: { read: { digest, tool: accepted } } } };
  assert.deepEqual(filterTools([accepted], { ...options, lock }), [accepted]);
  const endless = { name: "read", inputSchema: { maximum: Number.POSITIVE_INFINITY } };
  assert.deepEqual(filterTools([endless], { ...options, lock }), []);
});

test("names of tools that end early for some readers are not shown", (t) => {
  const { options } = place(t);
  const named = ["read", "read\0x", "stop\n", "\u0085read", "\u007f"].map((name) => ({ name }));
  assert.deepEqual(filterTools(named, options), [{ name: "read" }]);
});

test("a lock whose digest is not that of its tool is refused", (t) => {
  const { options } = place(t);
  const text = read("callgate.lock");
  const bogus = text.replace(/sha256:[0-9a-f]{64}/, `sha256:${"0".repeat(64)}`);
  for (const lock of [bogus, JSON.parse(bogus), text.replace('"Reads"', '"Reads, and more"')]) {
    assert.throws(() => gateClient(bareEnd(), { ...options, lock }), { code: "invalid-document" });
  }
  gateClient(bareEnd(), { ...options, lock: text });
  gateClient(bareEnd(), { ...options, lock: JSON.parse(text) });
  // Digests of the command: numbers keep their spelling, and names are in the order of their code points.
  const tool = {
    description: "é\u0001\u2028",
    inputSchema: { maximum: "MAX", "\ufb01": 1, "\u{1f600}": -0.5 },
    name: "n",
  };
  const written = JSON.stringify(tool).replace('"MAX"', "1.0");
  const digest = createHash("sha256").update(written).digest("hex");
  const exact = `{"format":"callgate-lock/1","servers":{"files":{"n":{"digest":"sha256:${digest}","tool":${written}}}}}`;
  gateClient(bareEnd(), { ...options, lock: exact });
});
