import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadBundle } from "../../dist/bundle.js";
import { createEngine, createVirtualHost } from "../../dist/node.js";
import { argument, example, file, open, skip, stop, verdict, write } from "./page.mjs";

after(stop);

const check = (name, run, options = {}) =>
  test(name, { skip }, async () => {
    const page = await open(options);
    try {
      await run(page);
    } catch (thrown) {
      // What the page itself says may be why.
      await page.done().catch((why) => {
        thrown.message += `\n${why.message}`;
      });
      throw thrown;
    }
    await page.done();
  });

const RULES = JSON.stringify({
  sandbox: "/srv/app",
  policy: { rules: [{ name: "ask", if: { roles: "read-path" }, then: "escalate", reason: "A person decides" }] },
  annotations: { servers: { filesystem: { tools: [{ toolName: "read_file", args: { path: "read-path" } }] } } },
});

check("the first example is judged and explained", async (page) => {
  await verdict(page, "allow", "allow-read-documents");
  await page.locator(".value", { hasText: "/home/u/app/docs/plan.md → ../../Documents/plan.md" }).waitFor();
  await page.locator(".canonical", { hasText: "/home/u/Documents/plan.md" }).waitFor();
  await page.locator(".check.passed", { hasText: "protected-paths" }).waitFor();
  await page.locator(".rule.holds", { hasText: "allow-read-documents" }).waitFor();
});

check("typing in the bundle changes the verdict", async (page) => {
  await file(page, "policy.json").click();
  await write(page, "Text of the bundle", '{ "rules": [] }');
  await verdict(page, "deny", "default-deny");
  await page.keyboard.press("ControlOrMeta+z");
  await page.keyboard.press("ControlOrMeta+z");
  await verdict(page, "allow", "allow-read-documents");
});

check("a fault stands at its place in the text", async (page) => {
  await file(page, "policy.json").click();
  await write(
    page,
    "Text of the bundle",
    '{\n  "rules": [\n    { "name": "a", "if": { "rolez": "x" }, "then": "allow", "reason": "" }\n  ]\n}',
  );
  const problem = page.locator(".problems button", { hasText: "policy.json:3:28" });
  await problem.waitFor();
  assert.match(await problem.textContent(), /did you mean `roles`\?/);
  assert.equal(await page.locator(".cm-lintRange-error").textContent(), '"rolez"');
  assert.equal(await page.locator(".verdict").getAttribute("data-decision"), "none");
  await problem.click();
  await page.keyboard.insertText("!");
  assert.match(await page.getByLabel("Text of the bundle").textContent(), /!"rolez"/);
});

/** Takes what the editor offers. For a moment after the list appeared, Enter is still a line break. */
async function accept(page, text) {
  await page.locator(".cm-tooltip-autocomplete li[aria-selected]", { hasText: text }).waitFor();
  await page.waitForTimeout(200);
  await page.keyboard.press("Enter");
}

check("the schema completes keys and values", async (page) => {
  await write(page, "Text of the bundle", "{}");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.type('"opt');
  await accept(page, '"options"');
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.type('"unk');
  await accept(page, '"unknownArguments"');
  await page.keyboard.press("Control+Space");
  const offered = page.locator(".cm-tooltip-autocomplete li");
  await offered.filter({ hasText: '"escalate"' }).waitFor();
  assert.deepEqual(await offered.allTextContents(), ['"deny"', '"escalate"', '"ignore"', '"schema"']);
});

check("a form writes the call, and so does its JSON", async (page) => {
  await argument(page, "path").fill("~/.ssh/../.ssh/id_ed25519");
  await verdict(page, "deny", "structural-protected-path");
  await page.locator(".check.stopped", { hasText: "protected-path" }).waitFor();
  await page.getByLabel("Tool").selectOption("write_file");
  await argument(page, "path").fill("src/new.rs");
  await verdict(page, "allow", "structural-sandbox-allow");
  await page.getByText("What the server gets").click();
  assert.match(await page.locator(".sent pre").textContent(), /"path": "\/home\/u\/app\/src\/new.rs"/);
  await page.getByRole("group", { name: "How the call is written" }).getByRole("button", { name: "JSON" }).click();
  const text =
    '{"serverName": "fetch", "toolName": "fetch", "arguments": {"url": "https://docs.rs/"}, "arguments": {}}';
  await write(page, "Call as JSON", text);
  await page.locator(".verdict", { hasText: "`arguments` occurs twice" }).waitFor();
  await write(page, "Call as JSON", text.replace(', "arguments": {}', ""));
  await verdict(page, "allow", "allow-fetch-known");
});

