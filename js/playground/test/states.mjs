// States of the page that are looked at: by axe, and against a picture that a person has seen.
import { argument, choose, example, file, fragmentOf, RULES, verdict, write } from "./page.mjs";

const explained = (page) => page.locator(".stage").last().waitFor();

const rules = (text) => ({
  rules: text.map(([name, within, then]) => ({ name, if: within, then, reason: "Said here" })),
});
const within = (roles, directory) => ({ paths: { roles, within: directory } });

/** A rule that decides nothing, beside one that looks at no argument. */
async function lint(page) {
  await file(page, "policy.json").click();
  const policy = rules([
    ["read-all", { roles: "read-path" }, "allow"],
    ["never-asked", within("read-path", "~/Documents"), "escalate"],
    ["fetch", { server: "fetch" }, "allow"],
  ]);
  await write(page, "Text of the bundle", JSON.stringify(policy, null, 2));
  await page.getByRole("button", { name: "Lint" }).click();
  await page.locator(".problems li", { hasText: "decides nothing" }).waitFor();
  await page.evaluate(() => document.activeElement.blur());
}

/** Something looser, something stricter, and something by another rule. */
async function diff(page) {
  await page.getByRole("tab", { name: "Diff" }).click();
  const before = rules([
    ["open", within("read-path", "~/Documents"), "allow"],
    ["system", within("write-path", "/etc"), "deny"],
    ["ask", { roles: ["read-path", "write-path"] }, "escalate"],
  ]);
  const after = rules([
    ["read-all", within("read-path", "~"), "allow"],
    ["plans", within("write-path", "~/Documents"), "deny"],
    ["ask-anybody", { roles: ["read-path", "write-path"] }, "escalate"],
  ]);
  await file(page, "policy.json").click();
  await write(page, "Text of the bundle", JSON.stringify(before, null, 2));
  await page.getByRole("button", { name: "Set as baseline" }).click();
  await page.locator("#panel-diff .count", { hasText: "Equal" }).waitFor();
  await write(page, "Text of the bundle", JSON.stringify(after, null, 2));
  await page.locator(".change-list.looser").first().waitFor();
  await page.locator("#panel-diff").scrollIntoViewIfNeeded();
  await page.evaluate(() => document.activeElement.blur());
}

/** Links into directories, to nothing and to themselves, in a narrow box. */
const LINKS = fragmentOf({
  files: { "callgate.json": RULES },
  machine: JSON.stringify({
    home: "/home/u",
    cwd: "/srv/app",
    fs: {
      dirs: ["/srv/app/packages/one/of-many-that-have-long-names/src"],
      links: {
        "/srv/app/current": "packages/one/of-many-that-have-long-names",
        "/srv/app/gone": "/mnt/backup/of/last/year",
        "/srv/app/round": "round",
      },
    },
  }),
  call: JSON.stringify({ serverName: "filesystem", toolName: "read_file", arguments: { path: "current/src" } }),
  scenarios: [],
});

