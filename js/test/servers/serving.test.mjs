// The decision service as programs reach it: over TLS and HTTP/2, with tokens, until it ends.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { request } from "node:https";
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
  const all = ["serve", "--bundle", BUNDLE, "--listen", "0", ...flags];
  const service = await start(CALLGATE, all, { cwd: folder }, /listening on 127\.0\.0\.1:(\d+)/);
  t.after(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { ...service, folder, origin: `127.0.0.1:${service.found[1]}` };
}

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
