// The decision service as programs reach it: over TLS and HTTP/2, with tokens, until it ends.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request as ask } from "node:http";
import { connect } from "node:http2";
import { request } from "node:https";
import { connect as open } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CALLGATE, start } from "./guard.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const BUNDLE = path("../../../host-shim/serve/examples/envoy");
// Of a server called localhost, for a hundred years. Its key is no secret.
const CERTIFICATE = path("tls/service.crt");
const KEY = path("tls/service.key");
const ca = readFileSync(CERTIFICATE);

const evaluation = (message, others = {}) => ({
  subject: { type: "agent", id: "a" },
  action: { name: "tools/call" },
  resource: { type: "tool", id: "echo", properties: { server: "everything" } },
  context: { arguments: { message } },
  ...others,
});

/** Starts a service on a port, and ends it with the test. */
async function serve(t, ...flags) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-serve-")));
  const all = ["serve", ...(flags.includes("--bundle") ? [] : ["--bundle", BUNDLE]), "--listen", "0", ...flags];
  const service = await start(CALLGATE, all, { cwd: folder }, /listening on 127\.0\.0\.1:(\d+)/);
  t.after(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { ...service, folder, origin: `127.0.0.1:${service.found[1]}` };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

const post = (origin, place, body, headers = {}) =>
  fetch(`http://${origin}${place}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

test("AuthZEN over HTTP", async (t) => {
  const { origin } = await serve(t, "--address", "https://pdp.example/");
  const asked = await post(origin, "/access/v1/evaluation", evaluation("https://handbook.example/start"), {
    "x-request-id": "r-1",
  });
  assert.equal(asked.headers.get("x-request-id"), "r-1");
  assert.equal((await asked.json()).decision, true);
  const denied = await (await post(origin, "/access/v1/evaluation", evaluation("https://evil.example/"))).json();
  assert.equal(denied.decision, false);
  const evaluations = ["https://handbook.example/start", "https://evil.example/"].map((message) => ({
    context: { arguments: { message } },
  }));
  const several = await post(origin, "/access/v1/evaluations", evaluation("", { evaluations }));
  const decisions = (await several.json()).evaluations.map(({ decision }) => decision);
  assert.deepEqual(decisions, [true, false]);
  for (const [body, headers] of [
    ["", {}],
    ["{", {}],
    ["{}", {}],
    [JSON.stringify(evaluation("x")), { "content-type": "text/plain" }],
  ]) {
    assert.equal((await post(origin, "/access/v1/evaluation", body, headers)).status, 400);
  }
  const known = await (await fetch(`http://${origin}/.well-known/authzen-configuration`)).json();
  assert.equal(known.policy_decision_point, "https://pdp.example");
  assert.equal(known.access_evaluation_endpoint, "https://pdp.example/access/v1/evaluation");
  assert.equal((await fetch(`http://${origin}/access/v1/evaluation`)).status, 405);
  assert.equal((await fetch(`http://${origin}/elsewhere`)).status, 404);
});

test("a person approves a call by an access request", async (t) => {
  const state = realpathSync(mkdtempSync(join(tmpdir(), "callgate-state-")));
  t.after(() => rmSync(state, { recursive: true, force: true }));
  const { origin } = await serve(t, "--ask", "600", "--state", state);
  const known = await (await fetch(`http://${origin}/.well-known/authzen-configuration`)).json();
  assert.equal(known.access_request_endpoint, `http://${origin}/access/v1/requests`);
  assert.deepEqual(known.capabilities, ["urn:openid:authzen:capability:access-request"]);
  const asked = evaluation("", {
    resource: { type: "tool", id: "trigger-long-running-operation", properties: { server: "everything" } },
    context: { arguments: { duration: 1, steps: 1 } },
  });
  const denied = await (await post(origin, "/access/v1/evaluation", asked)).json();
  assert.equal(denied.decision, false);
  const { binding_token, expires_at } = denied.context.access_request;
  const submission = { ...asked, denial: { binding_token, expires_at, reason: denied.context.reason } };
  const submitted = await post(origin, "/access/v1/requests", submission, { "idempotency-key": "k" });
  assert.equal(submitted.status, 202);
  const { task } = await submitted.json();
  assert.equal(submitted.headers.get("location"), task.status_endpoint);
  const [question] = JSON.parse(execFileSync(CALLGATE, ["approvals", "--state", state])).questions;
  assert.equal(question.id, task.id);
  // What `callgate approvals allow` writes, which wants a terminal.
  const answer = JSON.stringify({ id: task.id, answer: "once", by: "terminal" });
  writeFileSync(join(state, `${task.id}.answer.json`), answer, { mode: 0o600 });
  const { result } = await (await fetch(task.status_endpoint)).json();
  assert.equal(result.mode, "reevaluate");
  const again = { ...asked, context: { ...asked.context, approval: result.approval } };
  const decisions = [];
  for (let tries = 0; tries < 2; tries++) {
    const { decision, context } = await (await post(origin, "/access/v1/evaluation", again)).json();
    decisions.push([decision, context.reason]);
  }
  assert.deepEqual(decisions, [
    [true, undefined],
    [false, "approval_expired"],
  ]);
  const wrong = await post(origin, "/access/v1/requests", { ...submission, subject: { type: "agent", id: "b" } });
  assert.equal(wrong.headers.get("content-type"), "application/problem+json");
  assert.equal((await wrong.json()).type, "urn:openid:authzen:access-request:error:invalid_denial_binding");
  assert.equal((await fetch(`http://${origin}/access/v1/requests/arq-0`)).status, 404);
  assert.equal((await fetch(`http://${origin}/access/v1/requests`)).status, 405);
  assert.equal((await post(origin, `/access/v1/requests/${task.id}`, {})).status, 405);
  const page = await (await fetch(`http://${origin}/metrics`)).text();
  const counted = [...page.matchAll(/^callgate_access_requests_total\{outcome="(\w+)"\} (\d+)$/gm)];
  assert.deepEqual(
    counted.map(([, outcome, count]) => [outcome, Number(count)]),
    [
      ["requested", 1],
      ["refused", 1],
      ["approved", 1],
      ["unapproved", 1],
    ],
  );
  // Nobody is asked elsewhere.
  assert.equal((await fetch(`http://${(await serve(t)).origin}/access/v1/requests`)).status, 404);
});

