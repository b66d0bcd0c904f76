// A policy seen as a whole: the same bytes as the command writes, and what only the package has. How regions are found is tested
// in Rust.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createEngine, createVirtualHost, parseBundle } from "callgate";
import { loadBundle } from "callgate/bundle";
import { CallgateError, check, diff, lint, map, regions } from "callgate/tools";

const CASES = fileURLToPath(new URL("../../tests/analysis", import.meta.url));
const lines = (answers) => answers.map((answer) => `${JSON.stringify(answer)}\n`).join("");

const QUESTIONS = {
  map: (config) => map(config),
  "map-disk": (config) => map(config, { disk: true }),
  lint,
  check,
  diff: (config, old) => {
    const { tools, ...counts } = diff(old, config);
    return [...tools, counts];
  },
};

for (const name of readdirSync(CASES)) {
  const configs = () => {
    process.chdir(`${CASES}/${name}`);
    const host = createVirtualHost(JSON.parse(readFileSync("world.json", "utf8")));
    return [
      { ...loadBundle("callgate.json"), host },
      { ...loadBundle("old.json"), host },
    ];
  };
  for (const [question, ask] of Object.entries(QUESTIONS)) {
    test(`${name}: ${question} is what the command writes`, () => {
      const [config, old] = configs();
      assert.equal(lines(ask(config, old)), readFileSync(`${CASES}/${name}/${question}.jsonl`, "utf8"));
    });
  }
  test(`${name}: every row's call is judged as the row says`, () => {
    const [config] = configs();
    const engine = createEngine(config);
    for (const { serverName, toolName, rows } of map(config, { disk: true })) {
      for (const { decision, rule, arguments: args } of rows) {
        const { verdict } = engine.gate({ serverName, toolName, arguments: args });
        assert.deepEqual([verdict.decision, verdict.rule], [decision, rule], JSON.stringify(args));
      }
    }
  });
}

const host = createVirtualHost({ home: "/home/u", cwd: "/", fs: { links: { "/way": "/etc" } } });
const config = {
  policy: {
    rules: [
      { name: "ask", if: { paths: { roles: "read-path", within: "/etc" } }, then: "escalate", reason: "The system's" },
      { name: "read", if: { roles: "read-path" }, then: "allow", reason: "Open" },
    ],
  },
  annotations: {
    servers: {
      files: {
        tools: [
          { toolName: "read", args: { path: "read-path" } },
          { toolName: "list", args: { path: "read-path" } },
        ],
      },
    },
  },
  host,
};

test("a map is of some tools, of what reaches something, or of some verdicts", () => {
  const names = (found) => found.map(({ toolName }) => toolName);
  assert.deepEqual(names(map(config)), ["list", "read"]);
  assert.deepEqual(names(map(config, { tools: ["files/list"] })), ["list"]);
  assert.deepEqual(names(map(config, { tools: ["files/*"] })), ["list", "read"]);
  const [{ rows }] = map(config, { tools: ["read"], to: "/etc/hosts" });
  assert.deepEqual(
    rows.map(({ decision, places }) => [decision, places[0].is]),
    [["escalate", ["`/etc/hosts`"]]],
  );
  const asked = map(config, { only: ["escalate"] }).flatMap(({ rows }) => rows);
  assert.ok(asked.length > 0 && asked.every(({ decision }) => decision === "escalate"));
  assert.throws(() => map(config, { tools: ["files/none"] }), { code: "invalid-argument" });
});

test("regions are told one by one, with the directories that they are about", () => {
  const [{ parts }] = regions(config, { tools: ["files/read"], disk: true });
  const engine = createEngine(config);
  const found = parts.flatMap(({ regions }) => regions).filter(({ places }) => places[0]?.within !== undefined);
  assert.deepEqual(
    found.map(({ places, decision }) => [places[0].within, decision]),
    [
      ["/", "allow"],
      ["/etc", "escalate"],
    ],
  );
  for (const { rule, arguments: args } of found) {
    assert.equal(engine.gate({ serverName: "files", toolName: "read", arguments: args }).verdict.rule, rule);
  }
});

test("each tool is told as soon as it is known, and what a callback throws ends the analysis", () => {
  const told = [];
  const all = map(config, { each: (tool) => told.push(tool) });
  assert.deepEqual(told, all);
  const stop = new Error("enough");
  assert.throws(
    () =>
      map(config, {
        each: () => {
          throw stop;
        },
      }),
    stop,
  );
  assert.throws(() => map(config, { each: () => check(config) }), { code: "busy" });
  assert.deepEqual(map(config), all);
});

test("links are those of the host where they are asked for", () => {
  const cut = (options) => JSON.stringify(map(config, options).flatMap(({ rows }) => rows));
  assert.doesNotMatch(cut(), /\/way/);
  const looser = { ...config, policy: { rules: config.policy.rules.slice(1) } };
  assert.equal(diff(config, looser).looser, 2);
  assert.equal(diff(config, config, { disk: true }).equal, true);
});

test("faults have their places, those of either configuration", () => {
  const places = (run) => {
    try {
      return run();
    } catch (thrown) {
      assert.ok(thrown instanceof CallgateError, String(thrown));
      return [thrown.code, ...thrown.diagnostics.map(({ file, path, line }) => [file, path, line])];
    }
  };
  const wrong = parseBundle('{"policy": {"rules": [{}]},\n"annotations": {"server": {}}}', { file: "new.json" });
  const expected = places(() => createEngine({ ...wrong, host }));
  assert.equal(expected[0], "invalid-document");
  for (const ask of [map, lint, check, (one) => diff(one, config), (one) => diff(config, one)]) {
    assert.deepEqual(
      places(() => ask({ ...wrong, host })),
      expected,
    );
  }
  const unknown = { ...config, polcy: {} };
  assert.deepEqual(
    places(() => map(unknown)),
    places(() => createEngine(unknown)),
  );
});

test("roles of the program are asked in the analysis too", () => {
  const roles = [{ name: "place", description: "p", category: "opaque", canonicalize: (text) => text.toLowerCase() }];
  const annotations = { servers: { files: { tools: [{ toolName: "read", args: { path: "place" } }] } } };
  const [{ inexact }] = map({ ...config, annotations, roles, policy: { rules: [] } });
  assert.match(inexact[0], /`place` are read by the host/);
});

test("a finding has a call that shows it", () => {
  const rules = [config.policy.rules[1], config.policy.rules[0]];
  const [finding] = lint({ ...config, policy: { rules } });
  assert.equal(finding.code, "never-decides");
  const engine = createEngine({ ...config, policy: { rules } });
  assert.equal(engine.gate(finding.call).verdict.rule, "read");
});

test("statements are proven and refuted", () => {
  const never = (within) => ({ never: { decision: "allow", roles: ["read-path"], within } });
  const found = check({ ...config, invariants: [never("/etc"), { name: "srv", ...never("/srv") }] });
  assert.deepEqual(
    found.map(({ name, result }) => [name, result]),
    [
      ["invariants[0]", "proven"],
      ["srv", "refuted"],
    ],
  );
});
