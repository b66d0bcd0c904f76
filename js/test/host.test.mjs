// Hosts that fail, give wrong answers or call back, and engines that are disposed of.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CallgateError,
  createEngine,
  createRecordedHost,
  createVirtualHost,
  HostError,
  isWithinDirectory,
  PolicyEngine,
  setDefaultHost,
} from "callgate";
import { ANNOTATIONS, annotationsOf, CONFIG, call, host, POLICY, policyOf, SANDBOX } from "./support.mjs";

const request = call("filesystem", "read_file", { path: `${SANDBOX}/a.txt` });

function engineWith(realpath) {
  return createEngine({ ...CONFIG, host: { ...host, realpath } });
}

function denied(engine, reason) {
  for (const verdict of [engine.evaluate(request), engine.gate(request).verdict]) {
    assert.equal(verdict.rule, "structural-host-error");
    assert.equal(verdict.decision, "deny");
    assert.match(verdict.reason, reason);
  }
}

test("a callback that misbehaves denies, and the engine works on", () => {
  const cases = [
    [
      () => {
        throw new Error("boom");
      },
      /realpath threw: boom/,
    ],
    [
      () => {
        throw "text";
      },
      /realpath threw "text"/,
    ],
    [
      () => {
        throw { decision: "allow" };
      },
      /realpath threw \{"decision":"allow"\}/,
    ],
    [
      () => {
        throw undefined;
      },
      /realpath threw$/,
    ],
    [
      () => {
        throw new HostError("no disk");
      },
      /answer: no disk$/,
    ],
    [
      () => {
        throw Object.defineProperty(new Error(), "message", {
          get() {
            throw new Error("again");
          },
        });
      },
      /realpath threw something that cannot be read$/,
    ],
    [
      () => {
        throw Object.assign(new HostError(), { message: 7 });
      },
      /answer: 7$/,
    ],
    [() => Promise.reject(new Error("later")), /answered a promise, expected a string/],
    [() => 7, /answered 7, expected a string/],
    [() => undefined, /answered nothing/],
    [() => null, /answered null/],
    [() => ["/x"], /answered \["\/x"\]/],
    [() => ({ error: "unheard-of" }), /answered \{"error":"unheard-of"\}/],
    [() => "relative/path", /expected an absolute path/],
    [() => "", /expected an absolute path/],
    [() => "/a/../b", /expected an absolute path/],
    [() => "/\ud800", /not well-formed/],
    [() => 10n, /bigint/],
  ];
  for (const [answer, reason] of cases) {
    let misbehaves = true;
    const engine = engineWith((path) => (misbehaves ? answer() : host.realpath(path)));
    denied(engine, reason);
    misbehaves = false;
    assert.equal(engine.evaluate(request).decision, "allow");
  }
});

test("errors of the operating system are answers, and few of them mean that nothing is there", () => {
  const path = `${SANDBOX}/new.txt`;
  const writing = call("filesystem", "write_file", { path });
  const rule = (code) =>
    engineWith((asked) => {
      if (asked === path) {
        throw Object.assign(new Error(code), { code });
      }
      return host.realpath(asked);
    }).evaluate(writing).rule;
  for (const code of ["ENOENT", "ENOTDIR"]) {
    assert.equal(rule(code), "structural-sandbox-allow", code);
  }
  const others = "EACCES EPERM ELOOP EILSEQ EINVAL EIO EMFILE ENAMETOOLONG ENOMEM ESTALE ETIMEDOUT EWHATEVER";
  for (const code of others.split(" ")) {
    assert.equal(rule(code), "structural-unresolvable-value", code);
  }
});

test("a long answer arrives in full", () => {
  const long = `/${"x".repeat(10_000)}`;
  const engine = engineWith((path) => (path === SANDBOX ? path : long));
  assert.equal(engine.gate(request).argsForTransport.path, long);
});

test("a callback that calls its engine is denied, and the outer call goes on", () => {
  const inner = [];
  const engine = engineWith((path) => {
    inner.push(engine.evaluate(request), engine.gate(request).verdict);
    for (const ask of [() => engine.explain(request), () => engine.refresh(), () => engine.dispose()]) {
      assert.throws(ask, { code: "busy" });
    }
    return host.realpath(path);
  });
  assert.equal(engine.evaluate(request).decision, "allow");
  assert.ok(inner.length >= 2);
  for (const verdict of inner) {
    assert.equal(verdict.rule, "structural-host-error");
  }
});

test("a callback that runs out of stack breaks only its call", () => {
  let isDeep = true;
  const recurse = (path) => (isDeep ? recurse(path) + 1 : host.realpath(path));
  const engine = engineWith(recurse);
  assert.equal(engine.evaluate(request).decision, "deny");
  isDeep = false;
  assert.equal(engine.evaluate(request).decision, "allow");
});

