// The host and the engine that several tests use.
import { createVirtualHost } from "callgate";
import { ANNOTATIONS, POLICY, SANDBOX, WORLD } from "./documents.mjs";

export * from "./documents.mjs";

export const host = createVirtualHost(WORLD);

export const CONFIG = { policy: POLICY, annotations: ANNOTATIONS, sandbox: SANDBOX, host };
