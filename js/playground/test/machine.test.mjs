// The machine that calls are judged on.
import assert from "node:assert/strict";
import { after } from "node:test";
import { argument, check, example, fragmentOf, RULES, stop, verdict, write } from "./page.mjs";

after(stop);

check("the machine is a tree that is edited by keys", async (page) => {
  await page.getByRole("tab", { name: "Machine" }).click();
  assert.equal(await page.locator(".links path.head").count(), 2);
  const root = page.getByRole("treeitem", { name: "/", exact: false }).first();
  await root.focus();
  await page.keyboard.press("End");
  await page.locator(".entry-form h2", { hasText: "/tmp" }).waitFor();
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
  await page.locator(".entry-form h2", { hasText: "/home/v" }).waitFor();
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

check("nothing is replaced without a word, and no machine is written that cannot be one", async (page) => {
  await page.getByRole("tab", { name: "Machine" }).click();
  const said = (text) => page.locator("#announcement", { hasText: text }).waitFor();
  const rows = await page.locator(".entry").count();
  await page.locator(".entry", { hasText: "README.md" }).click();
  const name = page.getByLabel("Name", { exact: true });
  for (const [text, why] of [
    ["policy.json", "There is already something at /home/u/app/policy.json"],
    ["docs", "There is already something at /home/u/app/docs"],
    ["..", "A name is not empty, `.` or `..`"],
    [".", "A name is not empty, `.` or `..`"],
    ["a/b", "has no `/` in it"],
  ]) {
    await name.fill(text);
    await name.press("Enter");
    await said(why);
    assert.equal(await name.inputValue(), "README.md");
  }
  await page.locator(".entry", { hasText: "docs" }).first().click();
  for (const [kind, text] of [
    ["link", "keys"],
    ["file", "plan.md"],
    ["directory", ".."],
    ["file", "/home/u/.ssh"],
  ]) {
    await page.getByLabel("Name of what is added").fill(text);
    await page.getByLabel("Where the new link leads").fill("/etc");
    await page.getByRole("button", { name: `Add ${kind}` }).click();
    await said("There is already something at");
    await page.locator("#announcement").evaluate((element) => element.replaceChildren());
  }
  await page.locator(".entry", { hasText: "README.md" }).click();
  await page.locator(".entry .name").first().click();
  await page.getByLabel("Home directory").fill("nowhere");
  await page.keyboard.press("Enter");
  await said("absolute");
  assert.equal(await page.getByLabel("Home directory").inputValue(), "/home/u");
  assert.equal(await page.locator(".entry").count(), rows);
  assert.equal(await page.locator("#panel-machine .error").textContent(), "");
  await verdict(page, "allow", "allow-read-documents");
});

check("a push URL is where a push goes", async (page) => {
  await example(page, "Six bypasses of naive engines", "8 of 8");
  await page.getByRole("tab", { name: "Scenarios" }).click();
  await page.getByRole("button", { name: "git/git_push" }).first().click();
  await verdict(page, "escalate", "ask-to-push");
  await page.getByRole("tab", { name: "Machine" }).click();
  await page.locator(".entry", { hasText: "app" }).first().click();
  const urls = page.getByLabel("Push URLs, if they are others");
  assert.equal(await urls.inputValue(), "origin https://collector.example/acme/app.git");
  await urls.fill("");
  await page.keyboard.press("Tab");
  await verdict(page, "allow", "push-to-our-forge");
});

const machine = (fs) => ({
  files: { "callgate.json": RULES },
  machine: JSON.stringify({ home: "/h", cwd: "/h", fs }),
  call: "{}",
  scenarios: [],
});

check(
  "a path of 2,000 directories is drawn as far as rows are, and so is a long list",
  async (page) => {
    await page.getByRole("tab", { name: "Machine" }).click();
    await page.locator(".tree-box", { hasText: /and 1,\d+ more; the JSON has all of them/ }).waitFor();
    assert.equal(await page.locator(".entry").count(), 1000);
    await page.locator(".entry").first().focus();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowLeft");
    await page.locator('.entry[aria-selected="true"]').waitFor();
  },
  { fragment: fragmentOf(machine({ dirs: [`/${Array(2000).fill("a").join("/")}`] })) },
);

check(
  "each link is drawn within the box, a dangling one as a stub, and a loop is called one",
  async (page) => {
    await page.setViewportSize({ width: 900, height: 700 });
    await page.getByRole("tab", { name: "Machine" }).click();
    await page.locator(".entry", { hasText: "round" }).locator(".tag", { hasText: "a loop" }).waitFor();
    await page.locator(".entry", { hasText: "gone" }).locator(".tag", { hasText: "leads nowhere" }).waitFor();
    assert.equal(await page.locator(".links path.head:not(.broken)").count(), 1);
    assert.equal(await page.locator(".links path.head.broken").count(), 2);
    const [drawing, lines, box] = await page.evaluate(() => {
      const right = (element) => element.getBoundingClientRect().right;
      const paths = [...document.querySelectorAll(".links path")];
      const box = document.querySelector(".tree-box");
      return [
        right(document.querySelector(".links")),
        Math.max(...paths.map(right)),
        [box.scrollWidth, box.clientWidth],
      ];
    });
    assert.ok(box[0] > box[1], "the box has to be scrolled");
    assert.ok(lines <= drawing, `${lines} of ${drawing}`);
    await page.locator(".entry", { hasText: "round" }).click();
    await page.locator(".entry-form", { hasText: "It is a loop" }).waitFor();
  },
  {
    fragment: fragmentOf(
      machine({
        files: [
          "/h/a/directory/with/a/long/name/and/more/of/it/down/here/is/the/file-of-which-the-name-is-long-too.txt",
        ],
        links: { "/h/way": "/h/a/directory/with", "/h/gone": "/nowhere", "/h/round": "/h/round" },
      }),
    ),
  },
);

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
