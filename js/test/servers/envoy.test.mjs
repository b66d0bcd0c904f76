// The decision service behind a real Envoy: what a server gets is what was judged, and while the service is away it gets nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { EXAMPLE, startEnvoy, startExample, until, whyNoEnvoy } from "./envoy.mjs";
import { CALLGATE, start } from "./guard.mjs";
import { whyMissing } from "./programs.mjs";
import { answerOf, call, HEADERS, post, startRecorder, TOOLS } from "./recorder.mjs";

const missing = whyNoEnvoy() ?? whyMissing("everything");
const skip = missing !== undefined && process.env.CI !== "true" && `Envoy is not started: ${missing}`;

const SHOWN = TOOLS.filter(({ name }) => name !== "get-env");

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
  const soon = (text) => text.replace("message_timeout: 5s", "message_timeout: 10s");
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
    const large = call("get-sum", { a: 1, b: 2, note: "x".repeat(2 * 1024 * 1024) });
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
    // Each thread stops for itself.
    const tasks = `/proc/${service.pid}/task`;
    const runs = (task) => !/\) T /.test(readFileSync(`${tasks}/${task}/stat`, "utf8"));
    while (readdirSync(tasks).some(runs)) await new Promise((resolve) => setImmediate(resolve));
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

/** Two services, of which Envoy asks those that say they are ready. */
const withTwo = (folder) => (text) => {
  const endpoint = (name) => `- endpoint: { address: { pipe: { path: ${join(folder, name)} } } }`;
  const check = {
    timeout: "5s",
    interval: "0.1s",
    no_traffic_interval: "0.1s",
    unhealthy_threshold: 1,
    healthy_threshold: 1,
    http_health_check: { path: "/readyz", codec_client_type: "HTTP2" },
  };
  const checked = `connect_timeout: 1s\n      health_checks: [${JSON.stringify(check)}]\n      common_lb_config: { healthy_panic_threshold: { value: 0 }, update_merge_window: 0s }`;
  return text
    .replace(endpoint("callgate.sock"), `${endpoint("a.sock")}\n              ${endpoint("b.sock")}`)
    .replace("connect_timeout: 1s", checked);
};