export const STATES = [
  ["first", {}, explained],
  ["first-dark", { scheme: "dark" }, explained],
  [
    "denied",
    {},
    async (page) => {
      await example(page, "Six bypasses of naive engines", "8 of 8");
      await verdict(page, "deny", "structural-protected-path");
      await explained(page);
      await page.getByRole("tab", { name: "Machine" }).click();
    },
  ],
  [
    "roles",
    { scheme: "dark" },
    async (page) => {
      await page.getByLabel("Tool").selectOption("move_file");
      await argument(page, "source").fill("~/Documents/plan.md");
      await argument(page, "destination").fill("/etc/plan.md");
      await verdict(page, "deny", "deny-write-system");
      await page.locator(".rule.holds", { hasText: "deny-write-system" }).locator("summary").click();
      await page.locator(".combination").scrollIntoViewIfNeeded();
    },
  ],
  [
    "machine",
    {},
    async (page) => {
      await page.getByRole("tab", { name: "Machine" }).click();
      await page.locator(".entry", { hasText: "keys" }).click();
      await page.getByLabel("Leads to").waitFor();
    },
  ],
  [
    "repository",
    { scheme: "dark" },
    async (page) => {
      await page.getByRole("tab", { name: "Machine" }).click();
      await page.locator(".entry", { hasText: "app" }).first().click();
      await page.getByLabel("Branch").waitFor();
    },
  ],
  [
    "scenarios",
    {},
    async (page) => {
      await example(page, "Mail and shared documents", "5 of 5");
      await page.getByRole("tab", { name: "Scenarios" }).click();
      await page.locator("tbody tr").nth(1).getByRole("combobox").selectOption("allow");
      await page.locator("tr.unmet").waitFor();
    },
  ],
  [
    "faults",
    {},
    async (page) => {
      await file(page, "policy.json").click();
      const rule = '{ "name": "a", "if": { "rolez": "read-path" }, "then": "alow", "reason": "" }';
      await write(
        page,
        "Text of the bundle",
        `// A policy that cannot be one.\n{\n  "rules": [\n    ${rule}\n  ]\n}\n`,
      );
      await page.locator(".problems button.error").nth(1).waitFor();
      await page.locator(".verdict", { hasText: "No verdict" }).waitFor();
    },
  ],
  [
    "completion",
    { scheme: "dark" },
    async (page) => {
      await write(page, "Text of the bundle", '{\n  "options": {}\n}');
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.type('"unk');
      await page.locator(".cm-completionInfo").waitFor();
    },
  ],
  [
    "world-json",
    {},
    async (page) => {
      await example(page, "The same world under a sub-agent's ceiling", "11 of 11");
      await verdict(page, "deny", "structural-capability-ceiling");
      await page.locator("#panel-call").getByRole("button", { name: "JSON" }).click();
      await explained(page);
    },
  ],
  [
    "map",
    {},
    async (page) => {
      await page.getByLabel("Tool").selectOption("write_file");
      await page.getByRole("tab", { name: "Map" }).click();
      await page.locator("#panel-map .region").first().waitFor();
    },
  ],
  [
    "map-tools",
    { scheme: "dark" },
    async (page) => {
      await page.getByRole("tab", { name: "Map" }).click();
      await page.getByLabel("What may be done with").selectOption("every tool");
      await page.locator("#panel-map .reached li").first().waitFor();
    },
  ],
  [
    "map-reach",
    {},
    async (page) => {
      await page.getByRole("tab", { name: "Map" }).click();
      await page.getByLabel("What may be done with").selectOption("every tool");
      await page.getByLabel("Only calls that reach").fill("/etc/passwd");
      await page.locator("#panel-map .reached .region").first().waitFor();
    },
  ],
  [
    "map-git",
    { scheme: "dark" },
    async (page) => {
      await page.getByLabel("Server").selectOption("git");
      await page.getByLabel("Tool").selectOption("git_push");
      await page.getByRole("tab", { name: "Map" }).click();
      const mixed = page.locator("#panel-map .region.mixed", { has: page.locator(".name", { hasText: "home/u/app" }) });
      await mixed.first().click();
    },
  ],
  [
    "map-hosts",
    {},
    async (page) => {
      await page.getByLabel("Server").selectOption("fetch");
      await page.getByRole("tab", { name: "Map" }).click();
      await page.locator("#panel-map .region", { hasText: "docs.rs" }).first().waitFor();
    },
  ],
  [
    "links",
    { fragment: LINKS },
    async (page) => {
      await page.getByRole("tab", { name: "Machine" }).click();
      await page.locator(".entry", { hasText: "round" }).click();
      await page.locator(".entry-form", { hasText: "It is a loop" }).waitFor();
      await explained(page);
    },
  ],
  [
    "long-reason",
    {},
    async (page) => {
      const bundle = JSON.parse(RULES);
      bundle.policy.rules[0].reason = "A person decides. ".repeat(300);
      await choose(page, ["callgate.json", JSON.stringify(bundle, null, 2)]);
      await page.getByLabel("Tool").selectOption("read_file");
      await argument(page, "path").fill("/etc/passwd");
      await page.locator(".verdict .reason", { hasText: "A person decides." }).waitFor();
      await explained(page);
    },
  ],
  ["lint", {}, lint],
  ["diff", {}, (page) => diff(page)],
  ["diff-dark", { scheme: "dark" }, (page) => diff(page)],
  ["phone-diff", { wide: false }, (page) => diff(page)],
  [
    "phone-map",
    { wide: false, scheme: "dark" },
    async (page) => {
      await page.getByRole("tab", { name: "Map" }).click();
      await page.locator("#panel-map .region").first().waitFor();
      await page.locator("#panel-map").scrollIntoViewIfNeeded();
    },
  ],
  ["phone", { wide: false }, explained],
  [
    "phone-machine",
    { wide: false, scheme: "dark" },
    async (page) => {
      await page.getByRole("tab", { name: "Machine" }).click();
      await page.getByRole("tab", { name: "Scenarios" }).click();
    },
  ],
  ["phone-call", { wide: false }, (page) => page.getByRole("button", { name: "↓ Trial" }).click()],
  [
    "phone-explanation",
    { wide: false, scheme: "dark" },
    async (page) => {
      await explained(page);
      await page.locator(".explanation h2").evaluate((element) => element.scrollIntoView());
    },
  ],
  [
    "phone-tree",
    { wide: false },
    async (page) => {
      await page.getByRole("tab", { name: "Machine" }).click();
      await page.locator(".tree-box").evaluate((element) => element.scrollIntoView({ block: "center" }));
    },
  ],
  [
    "phone-scenarios",
    { wide: false },
    async (page) => {
      await page.getByRole("tab", { name: "Scenarios" }).click();
      await page.locator("tbody tr.met").nth(14).waitFor();
      await page.locator("tbody").evaluate((element) => element.scrollIntoView());
    },
  ],
];
