// Clients that are not among the package's own dependencies, installed under `TARGET` with the versions of the lock file here.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { TARGET } from "../../tools/hosts.mjs";

const FOLDER = `${TARGET}/mcp-clients`;
const STAMP = `${FOLDER}/installed`;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Why the clients cannot be had, or nothing if they can. They are installed if they are missing. */
export function whyNoClients() {
  const wanted = createHash("sha256")
    .update(readFileSync(here("package-lock.json")))
    .digest("hex");
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return undefined;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(here(name), join(FOLDER, name));
  // No package runs a program of its own.
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, error, stderr } = spawnSync("npm", args, { cwd: FOLDER, encoding: "utf8" });
  if (status !== 0) return `npm ${args.join(" ")} failed: ${error?.message ?? stderr}`;
  writeFileSync(STAMP, wanted);
  return undefined;
}

/** A module of these clients. */
export const load = (name) => {
  const resolved = createRequire(`${FOLDER}/package.json`).resolve(name);
  return import(pathToFileURL(resolved));
};

export const INSPECTOR = `${FOLDER}/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
