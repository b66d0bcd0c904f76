// Questions about all calls: map, lint and diff.
import assert from "node:assert/strict";
import { after } from "node:test";
import { check, choose, chooseFor, file, fragmentOf, open, RULES, stop, verdict, write } from "./page.mjs";

after(stop);

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

const within = (name, directory, then) => ({
  name,
  if: { paths: { roles: "read-path", within: directory } },
  then,
  reason: "",
});
const LINKED = {
  files: {
    "callgate.json": JSON.stringify({
      ...JSON.parse(RULES),
      policy: { rules: [within("system", "/etc", "deny"), within("through", "/way", "escalate")] },
    }),
  },
  machine: JSON.stringify({ home: "/h", cwd: "/h", fs: { dirs: ["/h", "/etc"], links: { "/way": "etc" } } }),
  call: "{}",
  scenarios: [],
};

check(
  "lint follows the links of the machine, as map and diff do",
  async (page) => {
    await page.getByRole("button", { name: "Lint" }).click();
    await page.locator(".problems li", { hasText: "the rule `through` decides nothing" }).waitFor();
  },
  { fragment: fragmentOf(LINKED) },
);

check("a diff shows what becomes looser and what stricter, each with a call", async (page) => {
  const before = (page) => page.getByRole("tab", { name: "Diff" }).click();
  await choose(page, ["callgate.json", RULES]);
  await before(page);
  await page.locator("#panel-diff .quiet", { hasText: "Set the present documents" }).waitFor();
  await page.getByRole("button", { name: "Set as baseline" }).click();
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
  await page.locator("#panel-diff .quiet", { hasText: "Set the present documents" }).waitFor();
});

check("nothing of the analysis is loaded before it is needed", async (page) => {
  const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
  await verdict(page, "allow", "allow-read-documents");
  assert.ok(!(await loaded()).some((name) => /analysis|worker-/.test(name.split("/").at(-1)) && /analysis/.test(name)));
  const asked = page.waitForRequest(/tools-.*\.wasm$/);
  await map(page);
  await asked;
});
