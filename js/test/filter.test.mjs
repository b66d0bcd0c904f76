// The filter for proxies, as a proxy runs it: the cases of every host, and its configuration.
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { FILTER, startFilter } from "./tools/filter.mjs";

const CASES = new URL("../../tests/configuration/", import.meta.url);
const EXAMPLE = new URL("../../host-shim/serve/examples/envoy/callgate.json", import.meta.url);
const BUNDLE = JSON.parse(readFileSync(EXAMPLE, "utf8"));
const VECTOR = new URL("../../host-shim/bundle/src/envelope/vector/", import.meta.url);

const skip = !existsSync(FILTER) && process.env.CI !== "true" && "`cargo pack proxy` builds the filter";

// Proxies read it from a disk. The analysis, for lists of tools, is a sixth of it.
const LIMIT = 3_500_000;

test("the module is not larger than it may be", { skip }, () => {
  const { length } = readFileSync(FILTER);
  assert.ok(length <= LIMIT, `${length} bytes, at most ${LIMIT} are allowed`);
});

/** Names that some cases have for the documents of a bundle. */
const NAMES = {
  compiledPolicy: "policy",
  toolAnnotations: "annotations",
  dynamicLists: "lists",
  allowedDirectory: "sandbox",
  serverDomainAllowlists: "domainAllowlists",
};

/** Members of cases that say what no proxy does. */
const OTHERS = ["approvals", "offeredFor", "containerWorkspaceDir"];

/** Every case that asks the gate about a call as a proxy can. */
function* cases() {
  for (const file of readdirSync(CASES).filter((name) => name.endsWith(".jsonl"))) {
    for (const line of readFileSync(new URL(file, CASES), "utf8").trim().split("\n")) {
      const { name, engine, cases } = JSON.parse(line);
      const bundle = Object.fromEntries(Object.entries(engine).map(([name, part]) => [NAMES[name] ?? name, part]));
      for (const { op, call, expect, context, ...others } of cases) {
        if (op !== "gate" || OTHERS.some((name) => others[name] !== undefined)) continue;
        yield { at: `${file}: ${name}: ${JSON.stringify(call)}`, bundle, call, context, expect };
      }
    }
  }
}

const messageOf = ({ toolName, arguments: args }) =>
  JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: toolName, arguments: args } });

test("a call is answered as by every host, or denied because there is no disk", { skip }, () => {
  const counts = { same: 0, withoutDisk: 0, unread: 0, unused: 0 };
  const filter = startFilter();
  let [configured, isUsed] = ["", false];
  for (const { at, bundle, call, context, expect } of cases()) {
    const text = JSON.stringify({ server: call.serverName, bundle, context });
    if (text !== configured) [configured, isUsed] = [text, filter.configure(text)];
    if (!isUsed) {
      assert.match(filter.log.at(-1)[1], /there is no disk|`server` is `own\\0`/, at);
      counts.unused++;
      continue;
    }
    const { sent, reply } = filter.exchange({ pieces: [messageOf(call)] });
    if (sent !== undefined) {
      assert.equal(expect.decision, "allow", at);
      const { params } = JSON.parse(sent.body);
      if (expect.transport !== undefined) assert.deepEqual(params.arguments, expect.transport, at);
      counts.same++;
      continue;
    }
    const { error, result } = JSON.parse(reply.text);
    if (error !== undefined) {
      // Two parsers could read it differently, which no engine is asked about.
      assert.match(error.message, /occurs twice|control character/, at);
      counts.unread++;
      continue;
    }
    const [decision, rule] = [result._meta["callgate/decision"], result._meta["callgate/rule"]];
    if (rule === "structural-host-error") {
      assert.equal(decision, "deny", at);
      counts.withoutDisk++;
      continue;
    }
    assert.equal(decision, expect.decision, at);
    if (expect.rule !== undefined) assert.equal(rule, expect.rule, at);
    counts.same++;
  }
  assert.ok(counts.same > 700 && counts.unread < 20 && counts.unused < 50, JSON.stringify(counts));
});

