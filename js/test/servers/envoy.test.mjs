// The decision service behind a real Envoy: what a server gets is what was judged, and while the service is away it gets nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { EXAMPLE, startEnvoy, startListening, whyNoEnvoy } from "./envoy.mjs";
import { CALLGATE, start } from "./guard.mjs";
import { whyMissing } from "./programs.mjs";

const missing = whyNoEnvoy() ?? whyMissing("everything");
const skip = missing !== undefined && process.env.CI !== "true" && `Envoy is not started: ${missing}`;

const TOOLS = ["echo", "get-sum", "get-env", "trigger-long-running-operation"].map((name) => ({ name }));
const SHOWN = TOOLS.filter(({ name }) => name !== "get-env");

/** A server that keeps what it gets. It answers with JSON, and a list of tools with a stream of events. */
async function startRecorder() {
  const got = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    got.push(body);
    const { id, method } = body === "" ? {} : JSON.parse(body);
    const answer = (result) => JSON.stringify({ jsonrpc: "2.0", id, result });
    if (method === "tools/list" || request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(
        ': hello\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n',
      );
      const listed = JSON.stringify({ jsonrpc: "2.0", id: id ?? 9, result: { tools: TOOLS } });
      response.end(`id: 2\nevent: message\ndata: ${listed}\n\n`);
    } else {
      response.writeHead(id === undefined ? 202 : 200, { "content-type": "application/json" });
      response.end(id === undefined ? "" : answer({ content: [{ type: "text", text: body }] }));
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const take = () => got.splice(0);
  return { port: server.address().port, take, close: () => new Promise((closed) => server.close(closed)) };
}

const call = (name, args, id = 7) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Sends a message, or bytes. */
async function post(url, message, headers = {}) {
  const body = typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message);
  const response = await fetch(url, { method: "POST", headers: { ...HEADERS, ...headers }, body });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}

const answerOf = ({ status, text }) => {
  assert.equal(status, 200, text);
  return JSON.parse(text);
};