check("a rule that is clicked says what it decides", async (page) => {
  const rule = page.locator(".rule", { hasText: "allow-read-documents" });
  await rule.locator("summary").click();
  await rule.locator(".card", { hasText: "a read-path lies in ~/Documents" }).waitFor();
  await rule.locator(".card button", { hasText: "~/Documents/plan.md" }).waitFor();
  await rule.getByRole("button", { name: "Show it in the policy" }).click();
  assert.equal(await file(page, "policy.json").getAttribute("aria-pressed"), "true");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText('{ "name": "none", "if": { "server": "fetch" }, "then": "deny", "reason": "" }');
  await verdict(page, "escalate", "ask-other-paths");
});

check("the machine is a tree that is edited by keys", async (page) => {
  await page.getByRole("tab", { name: "Machine" }).click();
  assert.equal(await page.locator(".links path.head").count(), 2);
  const root = page.getByRole("treeitem", { name: "/", exact: false }).first();
  await root.focus();
  await page.keyboard.press("End");
  await page.locator(".entry-form h3", { hasText: "/tmp" }).waitFor();
  await page.getByLabel("Name of what is added").fill("way");
  await page.getByLabel("Where the new link leads").fill("/home/u/.ssh");
  await page.getByRole("button", { name: "Add link" }).click();
  await page.locator(".entry", { hasText: "way → /home/u/.ssh" }).click();
  await page.getByRole("button", { name: "Use it in the call" }).click();
  await verdict(page, "deny", "structural-protected-path");
  await page.locator(".value .link", { hasText: "/tmp/way → /home/u/.ssh" }).waitFor();
  await page.getByLabel("Leads to").fill("/home/u/Documents");
  await page.keyboard.press("Enter");
  await verdict(page, "allow", "allow-read-documents");
  await page.getByRole("button", { name: "Remove" }).click();
  await verdict(page, "escalate", "ask-other-paths");
});

check("the home directory is edited, and moved with what holds it", async (page) => {
  await page.getByRole("tab", { name: "Machine" }).click();
  await page.getByLabel("Current directory").fill("/srv");
  await page.keyboard.press("Enter");
  // The bundle's folder is the current directory, and the sandbox is the bundle's folder.
  await verdict(page, "allow", "structural-sandbox-allow");
  await page.getByRole("treeitem", { name: "u", exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill("v");
  await page.keyboard.press("Enter");
  await page.locator(".entry-form h3", { hasText: "/home/v" }).waitFor();
  await argument(page, "path").fill("~/Documents/plan.md");
  await page.locator(".canonical", { hasText: "/home/v/Documents/plan.md" }).waitFor();
});

check("what git says is edited too", async (page) => {
  await page.getByLabel("Server").selectOption("git");
  await page.getByLabel("Tool").selectOption("git_push");
  await argument(page, "repo_path").fill(".");
  await argument(page, "branch").fill("feature");
  await verdict(page, "allow", "allow-push-own-forge");
  await page.getByRole("tab", { name: "Machine" }).click();
  await page.locator(".entry", { hasText: "app" }).first().click();
  await page.getByLabel("Remotes, one name and URL a line").fill("origin https://elsewhere.example/a.git");
  await page.keyboard.press("Tab");
  await verdict(page, "deny", "default-deny");
});

check("a machine that cannot be one is refused", async (page) => {
  await page.getByRole("tab", { name: "Machine" }).click();
  await page.locator("#panel-machine").getByRole("button", { name: "JSON" }).click();
  await write(page, "Machine as JSON", '{"home": "/h", "cwd": "/", "fs": {"files": ["/a", "/a/b"]}}');
  await page.locator("#panel-machine .error", { hasText: "lies below `/a`" }).waitFor();
  await page.locator(".verdict", { hasText: "the machine has a fault" }).waitFor();
});

check("every example is as it says", async (page) => {
  const counts = {
    "A coding agent in a project": 15,
    "Six bypasses of naive engines": 8,
    "To begin with: one file": 11,
  };
  const others = {
    "Mail and shared documents": 5,
    "A world of addresses": 11,
    "The same world under a sub-agent's ceiling": 11,
  };
  for (const [title, count] of Object.entries({ ...counts, ...others })) {
    await example(page, title, `${count} of ${count} as expected`);
    assert.equal(await page.locator(".problems h3").textContent(), "No problems", title);
  }
});

check("a warning leaves the bundle in force", async (page) => {
  await choose(page, ["callgate.json", RULES.replace('"if":{', '"if":{"server":"filesytem",')]);
  await page.locator(".problems button.warning", { hasText: "`filesytem`, which no annotation has" }).waitFor();
  await page.getByLabel("Tool").selectOption("read_file");
  await argument(page, "path").fill("/etc/passwd");
  await verdict(page, "deny", "default-deny");
});

check("arrow keys move between tabs, and the first link leads to the call", async (page) => {
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.getByRole("tab", { name: "Scenarios" }).getAttribute("aria-selected"), "true");
  assert.ok(await page.locator("#panel-call").isHidden());
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.locator("#panel-call").isVisible());
});

