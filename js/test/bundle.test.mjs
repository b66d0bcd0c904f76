import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createEngine } from "callgate";
import { loadBundle } from "callgate/bundle";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-bundle-")));
after(() => rmSync(folder, { recursive: true, force: true }));

function write(name, text) {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const ANNOTATIONS = '{"servers": {"s": {"tools": [{"toolName": "t", "args": {"a": "read-path"}}]}}}';
const refusal = (build) => {
  try {
    build();
  } catch (error) {
    assert.equal(error.code, "invalid-document");
    return error;
  }
  return assert.fail("nothing was refused");
};

test("a bundle is what Rust programs and the command read", () => {
  const path = write(
    "app/callgate.json",
    `{ // One file
      "annotations": ${ANNOTATIONS},
      "policy": "rules/policy.json",
      "sandbox": "box", "protectedPaths": ["keys"], "options": {"sandboxServers": []},
    }`,
  );
  const rule = { name: "n", if: { paths: { roles: "read-path", within: "docs" } }, then: "allow", reason: "r" };
  write("app/rules/policy.json", JSON.stringify({ rules: [rule] }));
  symlinkSync(join(folder, "app"), join(folder, "link"));
  for (const given of [path, pathToFileURL(path), join(folder, "link/callgate.json")]) {
    const bundle = loadBundle(given);
    assert.equal(bundle.folder, join(folder, "app"));
    const engine = createEngine(bundle);
    assert.deepEqual(engine.diagnostics, []);
    const decided = (a) => engine.gate({ serverName: "s", toolName: "t", arguments: { a } }).verdict.rule;
    assert.equal(decided(join(folder, "app/docs/x")), "n");
    assert.equal(decided(join(folder, "app/keys/x")), "structural-protected-path");
    assert.equal(decided(join(folder, "app/other")), "default-deny");
  }
});

test("every fault has its file, line and column", () => {
  const path = write(
    "faulty/callgate.json",
    `{"sandbox": 5,\n "policy": "policy.json", "annotations": {"servers": []}}`,
  );
  const policy = write("faulty/policy.json", '{"rules": [],\n "rules": []}');
  const { diagnostics } = refusal(() => createEngine(loadBundle(path)));
  assert.deepEqual(
    diagnostics.map(({ code, file, line, column }) => [code, file, line, column]),
    [
      ["duplicate-key", policy, 2, 2],
      ["wrong-type", path, 2, 54],
      ["wrong-type", path, 1, 13],
    ],
  );
  const bare = write("bare/callgate.json", "{}");
  const missing = refusal(() => createEngine(loadBundle(bare))).diagnostics;
  assert.deepEqual(
    missing.map(({ path, file }) => [path, file]),
    [
      ["policy", bare],
      ["annotations", bare],
    ],
  );
  const wrong = write("wrong/callgate.json", '{\n"polcy": {}, "policy": 1}');
  assert.deepEqual(
    refusal(() => loadBundle(wrong)).diagnostics.map(({ path, file, line, column, help }) => [
      path,
      file,
      line,
      column,
      help,
    ]),
    [
      ["bundle.polcy", wrong, 2, 1, "did you mean `policy`?"],
      ["bundle.policy", wrong, 2, 24, undefined],
    ],
  );
});

test("files are named as they are written", () => {
  const path = write("app/written.json", '{"policy": "./sub/../p.json", "annotations": "/gone/a.json"}');
  const given = relative(process.cwd(), path);
  const missing = `${dirname(given)}/./sub/../p.json`;
  assert.equal(
    refusal(() => loadBundle(given)).message,
    `cannot read \`${missing}\`: No such file or directory (os error 2)`,
  );
  write("app/sub/x", "");
  write("app/p.json", "");
  write("app/written.json", `{"policy": "./sub/../p.json", "polcy": 1, "annotations": ${ANNOTATIONS}}`);
  assert.deepEqual(
    refusal(() => loadBundle(given)).diagnostics.map(({ file, message }) => [file, message.slice(0, 21)]),
    [
      [given, "found the key `polcy`"],
      [missing, "the file is empty, ex"],
    ],
  );
});

test("what cannot be read is named", () => {
  assert.match(refusal(() => loadBundle(join(folder, "none.json"))).message, /cannot read `.*none\.json`/);
  const named = write("named/callgate.json", '{"policy": "gone.json"}');
  assert.match(refusal(() => loadBundle(named)).message, /cannot read `.*named\/gone\.json`/);
  const latin = write("latin/callgate.json", Buffer.from([0x22, 0xe9, 0x22]));
  assert.match(
    refusal(() => loadBundle(latin)).message,
    /latin\/callgate\.json:1:2: bundle: found the byte `0xe9` at offset 1, expected JSON in UTF-8$/,
  );
});
