// Every example, and every program in the pages, prints what its last comment says.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { hasChromium, isThere, run, serve, startChromium } from "./tools/hosts.mjs";

const JS = fileURLToPath(new URL("..", import.meta.url));
const examples = join(JS, "examples");

/** Runs a program in an empty directory, and compares its output with its last comment. */
function prints(program, directory) {
  const [, , expected] = /^(.*)^\/\/ Prints:\n((?:\/\/ .*\n)+)$/ms.exec(readFileSync(program, "utf8"));
  assert.equal(run("node", [program], { cwd: directory }), expected.replaceAll(/^\/\/ /gm, ""));
}

function withDirectory(use) {
  const directory = mkdtempSync(join(tmpdir(), "callgate-example-"));
  const done = () => rmSync(directory, { recursive: true, force: true });
  return Promise.resolve(use(directory)).finally(done);
}

for (const name of readdirSync(examples).filter((name) => name.endsWith(".mjs"))) {
  test(`the example ${name}`, () => withDirectory((directory) => prints(join(examples, name), directory)));
}

test("the programs of the pages", () =>
  withDirectory((directory) => {
    const pages = ["README.md", "MIGRATING.md", "TOOLS.md"].map((name) => readFileSync(join(JS, name), "utf8"));
    const programs = pages.flatMap((page) => [...page.matchAll(/^```js\n(.*?)^```$/gms)]);
    assert.ok(programs.length > 0);
    // Programs find the package as if it were installed.
    run("mkdir", [join(directory, "node_modules")]);
    symlinkSync(JS, join(directory, "node_modules/callgate"));
    symlinkSync(join(JS, "node_modules/@modelcontextprotocol"), join(directory, "node_modules/@modelcontextprotocol"));
    for (const [index, [, text]] of programs.entries()) {
      const program = join(directory, `${index}.mjs`);
      writeFileSync(program, text);
      prints(program, directory);
    }
  }));

test("the program of the project's page", () =>
  withDirectory((directory) => {
    const [, text, expected] = /^```js\n(.*?\/\/ (.*?)\n)```$/ms.exec(readFileSync(join(JS, "../README.md"), "utf8"));
    run("mkdir", [join(directory, "node_modules")]);
    symlinkSync(JS, join(directory, "node_modules/callgate"));
    const tools = [{ toolName: "read_text_file", args: { path: "read-path" } }];
    const annotations = { servers: { filesystem: { tools } } };
    const bundle = { policy: { rules: [] }, annotations, protectedPaths: ["~/.ssh"] };
    writeFileSync(join(directory, "callgate.json"), JSON.stringify(bundle));
    writeFileSync(join(directory, "page.mjs"), text);
    assert.equal(run("node", [join(directory, "page.mjs")], { cwd: directory }), `${expected}\n`);
  }));

test("the example in a page", { timeout: 120_000 }, async (t) => {
  if (!isThere(t, "Chromium", hasChromium())) {
    return;
  }
  const pages = { "/index.html": readFileSync(join(examples, "browser/index.html")) };
  await withDirectory(async (directory) => {
    run("mkdir", [join(directory, "node_modules")]);
    symlinkSync(JS, join(directory, "node_modules/callgate"));
    const [server, browser] = await Promise.all([serve(directory, pages), startChromium()]);
    try {
      const page = await browser.newPage();
      await page.goto(`${server.origin}/index.html`);
      await page.waitForFunction(() => globalThis.document.querySelector("#verdict").textContent !== "");
      const verdict = JSON.parse(await page.textContent("#verdict"));
      assert.equal(verdict.decision, "escalate");
      assert.equal(verdict.rule, "structural-domain-escalate");
    } finally {
      await browser.close();
      server.close();
    }
  });
});