check("a theme is chosen and kept", async (page) => {
  const dark = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  assert.equal(await dark(), "light dark");
  await page.locator("#theme").click();
  await page.locator("#theme").click();
  assert.equal(await dark(), "dark");
  await page.reload();
  await page.locator("#theme", { hasText: "Theme: dark" }).click();
});

check("scenarios are judged at every change", async (page) => {
  await page.getByRole("tab", { name: "Scenarios" }).click();
  await page.getByRole("button", { name: "Add the call above" }).click();
  await page.locator(".count", { hasText: "16 of 16 as expected" }).waitFor();
  await page.locator("tbody tr").last().getByRole("combobox").selectOption("deny");
  await page.locator(".count", { hasText: "1 of 16 not as expected" }).waitFor();
  await page.getByRole("button", { name: "Remove filesystem/read_text_file docs/plan.md" }).click();
  await page.locator(".count", { hasText: "15 of 15 as expected" }).waitFor();
  await file(page, "policy.json").click();
  await write(page, "Text of the bundle", '{ "rules": [] }');
  await page.locator(".count", { hasText: "4 of 15 not as expected" }).waitFor();
  await page.getByRole("button", { name: "filesystem/read_text_file README.md base64", exact: true }).click();
  await verdict(page, "deny", "structural-unknown-argument");
});

/** Chooses files as a person does. They are on no disk, from which the page might read them too late. */
async function choose(page, ...files) {
  await chooseFor(page, "#file", ...files);
}

async function chooseFor(page, field, ...files) {
  const given = files.map(([name, text]) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) }));
  await page.locator(field).setInputFiles(given);
}

const lines = (...items) => items.map((item) => `${JSON.stringify(item)}\n`).join("");

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
    .locator("#announcement", { hasText: "Imported the bundle callgate.json, 2 scenarios; 1 lines are no call" })
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
  const rows = await page.locator("tbody tr").count();
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
    .locator("#announcement", { hasText: "Imported 1 scenario; 1 lines are no call; 2 not imported" })
    .waitFor();
  await page.locator("#announcement", { hasText: "a scenario has no key `expct`" }).waitFor();
  await page.locator("tbody tr").last().getByRole("button", { name: "Remove" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const written = await readFile(await (await downloading).path(), "utf8");
  const found = written.trim().split("\n").map(JSON.parse).slice(rows);
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
    await page.locator("#tab-scenarios", { hasText: "1 of 1 as expected" }).waitFor();
    const other = await open({ fragment: "#bundle=https://elsewhere.example/callgate.json" });
    await other.locator("#announcement", { hasText: "is not of this site" }).waitFor();
    await other.done();
  },
  { fragment: "#bundle=../own/callgate.json&scenarios=../own/calls.jsonl" },
);

check("ten thousand rules are judged", async (page) => {
  const rules = Array.from({ length: 10_000 }, (_, at) => ({
    name: `rule-${at}`,
    if: { paths: { roles: "read-path", within: `/srv/${at}` } },
    then: "allow",
    reason: "",
  }));
  const bundle = JSON.stringify({ ...JSON.parse(RULES), policy: { rules } }, null, 1);
  await choose(page, ["callgate.json", bundle]);
  await page.getByLabel("Tool").selectOption("read_file");
  await argument(page, "path").fill("/srv/5000/a");
  await verdict(page, "allow", "rule-5000");
  await page.locator(".rule.holds", { hasText: "rule-5000" }).waitFor();
  await page.locator(".walk", { hasText: "and 4,940 more that do not hold" }).waitFor();
  // However long all calls are looked at, a key has its verdict.
  await page.getByRole("button", { name: "Lint" }).click();
  await page.getByRole("tab", { name: "Map" }).click();
  await page.getByRole("tab", { name: "Call" }).click();
  const begin = Date.now();
  await argument(page, "path").fill("/srv/7000/a");
  await verdict(page, "allow", "rule-7000");
  assert.ok(Date.now() - begin < 5000, `${Date.now() - begin} ms`);
  await page.getByRole("tab", { name: "Map" }).click();
  await page.locator("#panel-map .count", { hasText: /4,0\d\d allowed/ }).waitFor();
  assert.equal(await page.locator("#panel-map .region").count(), 400);
  await page.locator("#panel-map .warning", { hasText: "regions, of which 4096 were looked at" }).waitFor();
  await page.getByRole("button", { name: "Lint" }).click();
});

