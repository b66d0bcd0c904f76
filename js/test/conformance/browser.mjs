// The package in headless Chromium: a line of standard input is a batch, a line of standard output its outcomes.
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { hasChromium, serve, startChromium } from "../tools/hosts.mjs";

const PAGE = `<!doctype html>
<script type="importmap">{ "imports": { "callgate": "/dist/web.js", "callgate/tools": "/dist/tools-web.js" } }</script>
<script type="module">
  import { init } from "callgate";
  import { init as initTools } from "callgate/tools";
  import { run } from "/test/conformance/session.mjs";
  await Promise.all([init(), initTools()]);
  // The scripts of cases make bytes with this function of Node.
  globalThis.Buffer = { from: (text) => new TextEncoder().encode(text) };
  globalThis.run = run;
</script>`;

if (!hasChromium()) {
  process.stderr.write("Chromium is missing\n");
  process.exit(69);
}
const server = await serve(fileURLToPath(new URL("../..", import.meta.url)), { "/": PAGE });
const browser = await startChromium();
const page = await browser.newPage();
// Whatever the page lacks would else be missed until the time is up.
for (const event of ["pageerror", "requestfailed"]) {
  page.on(event, (what) => {
    process.stderr.write(`the page fails: ${what instanceof Error ? what.stack : what.url()}\n`);
    process.exit(70);
  });
}
await page.goto(server.origin);
await page.waitForFunction(() => globalThis.run !== undefined);
for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
  process.stdout.write(`${await page.evaluate((text) => globalThis.run(text), line)}\n`);
}
await browser.close();
server.close();