test("a configuration with a fault is refused, and the log says what is wrong", { skip }, () => {
  const good = { server: "everything", bundle: BUNDLE };
  const acme = JSON.parse(readFileSync(new URL("acme.json", VECTOR), "utf8"));
  const key = readFileSync(new URL("acme.pub", VECTOR), "utf8").trim();
  const rule = { ...BUNDLE.policy.rules[1], then: "perhaps" };
  const written = (more) => JSON.stringify({ ...good, ...more }, null, 2);
  for (const [text, expected] of [
    ["", /it is empty, expected a JSON object with `server` and `bundle`/],
    ["{", /line 1 column 1/],
    [Buffer.from([0xff]), /expected UTF-8/],
    ['{"server": "everything"}', /missing field `bundle`/],
    [written({ sever: 1 }), /unknown field `sever`, expected one of `server`, `bundle`.* line \d+/],
    ['{"server": "a", "server": "b", "bundle": {}}', /duplicate field `server`/],
    [written({ server: "" }), /`server` is ``, expected 1 to 256 bytes/],
    [written({ server: "a\n" }), /`server` is `a\\n`/],
    [written({ onlyTools: "yes" }), /expected a boolean/],
    [written({ context: [] }), /`context`: /],
    [
      written({ bundle: { ...BUNDLE, polcy: {} } }),
      /configuration#bundle:\d+:\d+: error\[unknown-key\] at bundle.polcy/,
    ],
    [
      written({ bundle: { ...BUNDLE, policy: { rules: [rule] } } }),
      /configuration#bundle:\d+:\d+: error.* at policy\.rules\[0\]\.then: .*perhaps/,
    ],
    [written({ bundle: { ...BUNDLE, policy: "policy.json" } }), /configuration#policy.json`: the bundle names it/],
    [written({ keys: [key] }), /`bundle` is not signed, expected a signed one/],
    [written({ name: "acme" }), /`bundle` is not signed, expected a signed one/],
    [written({ keys: [] }), /`bundle` is not signed, expected a signed one/],
    [written({ keys: null }), /null, expected a sequence/],
    [written({ context: null }), /`context`: /],
    [written({ bundle: acme, keys: [] }), /`bundle` is signed, expected the `keys`/],
    [written({ bundle: acme }), /`bundle` is signed, expected the `keys`/],
    [written({ bundle: acme, keys: ["x"] }), /`keys\[0\]` is `x`: expected one line/],
    [written({ bundle: acme, keys: [key], name: "other" }), /it is the bundle `acme`, expected `other`/],
    [written({ bundle: { ...acme, signatures: [] }, keys: [key] }), /it has no signature/],
  ]) {
    const filter = startFilter({ now: Date.parse("2029-12-31T00:00:00Z") });
    assert.equal(filter.configure(written({})), true, String(filter.log.at(-1)));
    assert.equal(filter.configure(text), false, String(text));
    const [level, said] = filter.log.at(-1);
    assert.equal(level, 4);
    assert.match(said, /^the configuration is refused: /);
    assert.match(said, expected);
    // The one before does not stay.
    const { reply } = filter.exchange({ pieces: [messageOf({ toolName: "get-sum", arguments: {} })] });
    assert.equal(reply.status, 500);
  }
});

test("positions of faults are those in the configuration", { skip }, () => {
  const filter = startFilter();
  const text = '// é\n{ "server": "a",\n  "bundle": { "annotations": {"servers": {}},\n    "polcy": {} },\n}';
  assert.equal(filter.configure(text), false);
  assert.match(filter.log.at(-1)[1], /configuration#bundle:4:5: error\[unknown-key\]/);
});

/** A bundle in its envelope, and the line of the key that signed it. */
function signed(expires) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const files = [{ name: "callgate.json", text: JSON.stringify(BUNDLE) }];
  const payload = Buffer.from(
    JSON.stringify({ format: "callgate-bundle/1", name: "acme", revision: 3, expires, files }),
  );
  const payloadType = "application/vnd.callgate.bundle.v1+json";
  const text = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]);
  const keyid = createHash("sha256").update(raw).digest("hex");
  const signatures = [{ keyid, sig: sign(null, text, privateKey).toString("base64") }];
  const bundle = { payload: payload.toString("base64"), payloadType, signatures };
  return { bundle, keys: [`callgate-public-key ed25519 ${raw.toString("base64")}`] };
}

