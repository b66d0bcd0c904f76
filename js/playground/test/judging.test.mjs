// The call, its verdict and how that came about, and the scenarios beside it.
import assert from "node:assert/strict";
import { after } from "node:test";
import { argument, check, choose, EXAMPLES, example, file, lines, RULES, stop, verdict, write } from "./page.mjs";

after(stop);

check("the first example is judged and explained", async (page) => {
  await verdict(page, "allow", "allow-read-documents");
  await page.locator(".value", { hasText: "/home/u/app/docs/plan.md → ../../Documents/plan.md" }).waitFor();
  await page.locator(".canonical", { hasText: "/home/u/Documents/plan.md" }).waitFor();
  await page.locator(".check.passed", { hasText: "protected-paths" }).waitFor();
  await page.locator(".rule.holds", { hasText: "allow-read-documents" }).waitFor();
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

check("a form writes what is typed, an empty text too, and leaves every other value as it stands", async (page) => {
  const properties = {
    path: { type: "string" },
    note: { type: ["string", "null"] },
    size: { type: ["integer", "null"] },
    id: {},
    list: { type: "array" },
  };
  const bundle = JSON.parse(RULES);
  const args = { path: "read-path", note: "none", size: "none", id: "none", list: "none" };
  bundle.annotations.servers.filesystem.tools = [{ toolName: "read_file", inputSchema: { properties }, args }];
  await choose(page, ["callgate.json", JSON.stringify(bundle)]);
  const json = () => page.locator("#panel-call").getByRole("button", { name: "JSON" }).click();
  const form = () => page.locator("#panel-call").getByRole("button", { name: "Form" }).click();
  const text = () => page.getByLabel("Call as JSON").textContent();
  await json();
  const call = '"arguments": {"path": "/srv/app/a", "id": 12345678901234567890, "list": [1.0, 2.50]}';
  await write(page, "Call as JSON", `{"serverName": "filesystem", "toolName": "read_file", ${call}}`);
  await form();
  assert.equal(await argument(page, "id").inputValue(), "12345678901234567890");
  await argument(page, "note").fill("a");
  await argument(page, "note").fill("");
  await argument(page, "size").fill("98765432109876543210");
  await json();
  assert.match(
    await text(),
    /"path": "\/srv\/app\/a",.*"id": 12345678901234567890,.*"list": \[1\.0, 2\.50\],.*"note": "",.*"size": 98765432109876543210 *\}/,
  );
  await form();
  assert.equal(await argument(page, "note").getAttribute("placeholder"), "an empty text");
  await page.getByRole("button", { name: "Leave out note" }).click();
  assert.equal(await argument(page, "note").getAttribute("placeholder"), "absent");
  await argument(page, "path").fill("/etc/passwd");
  await verdict(page, "escalate", "ask");
  await json();
  assert.doesNotMatch(await text(), /note/);
  assert.match(await text(), /12345678901234567890/);
});

check("a name that occurs twice in a call is refused where it stands", async (page) => {
  await page.getByRole("group", { name: "How the call is written" }).getByRole("button", { name: "JSON" }).click();
  const call = (args) => `{"serverName": "filesystem", "toolName": "read_text_file",\n  "arguments": ${args}}`;
  const marked = page.locator("#panel-call .cm-lintRange-error");
  for (const [args, place, mark] of [
    ['{"path": "docs/plan.md", "path": "/etc/shadow"}', "line 2: the key `path` is given twice", '"path"'],
    ['{"path": "docs/plan.md", "p\\u0061th": "/etc/shadow"}', "line 2: the key `path` is given twice", '"p\\u0061th"'],
    ['{"path": "a", "head": {"b": [{"c": 1, "c": 2}]}}', "line 2: the key `c` is given twice", '"c"'],
  ]) {
    await write(page, "Call as JSON", call(args));
    await page.locator('.verdict[data-decision="none"]', { hasText: place }).waitFor();
    assert.equal(await marked.textContent(), mark);
  }
  // A form would show one of the values.
  await page.getByRole("group", { name: "How the call is written" }).getByRole("button", { name: "Form" }).click();
  await page.locator(".form", { hasText: "not one that can be judged" }).waitFor();
  await page.getByRole("group", { name: "How the call is written" }).getByRole("button", { name: "JSON" }).click();
  await write(page, "Call as JSON", call('{"path": "docs/plan.md"}'));
  await verdict(page, "allow", "allow-read-documents");
  assert.equal(await marked.count(), 0);
});

check("a name that occurs twice in a document is refused where it stands", async (page) => {
  const rule = (effect) => `{ "name": "a", "if": {}, "then": "deny", "th\\u0065n": "${effect}", "reason": "" }`;
  await file(page, "policy.json").click();
  await write(page, "Text of the bundle", `{\n  "rules": [${rule("allow")}]\n}`);
  await page.locator(".problems button.error", { hasText: "policy.json:2:" }).waitFor();
  await page.locator(".problems button.error", { hasText: "the key `then` is given twice" }).waitFor();
  await page.locator(".verdict", { hasText: "the bundle has faults" }).waitFor();
});

check("a reason of many lines leaves the page usable", async (page) => {
  const bundle = JSON.parse(RULES);
  bundle.policy.rules[0].reason = "A person decides. ".repeat(300);
  await choose(page, ["callgate.json", JSON.stringify(bundle)]);
  await page.getByLabel("Tool").selectOption("read_file");
  await argument(page, "path").fill("/etc/passwd");
  await page.locator(".verdict .reason", { hasText: "A person decides. A person" }).waitFor();
  const height = await page.locator(".verdict").evaluate((element) => element.clientHeight / innerHeight);
  assert.ok(height < 0.4, `${height} of the window`);
  await page.locator('.verdict[tabindex="0"]').focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => document.querySelector(".verdict").scrollTop > 0);
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

check("every example is as it says", async (page) => {
  for (const [title, count] of Object.entries(EXAMPLES)) {
    await example(page, title, `${count} of ${count} as expected`);
    assert.equal(await page.locator(".problems h2").textContent(), "No problems", title);
  }
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
  await page.locator(".count", { hasText: "5 of 15 not as expected" }).waitFor();
  await page.getByRole("button", { name: "filesystem/read_text_file README.md base64", exact: true }).click();
  await verdict(page, "deny", "structural-unknown-argument");
});

const read = (path) => ({ serverName: "filesystem", toolName: "read_file", arguments: { path: `/srv/app/${path}` } });

for (const [what, scenarios] of [
  ["12,000", Array.from({ length: 12_000 }, (_, at) => ({ call: read(at), expect: "allow" }))],
  [
    "600, each with a machine of its own,",
    Array.from({ length: 600 }, (_, at) => {
      const files = Array.from({ length: 1000 }, (_, file) => `/srv/app/src/${at}-${file}`);
      return {
        call: read(at),
        expect: "allow",
        world: { home: "/root", cwd: "/srv/app", fs: { files } },
      };
    }),
  ],
]) {
  check(`${what} scenarios are judged, and a key does not wait for them`, async (page) => {
    await page.getByRole("tab", { name: "Scenarios" }).click();
    await page.getByRole("button", { name: "Remove all" }).click();
    await choose(page, ["callgate.json", RULES], ["many.jsonl", lines(...scenarios)]);
    await page.locator(".count", { hasText: "Judging…" }).waitFor();
    await page.getByRole("tab", { name: "Call" }).click();
    await page.locator("#panel-call").getByRole("button", { name: "JSON" }).click();
    await write(page, "Call as JSON", JSON.stringify(read("a")));
    await verdict(page, "allow", "structural-sandbox-allow");
    await page.getByRole("tab", { name: "Scenarios" }).click();
    await page.locator(".count", { hasText: `${scenarios.length} of ${scenarios.length} as expected` }).waitFor();
    await page.locator("tbody tr.met").nth(499).waitFor();
    await page.locator(".scenarios", { hasText: /and (?:11,500|100) more, which are judged too/ }).waitFor();
  });
}

check("a scenario is named, and given the rule that is expected of it", async (page) => {
  await page.getByRole("tab", { name: "Scenarios" }).click();
  const row = page.locator("tbody tr").first();
  await row.getByRole("textbox", { name: /^Name of/ }).fill("the plan");
  await page.keyboard.press("Tab");
  await row.locator("select:focus").waitFor();
  await row.getByRole("textbox", { name: /^Rule expected of/ }).fill("another-rule");
  await page.keyboard.press("Enter");
  await page.locator("tr.unmet", { hasText: "the plan" }).waitFor();
  await page.locator(".count", { hasText: "1 of 15 not as expected" }).waitFor();
  await row.getByRole("textbox", { name: /^Rule expected of/ }).fill("");
  await page.keyboard.press("Enter");
  await page.locator(".count", { hasText: "15 of 15 as expected" }).waitFor();
  await page.getByRole("button", { name: "Remove all" }).click();
  await page.locator(".count", { hasText: "No scenario yet" }).waitFor();
});

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
  await argument(page, "path").fill("/srv/7000/a");
  await verdict(page, "allow", "rule-7000");
  await page.getByRole("tab", { name: "Map" }).click();
  await page.locator("#panel-map .count", { hasText: /4,0\d\d allowed/ }).waitFor();
  assert.equal(await page.locator("#panel-map .region").count(), 400);
  await page.locator("#panel-map .warning", { hasText: "regions, of which 4096 were looked at" }).waitFor();
  await page.getByRole("button", { name: "Lint" }).click();
});

