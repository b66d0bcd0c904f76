// What the tests share: an engine, what a tool was called with, and the cases that each framework has to decide alike.
import { createEngine, createVirtualHost } from "callgate";

const rule = (name, within, then) => ({
  name,
  if: { paths: { roles: "read-path", within } },
  then,
  reason: `For ${name}`,
});

export function makeEngine(more = {}) {
  return createEngine({
    policy: { rules: [rule("docs", "/srv/docs", "allow"), rule("ask", "/srv/ask", "escalate")] },
    annotations: { servers: { files: { tools: [{ toolName: "read", args: { path: "read-path" } }] } } },
    host: createVirtualHost({ home: "/home/me", cwd: "/srv", fs: { dirs: ["/srv/docs", "/srv/ask", "/srv/secret"] } }),
    ...more,
  });
}

export const OPTIONS = { engine: makeEngine(), serverName: "files" };

export const ALLOWED = "/srv/docs/a";
export const SPELLED = "docs/./x/../a";
export const ASKED = "/srv/ask/a";
export const DENIED = "/srv/secret/a";

/** Engines that fail, of which none may let a call pass. */
export const BROKEN = {
  "the engine throws": { ...OPTIONS, engine: { gate: () => fail() } },
  "there is no engine": { ...OPTIONS, engine: () => fail() },
  "the engine was disposed of": { ...OPTIONS, engine: disposed() },
  "the engine answers nothing": { ...OPTIONS, engine: { gate: () => undefined } },
  "the engine answers later": { ...OPTIONS, engine: { gate: async () => OPTIONS.engine.gate({}) } },
  "the engine allows without arguments": { ...OPTIONS, engine: { gate: () => ({ verdict: { decision: "allow" } }) } },
  "the engine says another word": {
    ...OPTIONS,
    engine: { gate: () => ({ verdict: { decision: "maybe", rule: "", reason: "" }, argsForTransport: {} }) },
  },
  "the tool has no server": { ...OPTIONS, serverName: () => undefined },
  "the name of the server throws": { ...OPTIONS, serverName: () => fail() },
  "the context throws": { ...OPTIONS, context: () => fail() },
};

function fail() {
  throw new Error("/srv/secret is broken");
}

function disposed() {
  const engine = makeEngine();
  engine.dispose();
  return engine;
}

/** Arguments that are no object, or none of JSON. */
export const UNREADABLE = [null, undefined, "text", 5, [], [{ path: ALLOWED }], { path: ALLOWED, more: Number.NaN }];
