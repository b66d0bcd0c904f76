// Environments of Python's, of files of requirements with hashes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

// A connection that stalls is given up, and tried again.
const FLAGS = ["--quiet", "--timeout=60", "--no-deps", "--require-hashes", "--only-binary", ":all:"];

/** Why an environment cannot be had, or nothing if it can. It is installed anew where it is missing or its files have changed. */
export function whyNoVenv(venv, files) {
  const stamp = `${venv}/installed`;
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  const wanted = hash.digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return undefined;
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(venv, { recursive: true });
  const install = [`${venv}/bin/python`, "-m", "pip", "install", ...FLAGS];
  const steps = [["python3", "-m", "venv", venv], ...files.map((file) => [...install, "-r", file])];
  for (const [command, ...args] of steps) {
    const { status, error, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) return `${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`;
  }
  writeFileSync(stamp, wanted);
  return undefined;
}
