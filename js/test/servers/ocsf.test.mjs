// The log as events of the Open Cybersecurity Schema Framework, against its published schema.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TARGET } from "../tools/hosts.mjs";
import { whyNoVenv } from "../tools/venv.mjs";
import { CALLGATE, start } from "./guard.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const BUNDLE = path("../../../host-shim/serve/examples/envoy");
const VENV = `${TARGET}/ocsf`;

// Kubernetes' requirements have the validator, too.
const missing = whyNoVenv(
  VENV,
  ["kubernetes", "ocsf"].map((name) => path(`python/${name}.txt`)),
);
const skip = missing !== undefined && process.env.CI !== "true" && `the schema is not read: ${missing}`;

test("what is exported keeps to the schema", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-ocsf-")));
  const [log, tokens] = ["log.jsonl", "tokens"].map((name) => join(folder, name));
  writeFileSync(tokens, "secret ann\n");
  const flags = [
    "--listen",
    "0",
    "--audit",
    log,
    "--token-file",
    tokens,
    "--context",
    '{"agent": "a", "session": "s"}',
  ];
  const service = await start(CALLGATE, ["serve", "--bundle", BUNDLE, ...flags], { cwd: folder }, /listening on (\S+)/);
  t.after(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const call = (id, args) => ({
    resource: { type: "tool", id, properties: { server: "everything" } },
    context: { arguments: args },
  });
  const asked = {
    subject: { type: "agent", id: "a" },
    action: { name: "tools/call" },
    evaluations: [
      call("echo", { message: "https://handbook.example/start" }),
      call("echo", { message: "https://evil.example/" }),
      call("trigger-long-running-operation", { duration: 1, steps: 1 }),
      call("unknown", { secret: "x" }),
    ],
  };
  const headers = { "content-type": "application/json", authorization: "Bearer secret" };
  const address = `http://${service.found[1]}/access/v1/evaluations`;
  const answered = await fetch(address, { method: "POST", headers, body: JSON.stringify(asked) });
  assert.equal((await answered.json()).evaluations.length, 4);
  const exported = spawnSync(CALLGATE, ["audit", "export", "--ocsf", log], { encoding: "utf8" });
  assert.equal(exported.status, 0, exported.stderr);
  const validate = (input) => spawnSync(`${VENV}/bin/python`, [path("python/ocsf.py")], { input, encoding: "utf8" });
  const { status, stdout, stderr } = validate(exported.stdout);
  assert.deepEqual({ status, stdout }, { status: 0, stdout: "" }, stderr);
  const events = exported.stdout.trim().split("\n").map(JSON.parse);
  assert.deepEqual(
    events.map(({ action_id, authorizations: [{ decision }], actor: { user } }) => [action_id, decision, user.name]),
    [
      [1, "allow", "ann"],
      [2, "deny", "ann"],
      [2, "escalate", "ann"],
      [2, "deny", "ann"],
    ],
  );
  // The validator finds what is wrong.
  assert.match(validate(exported.stdout.replace('"class_uid":6003', '"class_uid":"6003"')).stdout, /class_uid/);
});
