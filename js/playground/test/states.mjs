// States of the page that are looked at: by axe, and against a picture that a person has seen.
import { argument, example, file, verdict, write } from "./page.mjs";

const explained = (page) => page.locator(".stage").last().waitFor();

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
  ["phone", { wide: false }, explained],
  [
    "phone-machine",
    { wide: false, scheme: "dark" },
    async (page) => {
      await page.getByRole("tab", { name: "Machine" }).click();
      await page.getByRole("tab", { name: "Scenarios" }).click();
    },
  ],
];
