// Calls that guards of several machines count, in a real server of Redis.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../tools/ports.mjs";
import { until } from "./envoy.mjs";
import { CALLGATE } from "./guard.mjs";
import { PASSWORD, startRedis, whyNoRedis } from "./redis.mjs";

const missing = whyNoRedis();
const skip = missing !== undefined && process.env.CI !== "true" && `Redis is not started: ${missing}`;

/** How many calls an hour may have. */
const MOST = 5;

const BUNDLE = {
  policy: {
    counters: [{ name: "echoes", if: { tool: "echo" }, seconds: 3600 }],
    rules: [
      { name: "enough", if: { tool: "echo", counts: { echoes: { atLeast: MOST } } }, then: "deny", reason: "enough" },
      { name: "echo", if: { tool: "echo" }, then: "allow", reason: "says what it is told" },
    ],
  },
  annotations: { servers: { everything: { tools: [{ toolName: "echo", args: { message: "none" } }] } } },
};

/** A server that answers what it is asked, one after the other. */
const SERVER = `while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/'); echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}'; done`;

/** A guard that takes calls one after the other, and tells which rule kept a call from the server. */
function startGuard(bundle, url, t) {
  const flags = ["--bundle", bundle, "--server", "everything", "--", "sh", "-c", SERVER];
  const env = { ...process.env, CALLGATE_COUNTS: url };
  const guard = spawn(CALLGATE, ["guard", ...flags], { env, stdio: ["pipe", "pipe", "ignore"] });
  t.after(() => guard.kill());
  let said = "";
  guard.stdout.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  let id = 0;
  return async () => {
    id += 1;
    const params = { name: "echo", arguments: { message: "x" } };
    guard.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
    await until(async () => said.split("\n").length > id);
    const { result } = JSON.parse(said.split("\n")[id - 1]);
    return result.isError ? /by rule `([^`]+)`/.exec(result.content[0].text)[1] : "sent";
  };
}

test("guards of several machines count together, and ask where they cannot", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-redis-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const bundle = join(folder, "callgate.json");
  writeFileSync(bundle, JSON.stringify(BUNDLE));
  const port = await freePort();
  let redis = await startRedis(port, folder);
  t.after(() => redis.close());
  const url = `redis://:${PASSWORD}@127.0.0.1:${port}/0`;

  await t.test("as many calls pass as may, however many guards ask at once", async (t) => {
    const guards = [1, 2, 3, 4].map(() => startGuard(bundle, url, t));
    const all = await Promise.all(guards.map(async (call) => [await call(), await call(), await call()]));
    const sent = all.flat().filter((how) => how === "sent");
    assert.equal(sent.length, MOST, JSON.stringify(all));
    assert.ok(all.flat().every((how) => how === "sent" || how === "enough"));
  });

  await t.test("another database counts by itself", async (t) => {
    assert.equal(await startGuard(bundle, `redis://:${PASSWORD}@127.0.0.1:${port}/1`, t)(), "sent");
  });

  await t.test(
    "a wrong password, a server that is gone, and one that has forgotten are no counts of nothing",
    async (t) => {
      const wrong = startGuard(bundle, `redis://:other@127.0.0.1:${port}/2`, t);
      assert.equal(await wrong(), "structural-unknown-count");
      const call = startGuard(bundle, `redis://:${PASSWORD}@127.0.0.1:${port}/3`, t);
      assert.equal(await call(), "sent");
      await redis.close();
      assert.equal(await call(), "structural-unknown-count");
      redis = await startRedis(port, folder);
      assert.equal(await call(), "structural-unknown-count");
    },
  );
});

test("what is no URL of Redis is an error without its password", { skip }, () => {
  for (const url of ["http://:secret@host", "redis", "redis://:secret@host/none"]) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-redis-")));
    const bundle = join(folder, "callgate.json");
    writeFileSync(bundle, JSON.stringify(BUNDLE));
    const flags = ["--bundle", bundle, "--server", "everything", "--counts", url, "--", "cat"];
    const { status, stderr } = spawnSync(CALLGATE, ["guard", ...flags], { encoding: "utf8", input: "" });
    rmSync(folder, { recursive: true, force: true });
    assert.equal(status, 1, stderr);
    assert.match(stderr, /calls cannot be counted in Redis: .*expected redis:\/\//);
    assert.doesNotMatch(stderr, /secret/);
  }
});
