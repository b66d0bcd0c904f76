// The filter within a real Envoy: a server gets what was judged, and where the filter fails it gets nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { FILTER, withTrap } from "../tools/filter.mjs";
import { EXAMPLE, FILTER_EXAMPLE, startEnvoy, startExample, whyNoEnvoy } from "./envoy.mjs";
import { CALLGATE, start } from "./guard.mjs";
import { answerOf, call, HEADERS, post, startRecorder, TOOLS } from "./recorder.mjs";

const missing = whyNoEnvoy() ?? (existsSync(FILTER) ? undefined : "`cargo pack proxy` builds the filter");
const skip = missing !== undefined && process.env.CI !== "true" && `Envoy is not started: ${missing}`;

const allowed = call("echo", { message: "https://handbook.example/start" });
const SPELLED = [
  "HTTPS://Handbook.example:443/drafts/../start",
  "https://handbook.example./start",
  "https://HANDBOOK.example/%73tart",
];

/** Envoy with the filter, whose module or configuration is changed. */
function startFiltered(folder, recorder, change = (text) => text, module = FILTER) {
  const changed = (text) => change(text.replace("../../dist/callgate.proxy.wasm", module));
  return startEnvoy(folder, recorder.port, changed, FILTER_EXAMPLE);
}

/** Both sides of Envoy may have trailers, which it leaves out otherwise. */
const withTrailers = (text) => {
  const http = "{ explicit_http_config: { http_protocol_options: { enable_trailers: true } } }";
  const type = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const options = http.replace("{", `{ "@type": type.googleapis.com/${type},`);
  return text
    .replace("stat_prefix: mcp", "stat_prefix: mcp\n                http_protocol_options: { enable_trailers: true }")
    .replace(
      /(- name: everything\n {6}type: STATIC)/,
      `$1\n      typed_extension_protocol_options: { ${type}: ${options} }`,
    );
};

/** A request whose body is sent in pieces, without its length. */
function stream(url, pieces, trailers) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: HEADERS }, async (response) => {
      let text = "";
      for await (const piece of response.setEncoding("utf8")) text += piece;
      resolve({ status: response.statusCode, text });
    }).on("error", reject);
    if (trailers) sent.setHeader("trailer", "x-end");
    for (const piece of pieces) sent.write(piece);
    if (trailers) sent.addTrailers({ "x-end": "1" });
    sent.end();
  });
}

