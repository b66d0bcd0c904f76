// What fails around the decision service, behind a real Envoy: not one call passes ungated, and none is lost that could be judged.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort } from "../tools/ports.mjs";
import { EXAMPLE, startEnvoy, until, whyNoEnvoy } from "./envoy.mjs";
import { CALLGATE, start } from "./guard.mjs";
import { answerOf, call, HEADERS, post, startRecorder } from "./recorder.mjs";
import { PASSWORD, startRedis, whyNoRedis } from "./redis.mjs";

const missing = whyNoEnvoy();
const skip = missing !== undefined && process.env.CI !== "true" && `Envoy is not started: ${missing}`;
const missingRedis = whyNoRedis();
const skipRedis = missingRedis !== undefined && process.env.CI !== "true" && `Redis is not started: ${missingRedis}`;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const ALLOWED = call("echo", { message: "https://handbook.example/start" });
const DENIED = call("get-env", {});
const DAY = 86_400_000;

/** Signs bundles of the example, each with other rules. */
function signing(folder) {
  const env = { PATH: process.env.PATH, HOME: folder };
  const callgate = (...args) => {
    const { status, stdout, stderr } = spawnSync(CALLGATE, ["bundle", ...args], { cwd: folder, env, encoding: "utf8" });
    assert.equal(status, 0, `${args.join(" ")}: ${stdout}${stderr}`);
  };
  callgate("keygen", "acme");
  const example = JSON.parse(readFileSync(join(EXAMPLE, "callgate.json"), "utf8"));
  return (revision, rules = example.policy.rules, lasts = DAY) => {
    writeFileSync(join(folder, "callgate.json"), JSON.stringify({ ...example, policy: { rules } }));
    const expires = new Date(Date.now() + lasts).toISOString();
    callgate("build", "--name", "acme", "--revision", String(revision), "--expires", expires, "--out", "acme.json");
    callgate("sign", "acme.json", "--key", "acme.key");
    return readFileSync(join(folder, "acme.json"), "utf8");
  };
}

/** A server of bundles, which has whatever is put there. */
async function startBundles() {
  let bundle = "";
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.end(bundle);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  /** Puts a text there, and waits until it was asked for and something after it. */
  const put = async (text) => {
    bundle = text;
    const before = asked;
    await until(async () => asked >= before + 2);
  };
  const close = () => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  };
  return {
    address: `http://127.0.0.1:${server.address().port}/acme.json`,
    put,
    offer: (text) => (bundle = text),
    close,
  };
}

/** Envoy before a recorder, and a service with these flags. */
async function startAll(t, folder, flags, change) {
  const env = {
    ...process.env,
    HOME: folder,
    XDG_CACHE_HOME: join(folder, "cache"),
    XDG_STATE_HOME: join(folder, "state"),
  };
  const service = await start(CALLGATE, ["serve", ...flags], { cwd: folder, env }, /listening on (\S+)/);
  const recorder = await startRecorder();
  const envoy = await startEnvoy(folder, recorder.port, change?.(service.found[1]));
  t.after(async () => {
    for (const { close } of [envoy, service, recorder]) await close();
    rmSync(folder, { recursive: true, force: true });
  });
  const ruleOf = async (message) => answerOf(await post(envoy.url, message)).result._meta?.["callgate/rule"];
  return { url: envoy.url, service, envoy, recorder, ruleOf };
}

const folderOf = (name) => realpathSync(mkdtempSync(join(tmpdir(), `callgate-${name}-`)));

const ALL = [{ name: "all", if: { tool: "*" }, then: "allow", reason: "r" }];

test("a server of bundles that is gone, serves rubbish, or an older one", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = folderOf("bundles");
  const sign = signing(folder);
  const older = sign(1, ALL);
  const bundles = await startBundles();
  let isOpen = true;
  t.after(() => isOpen && bundles.close());
  bundles.offer(sign(2));
  const flags = ["--bundle", bundles.address, "--bundle-key", "acme.pub", "--bundle-refresh", "1"];
  const { recorder, ruleOf } = await startAll(t, folder, [
    ...flags,
    "--listen",
    `unix:${join(folder, "callgate.sock")}`,
  ]);
  const holds = async () => {
    assert.equal(await ruleOf(ALLOWED), undefined);
    assert.equal(await ruleOf(DENIED), "structural-unknown-tool");
    assert.equal(await ruleOf(call("echo", { message: "https://evil.example/" })), "default-deny");
    assert.deepEqual(recorder.take(), [JSON.stringify(ALLOWED)]);
  };
  await holds();
  for (const text of ["", "<html>", older.slice(0, -9), older.replace("acme", "acne"), older]) {
    await bundles.put(text);
    await holds();
  }
  // One that is newer is taken up, whatever came before.
  bundles.offer(sign(3, []));
  await until(async () => (await ruleOf(ALLOWED)) === "default-deny");
  bundles.offer(sign(4));
  await until(async () => (await ruleOf(ALLOWED)) === undefined);
  recorder.take();
  await bundles.close();
  isOpen = false;
  for (const end = Date.now() + 3000; Date.now() < end; ) await holds();
});