const map = (page) => page.getByRole("tab", { name: "Map" }).click();
const region = (page, name) => page.locator("#panel-map .region", { has: page.locator(".name", { hasText: name }) });

check("a map shows what a tool may do, and opens a call of each region", async (page) => {
  await page.getByLabel("Tool").selectOption("write_file");
  await map(page);
  await page.locator("#panel-map .count", { hasText: "denied" }).waitFor();
  await region(page, /\.ssh$/)
    .first()
    .waitFor();
  const rows = page.locator("#panel-map .region:not(.mixed)");
  const found = await rows.evaluateAll((all) =>
    all.map((row) => [row.querySelector(".badge").textContent.slice(2), row.querySelector(".rule-name").textContent]),
  );
  assert.ok(found.length > 5, String(found));
  for (const [at, [decision, rule]] of found.entries()) {
    await rows.nth(at).click();
    await verdict(page, decision, rule);
    await map(page);
    await rows.nth(at).waitFor();
  }
});

check("a hole in the rules is seen in the map before it is used", async (page) => {
  await page.getByLabel("Tool").selectOption("write_file");
  await map(page);
  const open = page.locator("#panel-map .region.allow", { has: page.locator(".name", { hasText: /^etc$/ }) });
  await region(page, /^etc$/).waitFor();
  assert.equal(await open.count(), 0);
  await file(page, "policy.json").click();
  const rule =
    '{ "name": "oops", "if": { "paths": { "roles": "write-path", "within": "/etc" } }, "then": "allow", "reason": "" }';
  await write(page, "Text of the bundle", `{ "rules": [${rule}] }`);
  await open.waitFor();
});

check("a map is moved in by keys, and filtered", async (page) => {
  await map(page);
  await page.locator("#panel-map .region").first().focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowDown");
  const focused = page.locator("#panel-map .region:focus");
  const [decision, rule] = await focused.evaluate((row) => [
    row.querySelector(".badge").textContent.slice(2),
    row.querySelector(".rule-name").textContent,
  ]);
  await page.keyboard.press("Enter");
  await verdict(page, decision, rule);
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-call");
  await page.keyboard.press("ArrowRight");
  await page.locator("#panel-map .region.deny").first().waitFor();
  const hide = page.locator("#panel-map").getByRole("button", { name: "denied" });
  await hide.click();
  assert.equal(await hide.getAttribute("aria-pressed"), "false");
  assert.equal(await page.locator("#panel-map .region.deny").count(), 0);
});

check("where several arguments matter together, a map tells them apart", async (page) => {
  await page.getByLabel("Server").selectOption("git");
  await page.getByLabel("Tool").selectOption("git_push");
  await map(page);
  const mixed = page.locator("#panel-map .region.mixed", { has: page.locator(".name", { hasText: "home/u/app" }) });
  await mixed.first().focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await mixed.first().getAttribute("aria-expanded"), "true");
  await page.keyboard.press("ArrowDown");
  const rule = await page.locator("#panel-map .region:focus .rule-name").textContent();
  assert.equal(rule, "allow-push-own-forge");
  await page.keyboard.press("Enter");
  await verdict(page, "allow", rule);
  await page.keyboard.press("ArrowRight");
  await mixed.first().click();
  await mixed.first().press("ArrowLeft");
  assert.equal(await mixed.first().getAttribute("aria-expanded"), "false");
});

check("a map says who can reach something, and what every tool may do", async (page) => {
  await map(page);
  await page.getByLabel("Only calls that reach").fill("/etc/passwd");
  await page.getByLabel("What may be done with").selectOption("every tool");
  await page.locator("#panel-map .reached .region.deny", { hasText: "write_file" }).getByRole("button").click();
  await verdict(page, "deny", "deny-write-system");
  await map(page);
  await page.getByLabel("Only calls that reach").fill("nowhere.example");
  await page.locator("#panel-map .reached .region", { hasText: "fetch/fetch" }).first().waitFor();
  await page.getByLabel("Only calls that reach").fill("");
  await page.locator("#panel-map .reached").getByRole("button", { name: "filesystem/write_file" }).click();
  await region(page, /^etc$/).waitFor();
});

