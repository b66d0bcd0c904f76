// The built page in headless Chromium, below a folder of its own, with everything that it must not do counted as a fault.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { hasChromium, serve, startChromium } from "../../test/tools/hosts.mjs";

export const DIST = fileURLToPath(new URL("../dist", import.meta.url));

export const skip = hasChromium() || process.env.CI === "true" ? false : "Chromium is missing";

/** The files that a project hosts beside the page. */
const BESIDE = {
  "/playground/own/callgate.json":
    '{ "sandbox": "src", "tests": "calls.jsonl", "policy": "parts/rules.json", "annotations": "parts/tools.json" }',
  "/playground/own/lacking.json": '{ "tests": ["calls.jsonl", "gone.jsonl"], "policy": "parts/rules.json" }',
  "/playground/own/many.json": JSON.stringify({ tests: Array.from({ length: 100 }, (_, at) => `${at}.jsonl`) }),
  "/playground/own/parts/rules.json":
    '{ "rules": [{ "name": "own", "if": { "server": "fs" }, "then": "escalate", "reason": "Ours" }] }',
  "/playground/own/parts/tools.json":
    '{ "servers": { "fs": { "tools": [{ "toolName": "read", "args": { "path": "read-path" } }] } } }',
  "/playground/own/calls.jsonl":
    '{"call": {"serverName": "fs", "toolName": "read", "arguments": {"path": "/etc/hosts"}}, "expect": "escalate"}\n',
};

/** The headers that the README tells to send with the page. */
export const HEADERS = Object.fromEntries(
  [
    ...readFileSync(new URL("../README.md", import.meta.url), "utf8").matchAll(
      /^(Content-Security-Policy|Referrer-Policy|X-Content-Type-Options): (.*)$/gm,
    ),
  ].map(([, name, value]) => [name, value]),
);

let server;
let browser;

/** Opens the page. `wide` is a desktop; else it is as wide as a phone. */
export async function open({ fragment = "", wide = true, scheme = "light" } = {}) {
  server ??= await serve(dirname(dirname(DIST)), BESIDE, {}, HEADERS);
  browser ??= await startChromium();
  const page = await browser.newPage();
  // A slow machine makes nothing wrong.
  page.setDefaultTimeout(240_000);
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.stack || String(error)));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => {
    if (
      !/^\/playground\/(?:dist|own)\//.test(new URL(request.url()).pathname) ||
      !request.url().startsWith(server.origin) ||
      request.method() !== "GET"
    ) {
      faults.push(`asked for ${request.method()} ${request.url()}`);
    }
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
      console.error(`the policy forbids ${violatedDirective} ${blockedURI} ${sample}`),
    );
  });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
  await page.setViewportSize(wide ? { width: 1400, height: 950 } : { width: 390, height: 844 });
  page.home = `${server.origin}/playground/dist/index.html${fragment}`;
  await page.goto(page.home);
  await page.locator(".verdict[data-decision]").waitFor();
  page.done = async () => {
    const found = [...faults];
    await page.close();
    assert.deepEqual(found, []);
  };
  return page;
}

export async function stop() {
  await browser?.close();
  server?.close();
  browser = undefined;
  server = undefined;
}

/** Waits until the verdict is this one. */
export async function verdict(page, decision, rule) {
  await page.locator(`.verdict[data-decision="${decision}"] .rule-name`, { hasText: rule }).waitFor();
}

/** Replaces what an editor holds, as a person would. */
export async function write(page, label, text) {
  await page.getByLabel(label).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}

/** Chooses an example, and waits for its scenarios. */
export async function example(page, title, count) {
  await page.locator("#examples").selectOption({ label: title });
  await page.locator("#tab-scenarios", { hasText: count }).waitFor();
}

/** The field of an argument in the form. */
export function argument(page, name) {
  return page.locator(`#argument-${name}`);
}

/** The button of a file of the bundle. */
export function file(page, name) {
  return page.locator("#panel-bundle .files button", { hasText: name });
}

/** A test of the page, in which nothing that it must not do may happen. */
export const check = (name, run, options = {}) =>
  test(name, { skip }, async (t) => {
    const page = await open(options);
    try {
      await run(page, t);
    } catch (thrown) {
      // The page's own messages may say why.
      await page.done().catch((why) => {
        thrown.message += `\n${why.message}`;
      });
      throw thrown;
    }
    await page.done();
  });

/** The examples, each with how many scenarios it has. */
export const EXAMPLES = {
  "A coding agent in a project": 15,
  "Six bypasses of naive engines": 8,
  "To begin with: one file": 11,
  "Mail and shared documents": 5,
  "A world of addresses": 11,
  "The same world under a sub-agent's ceiling": 11,
};

/** A bundle in one file, with one rule. */
export const RULES = JSON.stringify({
  sandbox: "/srv/app",
  policy: { rules: [{ name: "ask", if: { roles: "read-path" }, then: "escalate", reason: "A person decides" }] },
  annotations: { servers: { filesystem: { tools: [{ toolName: "read_file", args: { path: "read-path" } }] } } },
});

/** Chooses files as a person does. They are on no disk, from which the page might read them too late. */
export async function choose(page, ...files) {
  await chooseFor(page, "#file", ...files);
}

/** The same for another field. */
export async function chooseFor(page, field, ...files) {
  const given = files.map(([name, text]) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) }));
  await page.locator(field).setInputFiles(given);
}

/** The fragment of a link that holds a state, as somebody else may write one. */
export const fragmentOf = (state) => `#v1=${deflateRawSync(JSON.stringify(state)).toString("base64url")}`;

/** Values as lines of JSON. */
export const lines = (...items) => items.map((item) => `${JSON.stringify(item)}\n`).join("");
