// Ways into the page and out of it: files, and links that hold everything.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { loadBundle } from "../../dist/bundle.js";
import { createEngine, createVirtualHost } from "../../dist/node.js";
import { isThere, NATIVE } from "../../test/tools/hosts.mjs";
import {
  argument,
  check,
  choose,
  EXAMPLES,
  example,
  file,
  fragmentOf,
  lines,
  open,
  RULES,
  skip,
  stop,
  verdict,
} from "./page.mjs";

after(stop);

/** A call with arguments that no engine reads. */
const DEEP = `{"serverName": "filesystem", "toolName": "read_file", "arguments": {"path": ${"[".repeat(20_000)}${"]".repeat(20_000)}}}`;

check("a file that is dropped on the page is imported", async (page) => {
  await page.evaluate((text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], "callgate.json"));
    document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
  }, RULES);
  await page.locator("#announcement", { hasText: "Imported the bundle callgate.json" }).waitFor();
});

check("bundles, scenarios, logs and recordings are imported", async (page) => {
  const call = { serverName: "filesystem", toolName: "read_file", arguments: { path: "/srv/app/a" } };
  await choose(
    page,
    ["tests.jsonl", lines({ call, expect: "allow" }, { request: call, expectedDecision: "not-allow" }, "rest")],
    ["callgate.json", RULES],
  );
  await page
    .locator("#announcement", { hasText: "Imported the bundle callgate.json, 2 scenarios; 1 line is not a call" })
    .waitFor();
  await page.getByRole("tab", { name: "Scenarios" }).click();
  await page.locator("tr.unmet", { hasText: "/srv/app/a" }).waitFor();
  const values = [{ argument: "/path", role: "read-path", raw: "/etc/passwd", canonical: "/etc/passwd" }];
  const line = { format: "callgate-audit/1", time: "2026-11-23T08:00:00Z", server: "filesystem", tool: "read_file" };
  await choose(page, [
    "log.jsonl",
    lines({ ...line, kind: "start" }, { ...line, kind: "decision", decision: "escalate", rule: "ask", values }),
  ]);
  await page.locator("tr.met", { hasText: "logged 2026-11-23T08:00:00Z" }).waitFor();
  const elsewhere = createVirtualHost({
    home: "/root",
    cwd: "/srv",
    fs: { files: ["/etc/passwd"], links: { "/srv/app/way": "/etc/passwd" } },
  });
  const recorded = { ...call, arguments: { path: "/srv/app/way" } };
  const answer = createEngine({ ...JSON.parse(RULES), folder: "/srv", host: elsewhere }).explainGate(recorded);
  assert.equal(answer.verdict.rule, "ask");
  await choose(page, [
    "recording.jsonl",
    lines({
      format: "cases/1",
      engine: { ...JSON.parse(RULES), folder: "/srv" },
      recording: answer.recording,
      cases: [{ op: "explainGate", call: recorded, expect: { answer } }],
    }),
  ]);
  const row = page.locator("tr.met", { hasText: "judged with the answers that were recorded" });
  await row.waitFor();
  // The machine that is made from the recording answers likewise.
  await row.getByRole("button", { name: "/srv/app/way" }).first().click();
  await verdict(page, "escalate", "ask");
  await page.locator(".value .link", { hasText: "/srv/app/way → /etc/passwd" }).waitFor();
});

