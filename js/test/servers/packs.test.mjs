// Packs against the servers that are installed: what a server has that its pack does not know is said, and fails here.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { CALLGATE } from "./guard.mjs";
import { commandOf, whyMissing } from "./programs.mjs";

for (const name of ["fetch", "filesystem", "git"]) {
  const missing = existsSync(CALLGATE) ? whyMissing(name) : `${CALLGATE} is missing; cargo build`;
  const skip = missing !== undefined && process.env.CI !== "true" && `the pack ${name} is not compared: ${missing}`;
  test(`the pack ${name} fits its server`, { skip }, () => {
    assert.equal(missing, undefined);
    const command = commandOf(name, { tree: { root: "/" }, network: { origin: "http://127.0.0.1" } });
    const check = ["annotate", "--pack", name, "--server", name, "--check", "--format", "human", "--", ...command];
    const { status, stdout, stderr } = spawnSync(CALLGATE, check, { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  });
}
