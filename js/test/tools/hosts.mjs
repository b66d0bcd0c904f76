// What tests need of the machine: commands, a browser, a server for it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Nothing that reaches out of this machine, and nothing of a person's own browser. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Runs a command to its end; its output, or an error that shows what it said. */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: "utf8",
    timeout: 120_000,
    ...options,
  });
  if (error !== undefined || status !== 0) {
    throw new Error(`${command} ${args.join(" ")}: ${error ?? status}\n${stdout}\n${stderr}`);
  }
  return stdout;
}

/** Whether what a test needs is there. Where it is not, the test is skipped; under `CI=true` that is a failure. */
export function isThere(test, what, isFound) {
  if (isFound) {
    return true;
  }
  if (process.env.CI === "true") {
    throw new Error(`${what} is missing`);
  }
  test.skip(`${what} is missing`);
  return false;
}

/** Whether there is a Chromium. */
export function hasChromium() {
  return existsSync(CHROMIUM);
}

/** Starts a headless Chromium with a profile of its own. */
export async function startChromium() {
  const { chromium } = await import("playwright-core");
  // Without a name for the directory the profile is a new one, which is removed again.
  return chromium.launchPersistentContext("", { executablePath: CHROMIUM, args: FLAGS });
}

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/**
 * Serves the files of a folder, and pages by their path, on this machine only. `types` replaces the type of files that
 * end so.
 */
export async function serve(folder, pages = {}, types = {}) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const page = pages[pathname];
    try {
      const content = page ?? (await readFile(join(folder, normalize(pathname))));
      const type = page === undefined ? extname(pathname) : extname(pathname) || ".html";
      response.writeHead(200, { "content-type": { ...TYPES, ...types }[type] ?? "application/octet-stream" });
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