test("more calls wait than Envoy lets wait by itself", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = folderOf("breakers");
  const flags = ["--bundle", EXAMPLE, "--listen", `unix:${join(folder, "callgate.sock")}`];
  const patient = () => (text) => text.replace("message_timeout: 5s", "message_timeout: 60s");
  const { url, service, envoy } = await startAll(t, folder, flags, patient);
  answerOf(await post(url, DENIED));
  service.signal("SIGSTOP");
  t.after(() => service.signal("SIGCONT"));
  const clients = [1, 2, 3].map(() => connect(url));
  t.after(() => clients.map((client) => client.destroy()));
  const body = JSON.stringify(DENIED);
  const answers = clients.flatMap((client) =>
    Array.from({ length: 500 }, async () => {
      const stream = client.request({ ":method": "POST", ":path": "/mcp", ...HEADERS });
      stream.setEncoding("utf8").end(body);
      let text = "";
      for await (const piece of stream) text += piece;
      return text;
    }),
  );
  const asked = async () => {
    const { stats } = await envoy.ask("stats");
    return stats.find(({ name }) => name === "http.mcp.downstream_rq_total")?.value;
  };
  await until(async () => (await asked()) > answers.length);
  service.signal("SIGCONT");
  for (const text of await Promise.all(answers)) assert.equal(JSON.parse(text).result.isError, true);
});

test("a clock that is past the end of the bundle", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = folderOf("clock");
  const sign = signing(folder);
  const bundles = await startBundles();
  t.after(() => bundles.close());
  bundles.offer(sign(1));
  const flags = ["--bundle", bundles.address, "--bundle-key", "acme.pub", "--bundle-refresh", "1"];
  const { recorder, ruleOf } = await startAll(t, folder, [
    ...flags,
    "--listen",
    `unix:${join(folder, "callgate.sock")}`,
  ]);
  assert.equal(await ruleOf(ALLOWED), undefined);
  // One that ends before it is taken up is not taken up, and the next one may be.
  for (let revision = 2, ends = 0; ; ) {
    if (Date.now() > ends + 10_000) {
      ends = Date.now() + 4000;
      bundles.offer(sign(revision, undefined, 4000));
      revision += 1;
    }
    const rule = await ruleOf(ALLOWED);
    if (rule === "structural-expired-bundle" && Date.now() > ends + 1000) break;
    assert.ok(rule === undefined || rule === "structural-expired-bundle", rule);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  recorder.take();
  assert.equal(await ruleOf(ALLOWED), "structural-expired-bundle");
  assert.equal(await ruleOf(DENIED), "structural-unknown-tool");
  assert.deepEqual(recorder.take(), []);
  bundles.offer(sign(1000));
  await until(async () => (await ruleOf(ALLOWED)) === undefined);
});

test("a certificate that has expired", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = folderOf("certificate");
  const [certificate, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  const put = (name) => {
    copyFileSync(path(`tls/${name}.key`), key);
    copyFileSync(path(`tls/${name}.crt`), certificate);
  };
  put("expired");
  const trusted = ["expired", "service"].map((name) => readFileSync(path(`tls/${name}.crt`), "utf8")).join("");
  const tls = {
    name: "envoy.transport_sockets.tls",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      sni: "localhost",
      common_tls_context: { validation_context: { trusted_ca: { inline_string: trusted } } },
    },
  };
  const overTls = (address) => (text) =>
    text
      .replace(/pipe: \{ path: .*?\}/, `socket_address: { address: 127.0.0.1, port_value: ${address.split(":")[1]} }`)
      .replace("connect_timeout: 1s", `connect_timeout: 1s\n      transport_socket: ${JSON.stringify(tls)}`);
  const flags = ["--bundle", EXAMPLE, "--listen", "0", "--tls-cert", certificate, "--tls-key", key];
  const { url, recorder } = await startAll(t, folder, flags, overTls);
  for (const message of [ALLOWED, DENIED, { jsonrpc: "2.0", id: 1, method: "ping" }]) {
    const { status } = await post(url, message);
    assert.ok(status >= 500, String(status));
  }
  assert.deepEqual(recorder.take(), []);
  // The new one is shown without a restart.
  put("service");
  await until(async () => (await post(url, ALLOWED)).status === 200);
  assert.deepEqual(recorder.take(), [JSON.stringify(ALLOWED)]);
});

test("a server of Redis that is gone", { skip: skip || skipRedis }, async (t) => {
  assert.deepEqual([missing, missingRedis], [undefined, undefined]);
  const folder = folderOf("redis");
  const example = JSON.parse(readFileSync(join(EXAMPLE, "callgate.json"), "utf8"));
  const counters = [{ name: "echoes", if: { tool: "echo" }, seconds: 3600 }];
  const enough = {
    name: "enough",
    if: { tool: "echo", counts: { echoes: { atLeast: 3 } } },
    then: "deny",
    reason: "r",
  };
  const policy = { counters, rules: [enough, ...example.policy.rules] };
  writeFileSync(join(folder, "callgate.json"), JSON.stringify({ ...example, policy }));
  const port = await freePort();
  let redis = await startRedis(port, folder);
  t.after(() => redis.close());
  const flags = ["--bundle", "callgate.json", "--counts", `redis://:${PASSWORD}@127.0.0.1:${port}/0`];
  const listening = ["--listen", `unix:${join(folder, "callgate.sock")}`];
  const { recorder, ruleOf } = await startAll(t, folder, [...flags, ...listening]);
  const sum = call("get-sum", { a: 1, b: 2 });
  assert.equal(await ruleOf(ALLOWED), undefined);
  recorder.take();
  await redis.close();
  for (const forgets of [false, true]) {
    if (forgets) redis = await startRedis(port, folder);
    assert.equal(await ruleOf(ALLOWED), "structural-unknown-count");
    assert.equal(await ruleOf(DENIED), "structural-unknown-tool");
    // Nothing asks how many of them there were.
    assert.equal(await ruleOf(sum), undefined);
    assert.deepEqual(recorder.take(), [JSON.stringify(sum)]);
  }
});