check("lint marks what is doubtful at its place, with a call that shows it", async (page) => {
  const rules = [
    { name: "everything", if: { roles: "read-path" }, then: "escalate", reason: "A person decides" },
    { name: "idle", if: { paths: { roles: "read-path", within: "/etc" } }, then: "deny", reason: "The system's" },
  ];
  await choose(page, ["callgate.json", JSON.stringify({ ...JSON.parse(RULES), policy: { rules } }, null, 2)]);
  await page.getByRole("button", { name: "Lint" }).click();
  const finding = page.locator(".problems li", { hasText: "the rule `idle` decides nothing" });
  await finding.waitFor();
  await page.locator(".cm-lintRange-warning").first().waitFor();
  await finding.getByRole("button", { name: "Open a call that shows it" }).click();
  await verdict(page, "escalate", "everything");
  // It follows the text.
  await write(page, "Text of the bundle", RULES);
  await page.locator(".problems", { hasText: "nothing is doubtful" }).waitFor();
  await page.getByRole("button", { name: "Lint" }).click();
  assert.doesNotMatch(await page.locator(".problems").textContent(), /doubtful/);
});

check("a diff shows what becomes looser and what stricter, each with a call", async (page) => {
  const before = (page) => page.getByRole("tab", { name: "Diff" }).click();
  await choose(page, ["callgate.json", RULES]);
  await before(page);
  await page.locator("#panel-diff .quiet", { hasText: "Keep the present documents" }).waitFor();
  await page.getByRole("button", { name: "Keep as before" }).click();
  await page.locator("#panel-diff .count", { hasText: "Equal: both judge every call alike." }).waitFor();
  const rule = (name, within, then) => ({ name, if: { paths: { roles: "read-path", within } }, then, reason: "" });
  const changed = JSON.parse(RULES);
  changed.policy.rules.unshift(rule("open", "/etc", "allow"), rule("closed", "/var", "deny"));
  await write(page, "Text of the bundle", JSON.stringify(changed));
  await page.locator("#panel-diff .count", { hasText: "1 looser, 1 stricter" }).waitFor();
  await page.locator(".looser li", { hasText: "under /etc" }).getByRole("button", { name: "Open such a call" }).click();
  await verdict(page, "allow", "open");
  await before(page);
  await page.locator(".stricter li", { hasText: "under /var" }).getByRole("button").click();
  await verdict(page, "deny", "closed");
  // A link holds what is compared.
  await page.getByRole("button", { name: "Copy link" }).click();
  await page.waitForFunction(() => location.hash.startsWith("#v1="));
  const other = await open({ fragment: new URL(page.url()).hash });
  await before(other);
  await other.locator("#panel-diff .count", { hasText: "1 looser, 1 stricter" }).waitFor();
  await other.done();
  // A policy alone replaces that of the present documents; where regions are not exact, that is said.
  await before(page);
  const pattern = { ...changed, protectedPaths: ["/srv/*-secret/x"] };
  await write(page, "Text of the bundle", JSON.stringify(pattern));
  await page.locator(".unknown", { hasText: "which paths the protected pattern" }).waitFor();
  await chooseFor(page, "#before-file", ["policy.json", JSON.stringify({ rules: [] })]);
  await page.locator("#panel-diff .count", { hasText: "looser" }).waitFor();
  await page.getByRole("button", { name: "Forget" }).click();
  await page.locator("#panel-diff .quiet", { hasText: "Keep the present documents" }).waitFor();
});

check("a file that is gone before it is read is said to be", async (page) => {
  await page.evaluate(() => {
    File.prototype.text = () => Promise.reject(new DOMException("", "NotReadableError"));
  });
  await choose(page, ["callgate.json", RULES]);
  await page.locator("#announcement", { hasText: "A file cannot be read" }).waitFor();
});

check("nothing of the analysis is loaded before it is needed", async (page) => {
  const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  await verdict(page, "allow", "allow-read-documents");
  assert.ok(!(await loaded()).some((name) => /analysis|worker-/.test(name.split("/").at(-1)) && /analysis/.test(name)));
  const asked = page.waitForRequest(/analysis-.*\.wasm$/);
  await map(page);
  await asked;
});
