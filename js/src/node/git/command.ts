import { execFileSync } from "node:child_process";
import { HostError } from "../../host.js";
import { type Entry, isOfInterest } from "./entries.js";
import { MAX_BYTES } from "./files.js";

/** How long git may take, in milliseconds. */
const TIMEOUT = 5_000;

/** The whole configuration as git reads it in a directory, less the sections without a part in this. */
export function listedByGit(directory: string, home: string): Entry[] {
  const listed = run(directory, ["config", "--list", "--includes", "-z"], Buffer.from(home, "latin1").toString());
  return listed
    .split("\0")
    .slice(0, -1)
    .map((item) => {
      const cut = item.indexOf("\n");
      return cut === -1 ? { key: item, value: undefined } : { key: item.slice(0, cut), value: item.slice(cut + 1) };
    })
    .filter(isOfInterest);
}

/** The branch that is checked out, as git tells it; `undefined` when the head is detached. */
export function branchByGit(directory: string): string | undefined {
  const name = run(directory, ["rev-parse", "--symbolic-full-name", "HEAD"], undefined).trim();
  return name.startsWith("refs/heads/") ? name.slice("refs/heads/".length) : undefined;
}

/**
 * What git says, as a binary string. Nothing of this process's environment reaches it but where programs are; a
 * relative place among these is left out, since it would be one in the directory that is asked about.
 */
function run(directory: string, args: readonly string[], home: string | undefined): string {
  const path = (process.env.PATH ?? "").split(":").filter((place) => place.startsWith("/"));
  const env = {
    PATH: path.join(":"),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    ...(home === undefined ? {} : { HOME: home }),
    ...(process.env.XDG_CONFIG_HOME === undefined ? {} : { XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME }),
  };
  try {
    const stdio: ("ignore" | "pipe")[] = ["ignore", "pipe", "ignore"];
    const out = execFileSync("git", args, { cwd: directory, env, stdio, timeout: TIMEOUT, maxBuffer: MAX_BYTES });
    return out.toString("latin1");
  } catch (thrown) {
    throw new HostError(`\`git ${args[0]}\` failed: ${String((thrown as { code?: unknown }).code ?? "an error")}`);
  }
}