check("scenarios are downloaded as the command reads them", async (page) => {
  const call = { serverName: "filesystem", toolName: "read_file", arguments: { path: "/srv/app/way" } };
  const world = {
    home: "/root",
    cwd: "/srv",
    fs: { files: ["/etc/passwd"], links: { "/srv/app/way": "/etc/passwd" } },
  };
  const text = JSON.stringify({ ...call, id: 7 });
  const given = [
    { name: "elsewhere", call, expect: "escalate", rule: "ask", world },
    { call: text, expect: "allow", world: { home: "/root", cwd: "/srv" } },
    { call, context: { mode: "dev" }, rule: "structural-sandbox-allow" },
  ];
  await page.getByRole("tab", { name: "Scenarios" }).click();
  await choose(
    page,
    ["callgate.json", RULES],
    ["lines.jsonl", `// Comments may stand between the lines.\n${lines(...given.slice(1))}`],
    ["all.json", JSON.stringify({ scenarios: [{ ...given[0], world: undefined }], world })],
  );
  await page.locator("tr.met", { hasText: "judged on a machine of its own" }).nth(1).waitFor();
  assert.equal(await page.locator("tr.unmet", { hasText: "way" }).count(), 0);
  const verdict = { decision: "deny", rule: "ask" };
  await choose(page, [
    "wrong.jsonl",
    lines({ call, expct: "deny" }, { call, expect: "Deny" }, { request: call, verdict }, { call: {}, expect: "deny" }),
  ]);
  await page
    .locator("#announcement", { hasText: "Imported 1 scenario; 1 line is not a call; 2 not imported" })
    .waitFor();
  await page.locator("#announcement", { hasText: "a scenario has no key `expct`" }).waitFor();
  await page.locator("tbody tr").last().getByRole("button", { name: "Remove" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const written = await readFile(await (await downloading).path(), "utf8");
  const found = written
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(found, [...given.slice(1), given[0]]);
});

check("the exported bundle is one file that other hosts read", async (page) => {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export bundle" }).click();
  const folder = await mkdtemp(join(tmpdir(), "callgate-"));
  const file = join(folder, "callgate.json");
  await (await downloading).saveAs(file);
  assert.match(await readFile(file, "utf8"), /"rules": \[/);
  const host = createVirtualHost({ home: "/home/u", cwd: folder });
  const engine = createEngine({ ...loadBundle(file), host });
  const call = { serverName: "filesystem", toolName: "read_text_file", arguments: { path: "~/Documents/plan.md" } };
  assert.equal(engine.gate(call).verdict.rule, "allow-read-documents");
  await rm(folder, { recursive: true });
});

check("several files go where the bundle names them", async (page) => {
  const { policy, annotations, ...rest } = JSON.parse(RULES);
  const bundle = JSON.stringify({ ...rest, policy: "parts/rules.json", annotations: "parts/tools.json" });
  await choose(
    page,
    ["rules.json", JSON.stringify(policy)],
    ["callgate.json", bundle],
    ["mine.json", JSON.stringify(annotations)],
  );
  await page
    .locator("#announcement", { hasText: "Imported the bundle callgate.json, parts/rules.json, parts/tools.json" })
    .waitFor();
  assert.equal(await page.locator(".files .missing").count(), 0);
  await page.getByLabel("Tool").selectOption("read_file");
  await argument(page, "path").fill("/etc/passwd");
  await verdict(page, "escalate", "ask");
  // A policy alone replaces that one.
  await choose(page, ["new.json", '{ "rules": [] }']);
  await page.locator("#announcement", { hasText: "Imported parts/rules.json" }).waitFor();
  await verdict(page, "deny", "default-deny");
  // And in a bundle of one file it takes the place of the policy there.
  await choose(page, ["callgate.json", RULES]);
  await verdict(page, "escalate", "ask");
  await choose(page, ["new.json", '{ "rules": [] }']);
  await verdict(page, "deny", "default-deny");
  assert.equal(await page.locator("#panel-bundle .files button").count(), 1);
  // A bundle brings along the files that it names.
  await choose(page, ["callgate.json", RULES], ["old.json", '{ "rules": [] }']);
  await page.locator("#announcement", { hasText: "since the bundle does not name it (old.json)" }).waitFor();
  await verdict(page, "escalate", "ask");
});

check("what may mean two things is not imported", async (page) => {
  const rows = page.locator("#panel-scenarios tbody tr");
  await page.getByRole("tab", { name: "Scenarios" }).click();
  const before = await rows.count();
  const twice = '{"serverName": "filesystem", "toolName": "read_file", "arguments": {"path": "/a", "path": "/b"}}';
  const scenario = (call) => `{"call": ${call}, "expect": "deny"}`;
  const column = scenario(twice).lastIndexOf('"path"') + 1;
  for (const [name, text, place] of [
    ["lines.jsonl", `${scenario(twice)}\n${scenario("{}")}`, `line 1, column ${column}`],
    ["list.json", `[\n${scenario(twice)}]`, `line 2, column ${column}`],
    ["all.json", `{"scenarios": [\n${scenario(twice)}]}`, `line 2, column ${column}`],
  ]) {
    await choose(page, [name, text]);
    const said = `the name \`path\` occurs twice, the second time in ${place}`;
    await page.locator("#announcement", { hasText: said }).waitFor();
  }
  assert.equal(await rows.count(), before);
  // Text can say what a document cannot: the engine denies such a call, as `callgate test` has it.
  await choose(page, [
    "text.jsonl",
    `{"call": ${JSON.stringify(twice.replace("file", "text_file"))}, "expect": "deny"}`,
  ]);
  await page.locator("tr.met", { hasText: "structural-unreadable-argument" }).waitFor();
});

/** Everything that the page holds, from a link to it. */
function heldBy(url) {
  return JSON.parse(inflateRawSync(Buffer.from(new URL(url).hash.slice("#v1=".length), "base64url")));
}

/** The file that a button downloads, in a folder. */
async function download(page, button, path) {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: button }).click();
  await (await downloading).saveAs(path);
}

check("the command reads what is exported, and agrees about every scenario", async (page, t) => {
  if (!isThere(t, "the command", existsSync(NATIVE))) {
    return;
  }
  await page.getByRole("tab", { name: "Scenarios" }).click();
  for (const [title, count] of Object.entries(EXAMPLES)) {
    await example(page, title, `${count} of ${count} as expected`);
    const folder = await mkdtemp(join(tmpdir(), "callgate-"));
    await download(page, "Export bundle", join(folder, "callgate.json"));
    await download(page, "Download", join(folder, "scenarios.jsonl"));
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.locator("#announcement", { hasText: "It holds everything" }).waitFor();
    await writeFile(join(folder, "machine.json"), heldBy(page.url()).machine);
    // The command prints a call for each region that no scenario reaches: more than the megabyte that Node takes otherwise.
    const options = { encoding: "utf8", cwd: folder, maxBuffer: 64 << 20 };
    const { status, stdout, stderr } = spawnSync(NATIVE, ["validate", "--bundle", "callgate.json"], options);
    assert.equal(status, 0, `${title}: ${stdout}${stderr}`);
    const asked = [
      "test",
      "--bundle",
      "callgate.json",
      "--world",
      "machine.json",
      "--format",
      "json",
      "scenarios.jsonl",
    ];
    const tested = spawnSync(NATIVE, asked, options);
    assert.equal(tested.status, 0, `${title}: ${tested.stdout}${tested.stderr}`);
    const { passed, failed } = JSON.parse(tested.stdout.trim().split("\n").at(-1));
    assert.deepEqual([passed, failed], [count, 0], title);
    await page.evaluate(() => history.replaceState(undefined, "", location.pathname));
    await rm(folder, { recursive: true });
  }
});

check("a link holds everything", async (page) => {
  await argument(page, "path").fill("/etc/passwd");
  await verdict(page, "escalate", "ask-other-paths");
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#v1="));
  const fragment = new URL(page.url()).hash;
  assert.ok(fragment.length < 8000, `${fragment.length} characters`);
  const other = await open({ fragment });
  await verdict(other, "escalate", "ask-other-paths");
  assert.equal(await argument(other, "path").inputValue(), "/etc/passwd");
  await other.locator("#tab-scenarios", { hasText: "15 of 15" }).waitFor();
  await other.done();
  for (const broken of [fragment.slice(0, 200), "#v1=%%%", `#v1=${btoa("nonsense")}`]) {
    const cut = await open({ fragment: broken });
    await cut.locator("#announcement", { hasText: "The link cannot be read" }).waitFor();
    await verdict(cut, "allow", "allow-read-documents");
    await cut.done();
  }
});

check(
  "a project links to the page with its own bundle",
  async (page) => {
    await verdict(page, "escalate", "own");
    await file(page, "parts/rules.json").click();
    assert.match(await page.getByLabel("Text of the bundle").textContent(), /"name": "own"/);
    // The link names them, and the bundle does so too.
    await page.locator("#tab-scenarios", { hasText: "2 of 2 as expected" }).waitFor();
    const other = await open({ fragment: "#bundle=https://elsewhere.example/callgate.json" });
    await other.locator("#announcement", { hasText: "is not of this site" }).waitFor();
    await other.done();
  },
  { fragment: "#bundle=../own/callgate.json&scenarios=../own/calls.jsonl" },
);

test("a project that does not host its tests is shown without them", { skip }, async () => {
  const page = await open({ fragment: "#bundle=../own/lacking.json" });
  await page.locator("#announcement", { hasText: "1 scenario; not there: gone.jsonl" }).waitFor();
  await file(page, "parts/rules.json").waitFor();
  // The console says so too.
  await assert.rejects(page.done(), ({ actual }) => actual.every((fault) => /404/.test(fault)));
});

check("what was edited stays when the page is loaded anew, and an address says what it says", async (page) => {
  await argument(page, "path").fill("/etc/passwd");
  await verdict(page, "escalate", "ask-other-paths");
  for (let at = 0; at < 2; at += 1) {
    await page.reload();
    await verdict(page, "escalate", "ask-other-paths");
    assert.equal(await argument(page, "path").inputValue(), "/etc/passwd");
  }
  await page.goto("about:blank");
  await page.goBack();
  await verdict(page, "escalate", "ask-other-paths");
  await page.goto("about:blank");
  await page.goto(`${page.home}`);
  await verdict(page, "allow", "allow-read-documents");
});

check("a file that is gone before it is read is said to be", async (page) => {
  await page.evaluate(() => {
    File.prototype.text = () => Promise.reject(new DOMException("", "NotReadableError"));
  });
  await choose(page, ["callgate.json", RULES]);
  await page.locator("#announcement", { hasText: "A file cannot be read" }).waitFor();
});

check("a state that is too long for a link is not put into one", async (page) => {
  const reason = Array.from({ length: 400_000 }, (_, at) => (at * 2_654_435_761) >>> 0).join(" ");
  const bundle = JSON.parse(RULES);
  bundle.policy.rules[0].reason = reason;
  await choose(page, ["callgate.json", JSON.stringify(bundle)]);
  await page.locator("#announcement", { hasText: "Imported" }).waitFor();
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.locator("#announcement", { hasText: "No link is copied" }).waitFor();
  assert.equal(new URL(page.url()).hash, "");
});

const CALL = (args) => JSON.stringify({ serverName: "filesystem", toolName: "read_file", arguments: args });
const MACHINE = '{"home": "/h", "cwd": "/h"}';

/** A link to a state, as somebody may write one who means no good. */
const linkTo = (more) =>
  fragmentOf({ files: { "callgate.json": RULES }, machine: MACHINE, call: CALL({}), scenarios: [], ...more });

/** Members `a0`, `a1` and so on. */
const many = (count, value) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, value]));