check("of ten thousand faults and thousands of values the first are drawn", async (page) => {
  const bundle = JSON.parse(RULES);
  bundle.annotations.servers.filesystem.tools[0].args = { paths: "read-path" };
  const [rule] = bundle.policy.rules;
  const faulty = Array.from({ length: 10_000 }, (_, at) => ({ name: `𝒶${at}`, if: {}, then: "alow", reason: "" }));
  await choose(page, ["callgate.json", JSON.stringify({ ...bundle, policy: { rules: [...faulty, rule] } })]);
  await page.locator(".problems li", { hasText: "more" }).waitFor();
  assert.equal(await page.locator(".problems li").count(), 101);
  await choose(page, ["callgate.json", JSON.stringify(bundle)]);
  await page.locator("#panel-call").getByRole("button", { name: "JSON" }).click();
  const paths = Array.from({ length: 3000 }, (_, at) => `/etc/${at}`);
  const call = { serverName: "filesystem", toolName: "read_file", arguments: { paths } };
  await write(page, "Call as JSON", JSON.stringify(call));
  await page.locator(".values", { hasText: "and 2,800 more" }).waitFor();
  assert.equal(await page.locator(".value").count(), 200);
});

check("the verdict is told before everything else, and an edit builds no form anew", async (page) => {
  const rules = Array.from({ length: 10_000 }, (_, at) => ({
    name: `rule-${at}`,
    if: { paths: { roles: "read-path", within: `/srv/${at}` } },
    then: "allow",
    reason: "",
  }));
  const last = { name: "last", if: {}, then: "escalate", reason: "" };
  const call = { serverName: "filesystem", toolName: "read_file", arguments: { path: "/etc/a" } };
  const scenario = `${JSON.stringify({ call, expect: "escalate" })}\n`;
  await choose(
    page,
    ["callgate.json", JSON.stringify({ ...JSON.parse(RULES), policy: { rules: [...rules, last] } }, null, 1)],
    ["calls.jsonl", scenario.repeat(17)],
  );
  await page.getByLabel("Tool").selectOption("read_file");
  await argument(page, "path").fill("/etc/a");
  await verdict(page, "escalate", "last");
  /** The worker's answers to a change, in their order. */
  const answers = async (change, end) => {
    const told = () => page.evaluate(() => performance.getEntriesByType("mark").map(({ name }) => name));
    await page.evaluate(() => performance.clearMarks());
    await change();
    await page.waitForFunction((end) => performance.getEntriesByName(end).length > 0, end);
    return told();
  };
  // Not a number of scenarios that an example has: those before would be taken for these.
  await page.locator("#tab-scenarios", { hasText: "17 of 17" }).waitFor();
  await page.locator(".walk", { hasText: "more that do not hold" }).waitFor();
  assert.deepEqual(await answers(() => argument(page, "path").press("x"), "explained"), ["judged", "explained"]);
  await page.getByLabel("Text of the bundle").click();
  await page.keyboard.press("ControlOrMeta+End");
  const all = ["judged", "built", "explained", "tried"];
  assert.deepEqual(await answers(() => page.keyboard.press("Space"), "tried"), all);
  // Of several keys the last has the whole answer, and each that has a verdict has it before the rest.
  const several = await answers(() => page.keyboard.type("     "), "tried");
  assert.equal(several[0], "judged");
  assert.deepEqual(several.slice(-4), all);
});
