// Clients and servers that are not among the package's own dependencies, installed under `TARGET` with the versions of lock files.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { TARGET } from "../../tools/hosts.mjs";

const FOLDER = `${TARGET}/mcp-clients`;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Why the clients cannot be had, or nothing if they can. They are installed if they are missing. */
export const whyNoClients = () => whyNotInstalled(here("."), FOLDER);

/** Installs the packages of a lock file into a folder, where they are missing. Why they cannot be had, or nothing if they can. */
export function whyNotInstalled(source, folder, options = []) {
  const stamp = join(folder, "installed");
  const wanted = createHash("sha256")
    .update(readFileSync(join(source, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return undefined;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(source, name), join(folder, name));
  // No package runs a program of its own.
  // A connection that stalls is given up, and tried again.
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-timeout=60000", ...options];
  const { status, error, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) return `npm ${args.join(" ")} failed: ${error?.message ?? stderr}`;
  writeFileSync(stamp, wanted);
  return undefined;
}

/** A module of these clients. */
export const load = (name) => {
  const resolved = createRequire(`${FOLDER}/package.json`).resolve(name);
  return import(pathToFileURL(resolved));
};

export const INSPECTOR = `${FOLDER}/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
