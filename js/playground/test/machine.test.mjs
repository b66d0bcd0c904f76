// The machine that calls are judged on.
import assert from "node:assert/strict";
import { after } from "node:test";
import { argument, check, stop, verdict, write } from "./page.mjs";

after(stop);

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

check("a name that occurs twice in a machine is refused where it stands", async (page) => {
  await page.getByRole("tab", { name: "Machine" }).click();
  await page.locator("#panel-machine").getByRole("button", { name: "JSON" }).click();
  const links = '"links": {"/srv/a": "/etc", "/srv/\\u0061": "/tmp"}';
  await write(page, "Machine as JSON", `{"home": "/h", "cwd": "/",\n "fs": {${links}}}`);
  const fault = "the name `/srv/a` occurs twice, the second time in line 2, column 37";
  await page.locator("#panel-machine .error", { hasText: fault }).waitFor();
  await page.locator(".verdict", { hasText: "the machine has a fault" }).waitFor();
});