test("Envoy", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-envoy-")));
  const bundle = join(folder, "callgate.json");
  copyFileSync(join(EXAMPLE, "callgate.json"), bundle);
  const serve = (...others) => {
    const socket = join(folder, "callgate.sock");
    const flags = ["serve", "--bundle", bundle, "--listen", `unix:${socket}`, "--listen", "0", ...others];
    return start(CALLGATE, flags, { cwd: folder }, /listening on (127\.0\.0\.1:\d+)/);
  };
  let service = await serve();
  const recorder = await startRecorder();
  const soon = (text) => text.replace("message_timeout: 5s", "message_timeout: 2s");
  const envoy = await startEnvoy(folder, recorder.port, soon);
  after(async () => {
    await envoy.close();
    await service.close();
    await recorder.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { url } = envoy;
  const allowed = call("echo", { message: "https://handbook.example/start" });

  await t.test("an allowed call arrives as it was judged", async () => {
    answerOf(await post(url, allowed));
    assert.deepEqual(recorder.take(), [JSON.stringify(allowed)]);
    const spelled = call("echo", { message: "HTTPS://Handbook.example:443/drafts/../start" });
    const { result } = answerOf(await post(url, spelled));
    assert.deepEqual(recorder.take(), [JSON.stringify(allowed)]);
    assert.deepEqual(JSON.parse(result.content[0].text), allowed);
  });

  await t.test("any other call arrives nowhere, and is answered with the reason", async () => {
    const refused = [
      [call("echo", { message: "https://evil.example/" }), "deny"],
      [call("get-env", {}), "deny"],
      [call("trigger-long-running-operation", { duration: 1, steps: 1 }), "escalate"],
    ];
    for (const [message, decision] of refused) {
      const { id, result } = answerOf(await post(url, message));
      assert.equal(id, 7);
      assert.equal(result.isError, true);
      assert.equal(result._meta["callgate/decision"], decision);
    }
    assert.deepEqual(recorder.take(), []);
  });

  await t.test("what cannot be judged arrives nowhere", async () => {
    const text = JSON.stringify(allowed);
    const bodies = [
      [`[${text}]`, {}],
      [text.replace('"params"', '"method":"ping","params"'), {}],
      [text.replace("tools/call", "tools\\u002fCall"), {}],
      ["", {}],
      [gzipSync(text), { "content-encoding": "gzip" }],
      [text, { "content-type": "text/plain" }],
      [" ".repeat(23 * 1024 * 1024) + text, {}],
    ];
    for (const [body, headers] of bodies) {
      const { status, text } = await post(url, body, headers);
      assert.ok(status >= 400 || JSON.parse(text).error !== undefined, `${status} ${text}`);
    }
    for (const method of ["PUT", "PATCH"]) {
      const { status } = await fetch(url, { method, headers: HEADERS, body: text });
      assert.equal(status, 405);
    }
    assert.deepEqual(recorder.take(), []);
  });

  await t.test("other messages pass", async () => {
    const { status } = await post(url, { jsonrpc: "2.0", method: "notifications/initialized" });
    assert.equal(status, 202);
    answerOf(await post(url, { jsonrpc: "2.0", id: 1, method: "ping" }));
    assert.equal((await fetch(url, { method: "DELETE" })).status, 202);
    assert.equal(recorder.take().length, 3);
  });

  await t.test("tools whose every call is denied are not listed", async () => {
    const { text } = await post(url, { jsonrpc: "2.0", id: 2, method: "tools/list" });
    const listed = text.split("\n").filter((line) => line.startsWith('data: {"jsonrpc":"2.0","id"'));
    assert.deepEqual(JSON.parse(listed[0].slice(6)).result.tools, SHOWN);
    assert.match(text, /notifications\/message/);
    // On a stream that goes on with an earlier one too.
    const again = await (await fetch(url, { headers: { accept: "text/event-stream" } })).text();
    assert.ok(again.includes("echo") && !again.includes("get-env"), again);
    recorder.take();
  });

  await t.test("a large call passes whole", async () => {
    const large = call("get-sum", { a: 1, b: 2, note: "x".repeat(8 * 1024 * 1024) });
    answerOf(await post(url, large));
    assert.equal(recorder.take()[0].length, JSON.stringify(large).length);
  });

  await t.test("figures", async () => {
    const address = service.found[1];
    assert.equal((await fetch(`http://${address}/readyz`)).status, 200);
    const page = await (await fetch(`http://${address}/metrics`)).text();
    assert.match(page, /callgate_decisions_total\{server="everything",decision="escalate"\} 1\n/);
  });

  await t.test("while the service hangs nothing arrives", async () => {
    service.signal("SIGSTOP");
    const { status } = await post(url, allowed);
    service.signal("SIGCONT");
    assert.ok(status >= 500, String(status));
    assert.deepEqual(recorder.take(), []);
    answerOf(await post(url, allowed));
    assert.equal(recorder.take().length, 1);
  });

  await t.test("while the service is gone nothing arrives", async () => {
    service.signal("SIGKILL");
    const denied = call("get-env", {});
    for (const message of [allowed, denied, { jsonrpc: "2.0", id: 1, method: "ping" }]) {
      const { status } = await post(url, message);
      assert.ok(status >= 500, String(status));
    }
    assert.deepEqual(recorder.take(), []);
    service = await serve();
    answerOf(await post(url, allowed));
    assert.equal(recorder.take().length, 1);
  });

  await t.test("a service that ends answers what it has", async () => {
    const results = [];
    let goesOn = true;
    const asking = Array.from({ length: 4 }, async () => {
      while (goesOn) results.push(await post(url, allowed));
    });
    while (results.length < 20) await new Promise((resolve) => setImmediate(resolve));
    await service.close();
    service = await serve();
    const count = results.length;
    while (results.length < count + 20) await new Promise((resolve) => setImmediate(resolve));
    goesOn = false;
    await Promise.all(asking);
    const answered = results.filter(({ status }) => status === 200);
    // Envoy has nobody to ask between the two; whatever it let through was judged.
    assert.equal(recorder.take().length, answered.length);
    assert.ok(results.every(({ status }) => status === 200 || status >= 500));
  });
});

test("the example", { skip }, async () => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-example-")));
  const server = await startListening("everything");
  const flags = ["serve", "--bundle", EXAMPLE, "--listen", `unix:${join(folder, "callgate.sock")}`];
  const service = await start(CALLGATE, flags, { cwd: folder }, /listening on/);
  const envoy = await startEnvoy(folder, server.port);
  try {
    const said = execFileSync("node", [join(EXAMPLE, "ask.mjs"), envoy.url], { encoding: "utf8", timeout: 60_000 });
    assert.match(said, /^tools: echo, get-sum, trigger-long-running-operation$/m);
    assert.match(said, /^ {2}The sum of 2 and 3 is 5/m);
    assert.match(said, /^ {2}Echo: https:\/\/handbook\.example\/start$/m);
    assert.match(said, /^ {2}Callgate did not let this call through \(deny by rule `default-deny`\)/m);
    assert.match(said, /^ {2}Callgate did not let this call through \(escalate by rule `long work`\)/m);
  } finally {
    await envoy.close();
    await service.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