test("ToolHive over HTTP", async (t) => {
  const { origin } = await serve(t);
  const webhook = (message) => ({
    version: "v0.1.0",
    uid: "u",
    mcp_request: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "echo", arguments: { message } },
    },
    context: { server_name: "everything" },
  });
  const spelled = webhook("HTTPS://Handbook.example/start");
  const mutated = await (await post(origin, "/toolhive/mutating", spelled)).json();
  assert.deepEqual(mutated.patch[0].value, { message: "https://handbook.example/start" });
  assert.equal((await (await post(origin, "/toolhive/validating", spelled)).json()).allowed, false);
  const decision = {
    principal: {},
    operation: "mcp:tool:call",
    resource: "mrn:mcp:everything:tool:echo",
    context: { mcp: { args: { message: "https://handbook.example/start" } } },
  };
  assert.deepEqual(await (await post(origin, "/toolhive/decision", decision)).json(), { allow: true });
});

test("a token is asked for", async (t) => {
  const tokens = join(realpathSync(mkdtempSync(join(tmpdir(), "callgate-tokens-"))), "tokens");
  writeFileSync(tokens, "old\nnew\n");
  const { origin } = await serve(t, "--token-file", tokens);
  const asked = evaluation("https://handbook.example/start");
  const status = async (headers) => (await post(origin, "/access/v1/evaluation", asked, headers)).status;
  assert.equal(await status({}), 401);
  assert.equal(await status({ authorization: "Bearer ol" }), 401);
  assert.equal(await status({ authorization: "Bearer old" }), 200);
  assert.equal(await status({ authorization: "bearer new" }), 200);
  assert.equal(await status({ authorization: "Bearer old", origin: "https://evil.example" }), 403);
  assert.equal((await fetch(`http://${origin}/metrics`)).status, 401);
  for (const place of ["/healthz", "/readyz"]) assert.equal((await fetch(`http://${origin}${place}`)).status, 200);
});

test("tokens are those that the file has now", async (t) => {
  const tokens = join(realpathSync(mkdtempSync(join(tmpdir(), "callgate-tokens-"))), "tokens");
  writeFileSync(tokens, "old\n");
  const { origin } = await serve(t, "--token-file", tokens);
  const asked = evaluation("https://handbook.example/start");
  const status = async (token) =>
    (await post(origin, "/access/v1/evaluation", asked, { authorization: `Bearer ${token}` })).status;
  assert.equal(await status("old"), 200);
  const change = async (text, token) => {
    writeFileSync(tokens, text);
    while ((await status(token)) !== 200) await pause();
  };
  await change("newer\n", "newer");
  assert.equal(await status("old"), 401);
  // What cannot be used changes nothing, and what can be does.
  writeFileSync(tokens, "\n");
  await change("newest\n", "newest");
  assert.equal(await status("newer"), 401);
  assert.equal(await status(""), 401);
});

