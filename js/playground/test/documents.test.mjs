// The texts of the bundle: what is written, marked and offered.
import assert from "node:assert/strict";
import { after } from "node:test";
import { argument, check, choose, file, RULES, stop, verdict, write } from "./page.mjs";

after(stop);

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

check("a warning leaves the bundle in force", async (page) => {
  await choose(page, ["callgate.json", RULES.replace('"if":{', '"if":{"server":"filesytem",')]);
  await page.locator(".problems button.warning", { hasText: "`filesytem`, which no annotation has" }).waitFor();
  await page.getByLabel("Tool").selectOption("read_file");
  await argument(page, "path").fill("/etc/passwd");
  await verdict(page, "deny", "default-deny");
});