check(
  "a call of thousands of arguments is judged, and the form shows some of them",
  async (page) => {
    const fields = page.locator(".form [id^=argument-]");
    await page.locator(".form", { hasText: "200 of 16,001 arguments are shown" }).waitFor();
    assert.equal(await fields.count(), 200);
    await argument(page, "a0").fill("y");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByLabel("Call as JSON").getByText('"a0": "y"').waitFor();
    const annotated = JSON.parse(RULES);
    annotated.annotations.servers.filesystem.tools[0].args = many(16_000, "read-path");
    const other = await open({
      fragment: linkTo({ files: { "callgate.json": JSON.stringify(annotated) }, call: CALL({ a15999: "/srv/app/x" }) }),
    });
    await other.locator(".form", { hasText: "200 of 16,000 arguments are shown" }).waitFor();
    // Those that the call has are among them.
    assert.equal(await argument(other, "a15999").inputValue(), "/srv/app/x");
    await other.done();
  },
  { fragment: linkTo({ call: CALL(many(16_000, "x")) }) },
);

check("a link that holds too much is not opened, and says of what", async (page) => {
  const deep = { home: "/h", cwd: "/h", fs: { dirs: [`/${"a/".repeat(20_000)}b`] } };
  const scenario = { call: CALL({}) };
  for (const [more, said] of [
    [{ call: CALL({ path: "x".repeat(13_000_000) }) }, "more than 4,194,304 bytes, which is the most that is opened"],
    [{ call: CALL({ path: "x".repeat(2_000_000) }) }, "a call of 2,000,074 characters, and at most 1,048,576 are"],
    [{ files: many(65, RULES) }, "65 files, and at most 64 are opened"],
    [{ before: many(64, RULES) }, "65 files, and at most 64 are opened"],
    [{ files: { "callgate.json": "[".repeat(3_000_000) } }, "3,000,000 characters as `callgate.json`, and at most"],
    [{ files: { "callgate.json": " ".repeat(10_000) } }, "10,000 spaces one after the other, and at most 4,096"],
    [{ scenarios: Array(20_001).fill(scenario) }, "20,001 scenarios, and at most 20,000 are opened"],
    [{ machine: JSON.stringify(deep) }, "a machine with a path of 40,002 characters, and at most 4,096"],
    [{ scenarios: [{ ...scenario, world: JSON.stringify(deep) }] }, "a machine with a path of 40,002 characters"],
  ]) {
    await page.evaluate((hash) => {
      document.querySelector("#announcement").textContent = "";
      location.hash = hash;
    }, linkTo(more));
    await page.locator("#announcement", { hasText: "The link cannot be read: it holds" }).waitFor();
    const text = await page.locator("#announcement").textContent();
    assert.ok(text.includes(said), text);
    await verdict(page, "allow", "allow-read-documents");
  }
});

