// Installs the frameworks and the package itself into a folder, as a program has them that uses both, and runs these tests there.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { whyNotInstalled } from "../servers/clients/install.mjs";
import { TARGET } from "../tools/hosts.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const JS = join(HERE, "../..");
const FOLDER = join(TARGET, "frameworks");
const PARTS = ["dist", "wasm", "package.json"];

/** Runs a command in the folder; its output is shown. */
function passes(command, ...args) {
  return spawnSync(command, args, { cwd: FOLDER, stdio: "inherit" }).status === 0;
}

function main() {
  // Some bring the programs of every platform, and none of them is run.
  const why = whyNotInstalled(HERE, FOLDER, ["--omit=optional"]);
  if (why !== undefined) {
    console.log(`The frameworks are missing: ${why}`);
    return process.env.CI !== "true";
  }
  const installed = join(FOLDER, "node_modules/callgate");
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed);
  for (const part of PARTS) cpSync(join(JS, part), join(installed, part), { recursive: true });
  for (const [from, to] of [
    [HERE, "tests"],
    [join(JS, "frameworks"), "pages"],
  ]) {
    rmSync(join(FOLDER, to), { recursive: true, force: true });
    cpSync(from, join(FOLDER, to), { recursive: true });
  }
  const { dependencies } = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const { version } = JSON.parse(readFileSync(join(FOLDER, "node_modules", name, "package.json"), "utf8"));
    console.log(`${name} ${version}`);
  }
  const isTyped = passes(join(JS, "node_modules/.bin/tsc"), "--project", "tests/types");
  const asked = process.argv.slice(2).map((name) => `${name}.test.mjs`);
  const all = readdirSync(HERE).filter((name) => name.endsWith(".test.mjs"));
  const tests = (asked.length > 0 ? asked : all).map((name) => join("tests", name));
  const areRight = passes("node", "--test", "--test-timeout=900000", "--test-concurrency=1", ...tests);
  return isTyped && areRight;
}

process.exitCode = main() ? 0 : 1;