test("a token names its subject, at which rules look", async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-tokens-")));
  const [bundle, tokens, audit] = ["callgate.json", "tokens", "audit.jsonl"].map((name) => join(folder, name));
  const annotations = { servers: { ops: { tools: [{ toolName: "deploy", args: {} }] } } };
  const rule = { name: "ann", if: { tool: "deploy", context: { subject: "ann" } }, then: "allow", reason: "on duty" };
  writeFileSync(bundle, JSON.stringify({ policy: { rules: [rule] }, annotations }));
  writeFileSync(tokens, "one ann\ntwo bob\nthree\n");
  const { origin } = await serve(t, "--token-file", tokens, "--audit", audit, "--bundle", bundle);
  const asked = {
    // What a request says of itself does not count.
    subject: { type: "user", id: "ann" },
    action: { name: "tools/call" },
    resource: { type: "tool", id: "deploy", properties: { server: "ops" } },
    context: { subject: "ann", arguments: {} },
  };
  const decisionOf = async (token) => {
    const answer = await post(origin, "/access/v1/evaluation", asked, { authorization: `Bearer ${token}` });
    return (await answer.json()).decision;
  };
  const decisions = [await decisionOf("one"), await decisionOf("two"), await decisionOf("three")];
  assert.deepEqual(decisions, [true, false, false]);
  const lines = readFileSync(audit, "utf8").trim().split("\n");
  const decided = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === "decision");
  assert.deepEqual(
    decided.map(({ context }) => context),
    [{ subject: "ann" }, { subject: "bob" }, undefined],
  );
  const page = await (await fetch(`http://${origin}/metrics`, { headers: { authorization: "Bearer one" } })).text();
  assert.match(page, /callgate_decisions_total\{server="ops",decision="deny"\} 2\n/);
});

test("without a token only this machine's names are answered", async (t) => {
  const allowed = ["--allow-host", "pdp.example", "--address", "https://outer.example/"];
  const { origin } = await serve(t, ...allowed);
  const [host, port] = origin.split(":");
  const status = (name, path, options = {}) =>
    new Promise((resolve, reject) => {
      const headers = { host: name, ...options.headers };
      const sent = ask({ host, port, path, ...options, headers }, (response) => resolve(response.resume().statusCode));
      sent.on("error", reject).end(options.body);
    });
  const body = JSON.stringify(evaluation("https://handbook.example/start"));
  const json = { method: "POST", headers: { "content-type": "application/json" }, body };
  for (const name of ["evil.example", `evil.example:${port}`, "localhost.evil.example", "user@localhost"]) {
    for (const path of ["/metrics", "/.well-known/authzen-configuration", "/elsewhere"]) {
      assert.equal(await status(name, path), 403, `${name} ${path}`);
    }
    assert.equal(await status(name, "/access/v1/evaluation", json), 403, name);
    assert.equal(await status(name, "/readyz"), 200);
  }
  for (const name of ["localhost", origin, "[::1]:1", "PDP.example", "pdp.example:443", "outer.example"]) {
    assert.equal(await status(name, "/metrics"), 200, name);
    assert.equal(await status(name, "/access/v1/evaluation", json), 200, name);
  }
});