test("services that are replaced one after the other", { skip }, async () => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-envoy-")));
  const serve = (name) => {
    const flags = ["--listen", `unix:${join(folder, name)}`, "--notice", "600"];
    return start(CALLGATE, ["serve", "--bundle", EXAMPLE, ...flags], { cwd: folder }, /listening on/);
  };
  const services = { "a.sock": await serve("a.sock"), "b.sock": await serve("b.sock") };
  const recorder = await startRecorder();
  const envoy = await startEnvoy(folder, recorder.port, withTwo(folder));
  const isAsked = async (name) => {
    const { cluster_statuses } = await envoy.ask("clusters");
    const { host_statuses } = cluster_statuses.find(({ name }) => name === "callgate");
    const { health_status } = host_statuses.find(({ address }) => address.pipe.path.endsWith(name));
    return health_status.failed_active_health_check !== true;
  };
  const until = async (expected, name) => {
    while ((await isAsked(name)) !== expected) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  try {
    const allowed = call("echo", { message: "https://handbook.example/start" });
    const denied = call("get-env", {});
    const results = { allowed: [], denied: [] };
    let goesOn = true;
    const asking = ["allowed", "denied"].map(async (kind) => {
      while (goesOn) results[kind].push(await post(envoy.url, kind === "allowed" ? allowed : denied));
    });
    // Envoy's threads hear of it later than its own pages.
    const someMore = async () => {
      const counts = Object.values(results).map(({ length }) => length);
      const isBehind = () => Object.values(results).some(({ length }, at) => length < counts[at] + 10);
      // One that asks ends only where it fails.
      while (isBehind()) await Promise.race([new Promise((resolve) => setTimeout(resolve, 20)), ...asking]);
    };
    for (const name of Object.keys(services)) {
      services[name].signal("SIGTERM");
      await until(false, name);
      await someMore();
      // The second one ends the notice.
      await services[name].close();
      services[name] = await serve(name);
      await until(true, name);
      await someMore();
    }
    goesOn = false;
    await Promise.all(asking);
    // Not one call is lost, and none arrives that was denied.
    for (const answer of results.allowed) assert.equal(answerOf(answer).result.isError, undefined);
    for (const answer of results.denied) assert.equal(answerOf(answer).result.isError, true);
    const got = recorder.take();
    assert.equal(got.length, results.allowed.length);
    assert.ok(got.every((body) => body === JSON.stringify(allowed)));
  } finally {
    await envoy.close();
    for (const service of Object.values(services)) await service.close();
    await recorder.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** The filter that only says yes or no, in place of the one that rewrites. */
function withAuthorization(text) {
  const begin = text.indexOf("                  - name: callgate\n");
  const end = text.indexOf("                  - name: envoy.filters.http.router");
  const filter = {
    name: "callgate",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
      grpc_service: {
        envoy_grpc: { cluster_name: "callgate" },
        timeout: "2s",
        initial_metadata: [{ key: "callgate-server", value: "everything" }],
      },
      transport_api_version: "V3",
      failure_mode_allow: false,
      with_request_body: { max_request_bytes: 20971520, allow_partial_message: false, pack_as_bytes: true },
    },
  };
  return `${text.slice(0, begin)}                  - ${JSON.stringify(filter)}\n${text.slice(end)}`;
}

test("Envoy that cannot rewrite", { skip }, async () => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-envoy-")));
  const flags = ["serve", "--bundle", EXAMPLE, "--listen", `unix:${join(folder, "callgate.sock")}`];
  const service = await start(CALLGATE, flags, { cwd: folder }, /listening on/);
  const recorder = await startRecorder();
  const envoy = await startEnvoy(folder, recorder.port, withAuthorization);
  try {
    const { url } = envoy;
    const allowed = call("echo", { message: "https://handbook.example/start" });
    answerOf(await post(url, allowed));
    assert.deepEqual(recorder.take(), [JSON.stringify(allowed)]);
    const spelled = await post(url, call("echo", { message: "HTTPS://Handbook.example:443/drafts/../start" }));
    const { result } = answerOf(spelled);
    assert.equal(result._meta["callgate/rule"], "structural-inexact-call");
    assert.match(result.content[0].text, /https:\/\/handbook\.example\/start/);
    assert.match(spelled.headers.get("content-type"), /^application\/json/);
    const text = JSON.stringify(allowed);
    const bodies = [
      [JSON.stringify(call("get-env", {})), {}],
      [`[${text}]`, {}],
      ["", {}],
      [gzipSync(text), { "content-encoding": "gzip" }],
      [" ".repeat(21 * 1024 * 1024) + text, {}],
    ];
    for (const [body, headers] of bodies) {
      const { status, text } = await post(url, body, headers);
      assert.ok(status >= 400 || JSON.parse(text).result.isError, `${status} ${text}`);
    }
    assert.deepEqual(recorder.take(), []);
    assert.equal((await fetch(url, { headers: { accept: "text/event-stream" } })).status, 200);
    answerOf(await post(url, { jsonrpc: "2.0", id: 1, method: "ping" }));
    assert.equal(recorder.take().length, 2);
    service.signal("SIGKILL");
    assert.ok((await post(url, allowed)).status >= 400);
    assert.deepEqual(recorder.take(), []);
  } finally {
    await envoy.close();
    await service.close();
    await recorder.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the example", { skip }, async () => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-example-")));
  const example = await startExample(folder);
  const isTaken = (place) =>
    new Promise((resolve) => {
      const socket = connect(place).on("error", () => resolve(false));
      socket.on("connect", () => resolve(socket.destroy().destroyed));
    });
  try {
    const said = execFileSync("node", [join(EXAMPLE, "ask.mjs"), example.url], { encoding: "utf8", timeout: 60_000 });
    // As the page shows it, where `…` stands for more.
    const [, shown] = readFileSync(join(EXAMPLE, "../README.md"), "utf8").match(/```text\n(tools: .*?)```/s);
    const lines = said.split("\n").filter((line) => line !== "");
    for (const [at, line] of shown.trimEnd().split("\n").entries()) {
      assert.ok(
        line.endsWith("…") ? lines[at].startsWith(line.slice(0, -1)) : lines[at] === line,
        `${lines[at]}\n${line}`,
      );
    }
    const decisions = readFileSync(join(folder, "example/decisions.jsonl"), "utf8").trim().split("\n");
    assert.ok(decisions.length >= 5, decisions.join("\n"));
    // All three end with the script.
    await example.close();
    for (const place of [example.port, new URL(example.url).port, join(folder, "example/callgate.sock")]) {
      await until(async () => !(await isTaken(place)));
    }
  } finally {
    example.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