test("the filter within Envoy", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-filter-")));
  const open = [];
  after(async () => {
    for (const one of open.reverse()) await one.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const begun = async (starting) => {
    const started = await starting;
    open.push(started);
    return started;
  };
  const recorder = await begun(startRecorder({ trailers: true }));
  const envoy = await begun(startFiltered(folder, recorder, withTrailers));
  // The service beside it, of the same documents.
  const bundle = join(folder, "callgate.json");
  copyFileSync(join(EXAMPLE, "callgate.json"), bundle);
  const flags = ["serve", "--bundle", bundle, "--listen", `unix:${join(folder, "callgate.sock")}`];
  await begun(start(CALLGATE, flags, { cwd: folder }, /listening on/));
  const behind = await begun(startRecorder());
  const processed = await begun(startEnvoy(folder, behind.port));
  const { url } = envoy;

  await t.test("an allowed call arrives as it was judged", async () => {
    answerOf(await post(url, allowed));
    assert.deepEqual(recorder.take(), [JSON.stringify(allowed)]);
    for (const message of SPELLED.slice(0, 1)) {
      const { result } = answerOf(await post(url, call("echo", { message })));
      assert.deepEqual(recorder.take(), [JSON.stringify(allowed)]);
      assert.deepEqual(JSON.parse(result.content[0].text), allowed);
    }
    // Without a length, in pieces.
    const text = JSON.stringify(call("echo", { message: SPELLED[0] }));
    answerOf(await stream(url, [text.slice(0, 30), text.slice(30, 60), text.slice(60)]));
    assert.deepEqual(recorder.take(), [JSON.stringify(allowed)]);
  });

  await t.test("any other call arrives nowhere, and is answered with the reason", async () => {
    for (const [message, decision] of [
      [call("echo", { message: "https://evil.example/" }), "deny"],
      [call("get-env", {}), "deny"],
      [call("trigger-long-running-operation", { duration: 1, steps: 1 }), "escalate"],
    ]) {
      const { id, result } = answerOf(await post(url, message));
      assert.equal(id, 7);
      assert.equal(result.isError, true);
      assert.equal(result._meta["callgate/decision"], decision);
    }
    assert.deepEqual(recorder.take(), []);
  });

  await t.test("tools whose every call is denied are not listed", async () => {
    const { text } = await post(url, { jsonrpc: "2.0", id: 2, method: "tools/list" });
    const listed = text.split("\n").filter((line) => line.startsWith('data: {"jsonrpc":"2.0","id"'));
    assert.deepEqual(
      JSON.parse(listed[0].slice(6)).result.tools,
      TOOLS.filter(({ name }) => name !== "get-env"),
    );
    recorder.take();
  });

  await t.test("an answer with trailers passes whole, and a request with some does not", async () => {
    const response = await new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST", headers: HEADERS }, resolve).on("error", reject);
      sent.end(JSON.stringify(allowed));
    });
    let text = "";
    for await (const piece of response.setEncoding("utf8")) text += piece;
    assert.deepEqual(response.trailers, { "x-end": "1" });
    assert.equal(JSON.parse(text).result.content[0].text, JSON.stringify(allowed));
    assert.equal(recorder.take().length, 1);
    const { status } = await stream(url, [JSON.stringify(allowed)], true);
    assert.equal(status, 500);
    assert.deepEqual(recorder.take(), []);
  });

  await t.test("a large call passes whole, and one that is too large does not", async () => {
    const large = call("get-sum", { a: 1, b: 2, note: "x".repeat(2 * 1024 * 1024) });
    answerOf(await post(url, large));
    assert.equal(recorder.take()[0].length, JSON.stringify(large).length);
    for (const megabytes of [20.5, 23]) {
      const { status } = await post(url, " ".repeat(megabytes * 1024 * 1024) + JSON.stringify(allowed));
      assert.equal(status, 413, `${megabytes} MiB`);
    }
    assert.deepEqual(recorder.take(), []);
  });

  await t.test("the service says the same to the byte", async () => {
    const text = JSON.stringify(allowed);
    const calls = SPELLED.flatMap((message) => [
      call("echo", { message }),
      call("echo", { message, more: [1, 2.0, { a: "\u2028" }] }),
    ]);
    const messages = [
      ...calls,
      ...["http://evil.example/", "//handbook.example/", "file:///etc/passwd", "", 7, null, ["a"]].map((message) =>
        call("echo", { message }),
      ),
      ...["get-sum", "get-env", "Echo", "", "trigger-long-running-operation"].map((name) =>
        call(name, { a: 1, b: "\u00e9" }, "x"),
      ),
      { jsonrpc: "2.0", id: 1, method: "tools/call" },
      { jsonrpc: "2.0", method: "tools/call", params: allowed.params },
      { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: "y", method: "tools/list" },
      { jsonrpc: "2.0", id: 1, result: {} },
    ].map((message) => [JSON.stringify(message), {}]);
    messages.push(
      [`[${text}]`, {}],
      [`[${text},${text}]`, {}],
      [text.replace('"params"', '"method":"ping","params"'), {}],
      [text.replace('"echo"', '"echo","name":"get-env"'), {}],
      [text.replace("tools/call", "tools\\u002fCall"), {}],
      [` ${text.replaceAll(",", ",\n")}`, {}],
      ["", {}],
      ["{", {}],
      ["null", {}],
      [Buffer.from([0xff]), {}],
      [gzipSync(text), { "content-encoding": "gzip" }],
      [text, { "content-type": "text/plain" }],
      [text, { "content-type": "application/json; charset=utf-16" }],
      [text, { "mcp-method": "ping" }],
      [text, { "mcp-param-message": "https://evil.example/" }],
    );
    for (const [body, headers] of messages) {
      const [filtered, asked] = [await post(url, body, headers), await post(processed.url, body, headers)];
      const shown = `${body}`.slice(0, 300);
      assert.equal(filtered.text, asked.text, shown);
      assert.equal(filtered.status, asked.status, shown);
      assert.equal(filtered.headers.get("content-type"), asked.headers.get("content-type"), shown);
      assert.deepEqual(recorder.take(), behind.take(), shown);
    }
    for (const method of ["GET", "DELETE", "OPTIONS", "PUT", "PATCH"]) {
      const ask = async (url) => {
        const response = await fetch(url, { method, headers: { accept: "text/event-stream" } });
        return [response.status, await response.text()];
      };
      assert.deepEqual(await ask(url), await ask(processed.url), method);
      assert.deepEqual(recorder.take(), behind.take(), method);
    }
  });
});

test("the filter where it fails", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-filter-")));
  const recorder = await startRecorder();
  after(async () => {
    await recorder.close();
    rmSync(folder, { recursive: true, force: true });
  });

  await t.test("a configuration that cannot be used is refused", async () => {
    const starting = startFiltered(folder, recorder, (text) => text.replace('"then": "escalate"', '"then": "perhaps"'));
    await assert.rejects(starting, /configuration#bundle:\d+:\d+: error.*policy\.rules\[2\]/);
  });

  for (const [policy, names] of [
    ["FAIL_CLOSED", ["proxy_on_request_body"]],
    ["FAIL_RELOAD", ["proxy_on_request_headers", "proxy_on_response_headers"]],
  ]) {
    await t.test(`nothing passes where the module traps, by ${policy}`, async () => {
      for (const name of names) {
        const module = join(folder, `${name}.wasm`);
        writeFileSync(module, withTrap(readFileSync(FILTER), name));
        const envoy = await startFiltered(folder, recorder, (text) => text.replace("FAIL_RELOAD", policy), module);
        try {
          for (let tries = 0; tries < 3; tries++) {
            const { status } = await post(envoy.url, allowed);
            assert.ok(status >= 500, `${name}: ${status}`);
          }
          const got = recorder.take();
          if (name !== "proxy_on_response_headers") assert.deepEqual(got, [], name);
        } finally {
          await envoy.close();
        }
      }
    });
  }
});

test("the filter's example", { skip }, async () => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-filter-")));
  const example = await startExample(folder, FILTER_EXAMPLE);
  try {
    const said = execFileSync("node", [join(EXAMPLE, "ask.mjs"), example.url], { encoding: "utf8", timeout: 60_000 });
    assert.match(said, /^tools: echo, get-sum, trigger-long-running-operation$/m);
    assert.match(said, /^ {2}Echo: https:\/\/handbook\.example\/start$/m);
    assert.match(said, /^ {2}Callgate did not let this call through \(deny by rule `default-deny`\)/m);
    await example.close();
  } finally {
    example.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