test("with a token any name is answered", async (t) => {
  const tokens = join(realpathSync(mkdtempSync(join(tmpdir(), "callgate-tokens-"))), "tokens");
  writeFileSync(tokens, "t\n");
  const { origin } = await serve(t, "--token-file", tokens);
  const [host, port] = origin.split(":");
  const headers = { host: "gate.svc", authorization: "Bearer t" };
  const status = await new Promise((resolve, reject) => {
    ask({ host, port, path: "/metrics", headers }, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
  assert.equal(status, 200);
});

test("a head has a bound", async (t) => {
  const { origin } = await serve(t);
  const status = async (bytes) =>
    (await fetch(`http://${origin}/readyz`, { headers: { "x-long": "x".repeat(bytes) } })).status;
  assert.equal(await status(32 * 1024), 200);
  assert.equal(await status(80 * 1024), 431);
});

test("all messages together have a bound", async (t) => {
  const { origin } = await serve(t);
  const [host, port] = origin.split(":");
  const piece = Buffer.alloc(20 * 1024 * 1024, " ");
  const headers = { "content-type": "application/json", "content-length": piece.length + 1 };
  // None of them ends.
  const sent = Array.from({ length: 14 }, () =>
    ask({ host, port, path: "/access/v1/evaluation", method: "POST", headers }).on("error", () => {}),
  );
  const answers = sent.map((one) => new Promise((resolve) => one.on("response", resolve)));
  for (const one of sent) one.write(piece);
  const { statusCode } = await Promise.race(answers);
  assert.equal(statusCode, 503);
  for (const one of sent) one.destroy();
  for (;;) {
    const { status } = await post(origin, "/access/v1/evaluation", evaluation("https://handbook.example/start"));
    if (status === 200) break;
    assert.equal(status, 503);
    await pause();
  }
});

test("whoever fills one place leaves another its room", async (t) => {
  const { origin, folder } = await serve(t, "--listen", "unix:service.sock");
  const [host, port] = origin.split(":");
  const opened = Array.from({ length: 1100 }, () => open({ host, port }).on("error", () => {}));
  t.after(() => {
    for (const one of opened) one.destroy();
  });
  let answered = 0;
  for (const one of opened) {
    one.write("GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    one.on("data", () => {
      answered += 1;
    });
  }
  while (answered < 1000) await pause();
  const socketPath = join(folder, "service.sock");
  const status = await new Promise((resolve, reject) => {
    ask({ socketPath, path: "/readyz" }, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });
  assert.equal(status, 200);
});

test("the certificate is the one that the file has now", async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-tls-")));
  const [certificate, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  copyFileSync(path("tls/expired.crt"), certificate);
  copyFileSync(path("tls/expired.key"), key);
  const { origin } = await serve(t, "--tls-cert", certificate, "--tls-key", key);
  const both = [ca, readFileSync(path("tls/expired.crt"))];
  const asked = () =>
    new Promise((resolve) => {
      const options = { ca: both, agent: false };
      request(`https://${origin}/readyz`, options, (response) => resolve(response.resume().statusCode))
        .on("error", ({ code }) => resolve(code))
        .end();
    });
  assert.equal(await asked(), "CERT_HAS_EXPIRED");
  copyFileSync(KEY, key);
  copyFileSync(CERTIFICATE, certificate);
  while ((await asked()) !== 200) await pause();
});

test("TLS, with HTTP/2 and HTTP/1.1", async (t) => {
  const { origin } = await serve(t, "--tls-cert", CERTIFICATE, "--tls-key", KEY);
  const session = connect(`https://${origin}`, { ca });
  const status = await new Promise((resolve, reject) => {
    const sent = session.request({ ":path": "/readyz" });
    session.on("error", reject);
    sent.on("error", reject);
    sent.on("response", (headers) => resolve(headers[":status"])).resume();
  });
  assert.equal(session.alpnProtocol, "h2");
  assert.equal(status, 200);
  await new Promise((closed) => session.close(closed));
  const older = await new Promise((resolve, reject) => {
    const sent = request(`https://${origin}/readyz`, { ca }, (response) => resolve(response.resume().statusCode));
    sent.on("error", reject).end();
  });
  assert.equal(older, 200);
  // Not without it.
  await assert.rejects(fetch(`http://${origin}/readyz`));
});

test("clients that hang up end no call of another on the connection of their proxy", async (t) => {
  const { origin } = await serve(t);
  const [host, port] = origin.split(":");
  const [HEADERS, RESET, SETTINGS, GOAWAY] = [1, 3, 4, 7];
  const frame = (kind, flags, stream, payload = Buffer.alloc(0)) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(kind, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    return Buffer.concat([head, payload]);
  };
  // GET, http and a path, as HPACK writes them: https://www.rfc-editor.org/rfc/rfc7541#section-6.2.2.
  const path = Buffer.from("/healthz");
  const fields = Buffer.concat([Buffer.from([0x82, 0x86, 0x04, path.length]), path]);
  const asked = (stream) => frame(HEADERS, 0x5, stream, fields);
  const cancelled = (stream) => Buffer.concat([asked(stream), frame(RESET, 0, stream, Buffer.from([0, 0, 0, 8]))]);
  const streams = Array.from({ length: 500 }, (_, at) => 2 * at + 1);
  const last = streams.length * 2 + 1;
  const client = open({ host, port });
  t.after(() => client.destroy());
  client.write(
    Buffer.concat([
      Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      frame(SETTINGS, 0, 0),
      ...streams.map(cancelled),
      asked(last),
    ]),
  );
  let bytes = Buffer.alloc(0);
  for await (const chunk of client) {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const [kind, stream] = [bytes.readUInt8(3), bytes.readUInt32BE(5)];
      assert.notEqual(kind, GOAWAY, bytes.toString("latin1"));
      if (kind === HEADERS && stream === last) return;
      bytes = bytes.subarray(9 + bytes.readUIntBE(0, 3));
    }
  }
  assert.fail("the connection ended");
});

test("a service that ends says so first", async (t) => {
  const { origin, signal, folder } = await serve(t, "--notice", "60", "--listen", "unix:service.sock");
  assert.ok(statSync(join(folder, "service.sock")).isSocket());
  signal("SIGTERM");
  for (;;) {
    const { status } = await fetch(`http://${origin}/readyz`);
    if (status === 503) break;
    assert.equal(status, 200);
  }
  const asked = await post(origin, "/access/v1/evaluation", evaluation("https://handbook.example/start"));
  assert.equal((await asked.json()).decision, true);
  // The second one does not wait.
  signal("SIGTERM");
});