test("running out of stack within the module denies and renews it", () => {
  const engine = createEngine(CONFIG);
  const verdicts = new Set();
  const dive = () => {
    try {
      dive();
    } catch {
      // On the way back, a little more stack is free each time.
    }
    verdicts.add(engine.evaluate(request).decision);
  };
  try {
    dive();
  } catch {
    // There was not enough stack even for the call.
  }
  // Far from the end of the stack it is allowed, so it was asked.
  assert.ok(verdicts.has("allow"));
  assert.ok([...verdicts].every((decision) => decision === "allow" || decision === "deny"));
  assert.equal(engine.evaluate(request).decision, "allow");
});

test("git questions are answered with strings", () => {
  const annotations = annotationsOf({ git: { push: { path: ["read-path"], remote: ["git-remote-url"] } } });
  const policy = policyOf(
    { if: { domains: { roles: ["git-remote-url"], allowed: ["github.com"] } }, then: "allow" },
    {
      if: { roles: ["read-path"] },
      then: "allow",
    },
  );
  const ask = (gitRemoteUrls) =>
    createEngine({ policy, annotations, host: { ...host, gitRemoteUrls } }).evaluate(
      call("git", "push", { path: "/srv", remote: "origin" }),
    );
  assert.equal(ask(() => ["https://github.com/a/b"]).decision, "allow");
  assert.equal(ask(() => ["https://github.com/a/b", "https://evil.example/"]).decision, "deny");
  for (const answer of ["https://github.com/a/b", undefined, [1], Promise.resolve([])]) {
    assert.equal(ask(() => answer).rule, "structural-host-error");
  }
});

test("host-defined roles call back", () => {
  const roles = [
    { name: "note", description: "", category: "identifier", canonicalize: (value) => value.trim().toLowerCase() },
    { name: "secret", description: "", category: "opaque", extractPolicyValue: "redact" },
    { name: "page", description: "", category: "url", extractPolicyValue: (url) => new URL(url).hostname },
  ];
  const annotations = annotationsOf({ memory: { note: { text: ["note"], key: ["secret"], page: ["page"] } } });
  const lists = [{ roles: ["note"], allowed: ["hello"], matchType: "identifiers" }];
  const policy = policyOf({ if: { roles: ["note"], lists }, then: "allow" });
  const engine = createEngine({ policy, annotations, roles, host });
  // No rule is about the page.
  assert.equal(engine.evaluate(call("memory", "note", { text: " HELLO " })).rule, "default-deny");
  assert.equal(engine.evaluate(call("memory", "note", { text: "he llo" })).rule, "structural-unresolvable-value");
  const views = engine.prepare(call("memory", "note", { text: " HELLO ", key: "k", page: "https://a.example/b" }));
  assert.deepEqual(views.argsForTransport, { text: "hello", key: "k", page: "https://a.example/b" });
  assert.deepEqual(views.argsForPolicy, { text: "hello", key: "[redacted]", page: "a.example" });
  const broken = [
    {
      ...roles[0],
      canonicalize: () => {
        throw new Error("no");
      },
    },
    ...roles.slice(1),
  ];
  const failing = createEngine({ policy, annotations, roles: broken, host });
  assert.match(failing.evaluate(call("memory", "note", { text: "hello" })).reason, /canonicalize threw: no/);
});

test("a callback of a role that misbehaves denies, and the engine works on", () => {
  const annotations = annotationsOf({ memory: { note: { text: ["note"] } } });
  const lists = [{ roles: ["note"], allowed: ["hello"], matchType: "identifiers" }];
  const policy = policyOf({ if: { lists }, then: "allow" });
  const asked = call("memory", "note", { text: "hello" });
  for (const step of ["canonicalize", "extractPolicyValue"]) {
    let answer = (value) => value;
    let inner;
    const role = { name: "note", description: "", category: "identifier", [step]: (value) => answer(value) };
    const engine = createEngine({ policy, annotations, host, roles: [role] });
    assert.equal(engine.evaluate(asked).decision, "allow");
    for (const misbehaving of [
      () => {
        throw new Error("no");
      },
      async (value) => value,
      () => 1,
      () => undefined,
      () => "\ud800",
    ]) {
      answer = misbehaving;
      for (const verdict of [engine.evaluate(asked), engine.gate(asked).verdict, engine.explain(asked).verdict]) {
        assert.equal(verdict.rule, "structural-host-error");
      }
    }
    answer = (value) => {
      inner = engine.evaluate(asked);
      return value;
    };
    assert.equal(engine.evaluate(asked).decision, "allow");
    assert.equal(inner.rule, "structural-host-error");
  }
});

test("plain functions say which host failed and how", () => {
  const failing = {
    ...host,
    realpath: () => {
      throw new Error("no disk");
    },
  };
  setDefaultHost(failing);
  try {
    assert.throws(() => isWithinDirectory("/a", "/b"), { code: "host-failed", message: /no disk/ });
  } finally {
    setDefaultHost(undefined);
  }
  assert.equal(isWithinDirectory("/etc/../usr", "/usr"), true);
});

