// The host and the engine that several tests use.
import assert from "node:assert/strict";
import { createVirtualHost } from "callgate";
import { ANNOTATIONS, POLICY, SANDBOX, WORLD } from "./documents.mjs";

export * from "./documents.mjs";

export const host = createVirtualHost(WORLD);

export const CONFIG = { policy: POLICY, annotations: ANNOTATIONS, sandbox: SANDBOX, host };

/** Fails unless the verdict denies arguments that cannot be read, for that reason. */
export function unreadable(verdict, why) {
  assert.equal(verdict.rule, "structural-unreadable-argument");
  assert.equal(verdict.decision, "deny");
  assert.match(verdict.reason, why);
}
