// Members that all objects seem to have: nothing is taken from them.
import assert from "node:assert/strict";
import { homedir } from "node:os";
import { test } from "node:test";
import {
  createEngine,
  createNodeHost,
  createVirtualHost,
  extractDefaultRoles,
  PolicyEngine,
  parseBundle,
  parseCall,
} from "callgate";
import { check } from "callgate/tools";
import { ANNOTATIONS, CONFIG, call, policyOf, SANDBOX, unreadable } from "./support.mjs";

/** Does something while all objects seem to have a member. */
function polluted(name, value, act) {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, enumerable: false, writable: true });
  try {
    return act();
  } finally {
    delete Object.prototype[name];
  }
}

test("nothing of a configuration comes from Object.prototype", () => {
  const bare = { policy: policyOf(), annotations: ANNOTATIONS, host: CONFIG.host };
  const reading = call("filesystem", "read_file", { path: "/etc/passwd" });
  const denies = (engine) => assert.equal(engine.evaluate(reading).decision, "deny");
  const every = {
    trustedServers: ["filesystem"],
    sandbox: "/",
    policy: policyOf({ if: {}, then: "allow" }),
    lists: { x: 1 },
    protectedPaths: ["relative"],
    domainAllowlists: 5,
    ceiling: 5,
    options: { compatibility: "runtime", unknown: 1 },
    roles: 5,
    world: 5,
    invariants: 5,
    folder: 5,
    files: { policy: "x.json" },
    host: 5,
  };
  for (const [name, value] of Object.entries(every)) {
    denies(polluted(name, value, () => createEngine(bare)));
    denies(
      polluted(
        name,
        value,
        () =>
          new PolicyEngine(bare.policy, ANNOTATIONS, [], undefined, undefined, undefined, undefined, {
            host: bare.host,
          }),
      ),
    );
    assert.deepEqual(
      polluted(name, value, () => check(bare)),
      [],
      name,
    );
  }
  assert.throws(
    () => polluted("policy", every.policy, () => createEngine({ annotations: ANNOTATIONS, host: bare.host })),
    {
      code: "invalid-document",
    },
  );
  // A class of the caller's own still counts, and so does an object that configurations are made from.
  class Config {
    get sandbox() {
      return SANDBOX;
    }
  }
  const made = Object.assign(new Config(), bare);
  assert.equal(
    createEngine(made).evaluate(call("filesystem", "read_file", { path: `${SANDBOX}/a.txt` })).decision,
    "allow",
  );
});

test("nothing of a call, its options or a host's answer comes from Object.prototype", () => {
  const { host } = CONFIG;
  const asked = createEngine(CONFIG);
  const note = { serverName: "filesystem", toolName: "read_file" };
  const allowed = { path: `${SANDBOX}/a.txt` };
  polluted("arguments", allowed, () => assert.deepEqual(asked.gate(note).argsForTransport, {}));
  polluted("serverName", "memory", () => unreadable(asked.evaluate({ toolName: "note" }), /strings/));
  const reading = call("filesystem", "read_file", { path: "/work/a.txt" });
  for (const options of [undefined, {}]) {
    polluted("containerWorkspaceDir", "/work", () => {
      assert.equal(asked.gate(reading, options).argsForTransport.path, "/work/a.txt");
      assert.equal(asked.prepare(reading, options).argsForTransport.path, "/work/a.txt");
    });
  }
  // An error that a host throws has no code, and a failure no ancestor, that it does not have itself.
  const throws = () => {
    throw new Error("no");
  };
  const failing = createEngine({ ...CONFIG, host: { ...host, realpath: throws } });
  polluted("code", "ENOENT", () => {
    assert.equal(failing.evaluate(call("filesystem", "write_file", allowed)).rule, "structural-host-error");
  });
  const asks = [];
  const missing = {
    ...host,
    realpath: (path) => {
      asks.push(path);
      const found = host.realpath(path);
      return typeof found === "string" ? found : { error: found.error };
    },
  };
  const writing = createEngine({ ...CONFIG, host: missing });
  polluted("nearest", "/", () => writing.evaluate(call("filesystem", "write_file", { path: `${SANDBOX}/new/x` })));
  assert.ok(asks.includes(`${SANDBOX}/new`), asks.join(" "));
  polluted("homeDir", "/", () => assert.equal(createNodeHost().homeDir, homedir()));
  polluted("currentDir", "/", () => assert.equal(createNodeHost().currentDir, process.cwd()));
  polluted("throwIfNoEntry", true, () => assert.equal(createNodeHost().isDirectory("/nobody/has/this"), false));
  polluted("fs", { files: ["/x"] }, () => {
    assert.deepEqual(createVirtualHost({ home: "/", cwd: "/" }).realpath("/x"), { error: "not-found" });
  });
  polluted(
    "read",
    () => '{"rules": []}',
    () => {
      const text = '{"policy": "p.json", "annotations": {"servers": {}}}';
      assert.throws(() => parseBundle(text), { code: "invalid-document" });
    },
  );
  polluted("call", '{"serverName": "memory", "toolName": "note", "arguments": {}}', () => {
    assert.throws(() => parseCall("{"), { code: "invalid-call" });
  });
  polluted("requireExists", false, () => assert.equal(extractDefaultRoles(["read-path"])[0], "read-path"));
  polluted("default", "none", () => assert.deepEqual(extractDefaultRoles(["read-path"]), ["read-path"]));
});
