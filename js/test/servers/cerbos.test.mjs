// One client of AuthZEN asks two services: what both policies say the same of is decided alike.
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { evaluationOf, startCerbos, whyNoCerbos } from "./cerbos/cerbos.mjs";
import { CALLGATE, start } from "./guard.mjs";

const missing = whyNoCerbos();
const skip = missing !== undefined && process.env.CI !== "true" && `Cerbos is not started: ${missing}`;

const START = "https://handbook.example/start";
const EVIL = "https://evil.example/";

/** What Callgate lets pass: the same of tools of several names. */
const BUNDLE = {
  policy: {
    rules: [
      {
        name: "handbook",
        if: { domains: { roles: ["fetch-url"], allowed: ["handbook.example"] } },
        then: "allow",
        reason: "it is public",
      },
    ],
  },
  annotations: {
    servers: {
      everything: {
        tools: ["echo", "a", "b", "c", "d"].map((toolName) => ({ toolName, args: { message: "fetch-url" } })),
      },
    },
  },
};

/** A client that finds the doors by the discovery document. */
async function connect(origin) {
  const response = await fetch(`${origin}/.well-known/authzen-configuration`);
  assert.match(response.headers.get("content-type"), /^application\/json/);
  const found = await response.json();
  assert.equal(found.policy_decision_point, origin);
  const ask = async (place, body) => {
    const answer = await fetch(place, {
      method: "POST",
      headers: { "content-type": "application/json", "x-request-id": "r-1" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, text, id: answer.headers.get("x-request-id") };
  };
  const asked = async (place, body) => {
    const { status, text } = await ask(place, body);
    assert.equal(status, 200, text);
    return JSON.parse(text);
  };
  return {
    one: (body) => asked(found.access_evaluation_endpoint, body),
    several: async (body) => (await asked(found.access_evaluations_endpoint, body)).evaluations,
    raw: (body) => ask(found.access_evaluation_endpoint, body),
    rawSeveral: (body) => ask(found.access_evaluations_endpoint, body),
  };
}

test("Callgate and Cerbos by one client of AuthZEN", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-cerbos-")));
  const open = [];
  after(async () => {
    for (const one of open) await one.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const bundle = join(folder, "callgate.json");
  writeFileSync(bundle, JSON.stringify(BUNDLE));
  const flags = ["serve", "--bundle", bundle, "--listen", "0"];
  const service = await start(CALLGATE, flags, { cwd: folder }, /listening on (\S+)/);
  open.push(service);
  const other = await startCerbos(folder);
  open.push(other);
  const callgate = await connect(`http://${service.found[1]}`);
  const cerbos = await connect(other.origin);
  const both = Object.entries({ callgate, cerbos });

  await t.test("an evaluation", async () => {
    for (const [url, expected] of [
      [START, true],
      ["https://handbook.example/drafts?page=2", true],
      [EVIL, false],
      ["https://handbook.example.evil.example/", false],
      ["https://handbook.example@evil.example/", false],
      ["HTTPS://Handbook.example/start", false],
      ["", false],
    ]) {
      for (const [name, { one }] of both) {
        assert.equal((await one(evaluationOf(url))).decision, expected, `${name}: ${url}`);
      }
    }
    // The beginning of a text is not where a URL leads.
    const up = evaluationOf("https://handbook.example/drafts/../start");
    assert.equal((await cerbos.one(up)).decision, true);
    const { decision, context } = await callgate.one(up);
    assert.deepEqual([decision, context.id], [false, "structural-inexact-call"]);
  });

  await t.test("several evaluations, by each semantic", async () => {
    const { subject, action } = evaluationOf(START);
    const evaluations = [START, EVIL, START, EVIL].map((url, at) => {
      const { resource, context } = evaluationOf(url, "abcd"[at]);
      return { resource, context };
    });
    for (const [semantic, expected] of [
      [undefined, [true, false, true, false]],
      ["execute_all", [true, false, true, false]],
      ["deny_on_first_deny", [true, false]],
      ["permit_on_first_permit", [true]],
    ]) {
      const options = semantic && { evaluations_semantic: semantic };
      for (const [name, { several }] of both) {
        const answers = await several({ subject, action, evaluations, options });
        const decisions = answers.map(({ decision }) => decision);
        assert.deepEqual(decisions, expected, `${name}: ${semantic}`);
      }
    }
    // What stands for all of them, and what one has in its place.
    const { resource, context } = evaluationOf(EVIL, "b");
    const shared = { ...evaluationOf(START, "a"), evaluations: [{}, { resource, context }] };
    for (const [name, { several }] of both) {
      const decisions = (await several(shared)).map(({ decision }) => decision);
      assert.deepEqual(decisions, [true, false], name);
    }
  });

  await t.test("what cannot be read is refused", async () => {
    for (const body of ["{", "[]", JSON.stringify({ ...evaluationOf(START), resource: undefined })]) {
      for (const [name, { raw }] of both) assert.equal((await raw(body)).status, 400, `${name}: ${body}`);
    }
    const unknown = { ...evaluationOf(START), evaluations: [{}], options: { evaluations_semantic: "any" } };
    for (const [name, { rawSeveral }] of both) assert.equal((await rawSeveral(unknown)).status, 400, name);
  });

  await t.test("answers differ in what the page says", async () => {
    // Why, and by which rule.
    assert.deepEqual(await cerbos.one(evaluationOf(EVIL)), { decision: false });
    const { context } = await callgate.one(evaluationOf(EVIL));
    assert.deepEqual([context.effect, typeof context.reason_user.en], ["deny", "string"]);
    // A request is found again by its name.
    const ids = [(await callgate.raw(evaluationOf(START))).id, (await cerbos.raw(evaluationOf(START))).id];
    assert.deepEqual(ids, ["r-1", null]);
    // Several evaluations of one resource are one to Cerbos, whatever its properties are.
    const same = { evaluations: [evaluationOf(START), evaluationOf(EVIL)] };
    const [ours, theirs] = [await callgate.several(same), await cerbos.several(same)];
    assert.deepEqual([ours[1].decision, theirs[1].decision], [false, true]);
    // A fault of one of several denies that one; and none is the evaluation that the request has.
    const faulty = { ...evaluationOf(START), evaluations: [{}, { resource: 7 }] };
    assert.equal((await cerbos.rawSeveral(faulty)).status, 400);
    const decisions = (await callgate.several(faulty)).map(({ decision }) => decision);
    assert.deepEqual(decisions, [true, false]);
    const none = { ...evaluationOf(START), evaluations: [] };
    assert.equal((await cerbos.rawSeveral(none)).status, 400);
    assert.equal(JSON.parse((await callgate.rawSeveral(none)).text).decision, true);
  });
});
