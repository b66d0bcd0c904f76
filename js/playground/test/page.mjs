// The built page in headless Chromium, below a folder of its own, with everything that it must not do counted as a fault.
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { hasChromium, serve, startChromium } from "../../test/tools/hosts.mjs";

export const DIST = fileURLToPath(new URL("../dist", import.meta.url));

export const skip = hasChromium() || process.env.CI === "true" ? false : "Chromium is missing";

/** What a project hosts beside the page. */
const BESIDE = {
  "/playground/own/callgate.json":
    '{ "sandbox": "src", "policy": "parts/rules.json", "annotations": "parts/tools.json" }',
  "/playground/own/parts/rules.json":
    '{ "rules": [{ "name": "own", "if": { "server": "fs" }, "then": "escalate", "reason": "Ours" }] }',
  "/playground/own/parts/tools.json":
    '{ "servers": { "fs": { "tools": [{ "toolName": "read", "args": { "path": "read-path" } }] } } }',
  "/playground/own/calls.jsonl":
    '{"call": {"serverName": "fs", "toolName": "read", "arguments": {"path": "/etc/hosts"}}, "expect": "escalate"}\n',
};

let server;
let browser;

/** Opens the page. `wide` is a desktop; else it is as wide as a phone. */
export async function open({ fragment = "", wide = true, scheme = "light" } = {}) {
  server ??= await serve(dirname(dirname(DIST)), BESIDE);
  browser ??= await startChromium();
  const page = await browser.newPage();
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
  await page.goto(`${server.origin}/playground/dist/index.html${fragment}`);
  await page.locator(".verdict[data-decision]").waitFor();
  page.setDefaultTimeout(60_000);
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