check("of a link that names too many files none is asked for", async (page) => {
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  const names = Array.from({ length: 3_000 }, (_, at) => `&scenarios=../own/calls.jsonl?${at}`).join("");
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#bundle=../own/callgate.json${names}`);
  const said = "it names 3,001 files, and at most 64 are opened";
  await page.locator("#announcement", { hasText: said }).waitFor();
  assert.deepEqual(asked, []);
  // The bundle may name as many.
  await page.evaluate(() => {
    location.hash = "#bundle=../own/many.json";
  });
  await page.locator("#announcement", { hasText: "it names 101 files, and at most 64 are opened" }).waitFor();
  assert.equal(asked.length, 1);
  // The same file is asked for once.
  await page.evaluate(
    (hash) => {
      location.hash = hash;
    },
    `#bundle=../own/callgate.json${"&scenarios=../own/calls.jsonl".repeat(3_000)}`,
  );
  await verdict(page, "escalate", "own");
  assert.ok(asked.length < 10, String(asked.length));
});

test("an example that cannot be loaded is said to be, and can be chosen again", { skip }, async () => {
  const page = await open();
  await page.context().setOffline(true);
  try {
    await page.locator("#examples").selectOption({ label: "Mail and shared documents" });
    await page.locator("#announcement", { hasText: "cannot be loaded" }).waitFor();
    assert.equal(await page.locator("#examples").inputValue(), "");
    await verdict(page, "allow", "allow-read-documents");
  } finally {
    await page.context().setOffline(false);
  }
  // That the file did not come is an error of the console, and nothing else is.
  await assert.rejects(page.done(), ({ actual }) => actual.every((fault) => /ERR_INTERNET_DISCONNECTED/.test(fault)));
});

check(
  "a call that is nested too deep is said to be, and the page goes on",
  async (page) => {
    await page.locator(".form", { hasText: "not one that can be judged" }).waitFor();
    await page.getByRole("tab", { name: "Scenarios" }).click();
    await page.locator("tbody tr").waitFor();
    await example(page, "Mail and shared documents", "5 of 5");
  },
  {
    fragment: fragmentOf({
      files: { "callgate.json": RULES },
      machine: '{"home": "/h", "cwd": "/h"}',
      call: DEEP,
      scenarios: [{ call: DEEP, expect: "deny" }],
    }),
  },
);