test("a recording gives the same explanation again", () => {
  const explanation = createEngine(CONFIG).explain(request);
  assert.ok(explanation.recording.exchanges.length > 0);
  const again = createEngine({ ...CONFIG, host: createRecordedHost(explanation.recording) });
  assert.deepEqual(again.explain(request), explanation);
  const elsewhere = again.evaluate(call("filesystem", "read_file", { path: "/etc/passwd" }));
  assert.match(elsewhere.reason, /the recording holds no answer/);
});

test("names that differ in case may be one file, unless the host says that they are not", () => {
  const machine = createVirtualHost({ home: "/home/u", cwd: SANDBOX, fs: { dirs: [`${SANDBOX}/Keys`] } });
  const { ignoresPathCase, ...silent } = machine;
  assert.equal(ignoresPathCase, false);
  const keys = call("filesystem", "read_file", { path: `${SANDBOX}/KEYS` });
  const explained = (host) => createEngine({ ...CONFIG, protectedPaths: [`${SANDBOX}/Keys`], host }).explain(keys);
  assert.equal(explained(machine).verdict.decision, "allow");
  const folded = explained(silent);
  assert.equal(folded.verdict.rule, "structural-protected-path");
  assert.equal(folded.recording.ignoresPathCase, true);
  assert.deepEqual(explained(createRecordedHost(folded.recording)), folded);
  const wrong = { ...folded.recording, ignoresPathCase: "no" };
  assert.throws(() => createRecordedHost(wrong), { code: "invalid-argument", message: /`ignoresPathCase`/ });
});

test("an engine cannot be used after it is disposed of", () => {
  const engine = createEngine(CONFIG);
  engine.evaluate(request);
  engine[Symbol.dispose]();
  engine.dispose();
  for (const use of [
    () => engine.evaluate(request),
    () => engine.gate(request),
    () => engine.explain(request),
    () => engine.prepare(request),
    () => engine.refresh(),
    () => engine.isTrustedServer("memory"),
  ]) {
    assert.throws(use, (error) => error instanceof CallgateError && error.code === "disposed");
  }
});

test("pinned directories change only on refresh", () => {
  let within = "/home/u/docs";
  const moving = { ...host, realpath: (path) => (path === "/home/u/docs" ? within : host.realpath(path)) };
  const engine = createEngine({
    policy: POLICY,
    annotations: ANNOTATIONS,
    host: moving,
    options: { directories: "pinned" },
  });
  const passwd = call("filesystem", "read_file", { path: "/etc/passwd" });
  assert.equal(engine.evaluate(passwd).decision, "escalate");
  within = "/etc";
  assert.equal(engine.evaluate(passwd).decision, "escalate");
  engine.refresh();
  assert.equal(engine.evaluate(passwd).decision, "allow");
});

test("a refusal lists every fault of every document", () => {
  const policy = { ...POLICY, rules: [{ ...POLICY.rules[0], then: "permit", if: { rolls: [] } }] };
  assert.throws(
    () => createEngine({ ...CONFIG, policy, annotations: "{" }),
    (error) => {
      assert.ok(error instanceof CallgateError);
      assert.equal(error.code, "invalid-document");
      const paths = error.diagnostics.map(({ path }) => path);
      assert.ok(paths.includes("policy.rules[0].then"), String(paths));
      assert.ok(paths.includes("policy.rules[0].if.rolls"), String(paths));
      assert.ok(error.diagnostics.some(({ path, code }) => path === "annotations" && code === "syntax"));
      assert.match(error.message, /permit/);
      return true;
    },
  );
  assert.throws(
    () => new PolicyEngine(policy, ANNOTATIONS, []),
    (error) => error.diagnostics[0].path.startsWith("policy."),
  );
  assert.throws(() => createEngine({ ...CONFIG, protectedPaths: ["\ud800"] }), { code: "invalid-document" });
  assert.throws(() => createEngine({ ...CONFIG, policy: '{"a\ud800":1}' }), { code: "invalid-argument" });
  const cyclic = {};
  cyclic.self = cyclic;
  assert.throws(() => createEngine({ ...CONFIG, policy: cyclic }), { code: "invalid-document" });
});

test("warnings do not stop loading, except with `strict`", () => {
  const policy = policyOf({ if: {}, then: "deny" });
  const engine = createEngine({ ...CONFIG, policy });
  assert.ok(engine.diagnostics.some(({ severity }) => severity === "warning"));
  assert.throws(() => createEngine({ ...CONFIG, policy, options: { strict: true } }), { code: "invalid-document" });
});

test("calls as text are read strictly", () => {
  const engine = createEngine(CONFIG);
  assert.equal(engine.evaluateText(JSON.stringify(request)).decision, "allow");
  assert.throws(() => engine.evaluateText('{"serverName":"a","serverName":"b","toolName":"c"}'), {
    code: "invalid-call",
  });
  const twice = '{"serverName":"filesystem","toolName":"read_file","arguments":{"path":"/a","path":"/b"}}';
  assert.equal(engine.evaluateText(twice).rule, "structural-unreadable-argument");
});
