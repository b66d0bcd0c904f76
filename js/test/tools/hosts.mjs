// Commands, a browser, and a web server for it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of everything that is built or installed for the tests. */
export const TARGET = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../../target", import.meta.url));

/** The command, as `cargo test` builds it. */
export const NATIVE = join(TARGET, "debug/callgate");

/**
 * Debian's packages of Chromium, which have programs of the same names. The one without windows takes a fifth less of the
 * processor.
 */
export const CHROMIUM = ["chromium-headless-shell", "chromium"];

/** No connections to other machines, and none of the user's own settings. */
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

/** Runs a command and returns its output. If it fails, the error shows everything that it printed. */
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

/** Returns `isFound`. If it is `false`, skips the test, or fails under `CI=true`. */
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

/** The path of Chromium, if it is there. */
function chromiumPath() {
  const places = CHROMIUM.map((name) => `/usr/bin/${name}`);
  return (process.env.CHROMIUM === undefined ? places : [process.env.CHROMIUM]).find(existsSync);
}

export function hasChromium() {
  return chromiumPath() !== undefined;
}

/** Debian's program that runs those for the processor of `callgate-…-aarch64`. */
export const QEMU = "/usr/bin/qemu-aarch64-static";

/** Returns `true` if programs for that processor run here. */
export const hasQemu = () => process.arch === "arm64" || existsSync(QEMU);

/** Debian's registry of OCI, out of its package: who installs that has a service as well. */
export const REGISTRY = join(TARGET, "docker-registry/usr/bin/docker-registry");

/** Returns `true` if it is there. */
export const hasRegistry = () => existsSync(REGISTRY);

/** Returns `true` if a program is there that tests run without a module of JavaScript, such as a shell. */
export const hasProgram = (name) => spawnSync(name, ["--version"], { stdio: "ignore" }).error === undefined;

/** Starts a headless Chromium with a new profile. */
export async function startChromium() {
  const { chromium } = await import("playwright-core");
  // With an empty name, the profile is a temporary directory.
  return chromium.launchPersistentContext("", { executablePath: chromiumPath(), args: FLAGS });
}

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/**
 * Serves the files of a folder, and `pages` by their path, to this machine only. `types` replaces the content types of
 * some extensions, and `headers` are sent with every file.
 */
export async function serve(folder, pages = {}, types = {}, headers = {}) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const page = pages[pathname];
    try {
      const content = page ?? (await readFile(join(folder, normalize(pathname))));
      const type = page === undefined ? extname(pathname) : extname(pathname) || ".html";
      const contentType = { ...TYPES, ...types }[type] ?? "application/octet-stream";
      response.writeHead(200, { ...headers, "content-type": contentType });
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