const TOOLS = '{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"echo"},{"name":"get-env"},{"name":"get-sum"}]}}';
const SHOWN = '{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"echo"},{"name":"get-sum"}]}}';
const LIST = { pieces: ['{"jsonrpc":"2.0","id":7,"method":"tools/list"}'] };
const JSON_ANSWER = { "content-type": "application/json", "content-length": "9" };

test("a signed bundle holds until it expires", { skip }, () => {
  const clock = { now: Date.parse("2029-12-31T00:00:00Z") };
  const { bundle, keys } = signed("2030-01-01T00:00:00Z");
  const text = JSON.stringify({ server: "everything", bundle, keys, name: "acme" });
  const filter = startFilter(clock);
  assert.equal(filter.configure(text), true, String(filter.log.at(-1)));
  const sum = { pieces: [messageOf({ toolName: "get-sum", arguments: { a: 1, b: 2 } })] };
  const list = { headers: JSON_ANSWER, pieces: [TOOLS] };
  assert.ok(filter.exchange(sum).sent);
  assert.equal(filter.exchange(LIST, list).answer, SHOWN);
  clock.now = Date.parse("2030-01-01T00:00:00Z");
  const { reply } = filter.exchange(sum);
  assert.equal(JSON.parse(reply.text).result._meta["callgate/rule"], "structural-expired-bundle");
  assert.equal(filter.exchange(LIST, list).answer, '{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}');
  assert.match(filter.log.at(-1)[1], /the signed bundle has expired/);
  assert.equal(filter.configure(text), false);
  assert.match(filter.log.at(-1)[1], /the bundle `acme` expired at 2030-01-01T00:00:00Z/);
  clock.now = 0;
  const changed = {
    ...bundle,
    payload: Buffer.from(Buffer.from(bundle.payload, "base64").toString().replace("acme", "acne")),
  };
  changed.payload = changed.payload.toString("base64");
  assert.equal(filter.configure(JSON.stringify({ server: "everything", bundle: changed, keys })), false);
  assert.match(filter.log.at(-1)[1], /the signature of the key `.*` does not fit/);
});

test("messages are whole before they are read, and events pass one by one", { skip }, () => {
  const filter = startFilter();
  assert.equal(filter.configure(JSON.stringify({ server: "everything", bundle: BUNDLE, onlyTools: true })), true);
  const call = messageOf({ toolName: "echo", arguments: { message: "HTTPS://Handbook.example:443/a/../start" } });
  const { sent } = filter.exchange({ pieces: [...call], headers: { "accept-encoding": "gzip" } });
  assert.equal(sent.body, messageOf({ toolName: "echo", arguments: { message: "https://handbook.example/start" } }));
  assert.equal(sent.headers["content-length"], String(sent.body.length));
  assert.equal(sent.headers["accept-encoding"], undefined);
  assert.equal(filter.exchange(LIST, { headers: JSON_ANSWER, pieces: [...TOOLS] }).answer, SHOWN);
  const events = {
    headers: { "content-type": "text/event-stream" },
    pieces: [`id: 1\n\ndata: ${TOOLS.slice(0, 40)}`, TOOLS.slice(40), "\n", "\n"],
  };
  assert.equal(filter.exchange(LIST, events).answer, `id: 1\ndata: \n\nevent: message\ndata: ${SHOWN}\n\n`);
  const zipped = { headers: { ...JSON_ANSWER, "content-encoding": "gzip" }, pieces: [TOOLS] };
  assert.equal(filter.exchange(LIST, zipped).reply.status, 502);
  const [read] = [
    filter.exchange({ pieces: ['{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"a:b"}}'] }),
  ];
  assert.ok(JSON.parse(read.reply.text).error, read.reply.text);
});
