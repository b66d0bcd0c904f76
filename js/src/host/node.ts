import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import {
  gitBranch,
  gitDefaultRemoteUrls,
  gitRemoteUrls,
  gitUrls,
  initSync,
  __wbg_reset_state as resetState,
} from "../../wasm/git.js";
import { type Host, HostError } from "../host.js";
import { Disk } from "./node/files.js";
import { isDirectory, readLink, realpath } from "./node/filesystem.js";

/** The directories of a host that differ from this process's own. */
export interface NodeHostOptions {
  /** Default: the process's home directory. */
  readonly homeDir?: string;
  /** Default: the process's working directory, read again for each question. */
  readonly currentDir?: string;
}

/**
 * A host that answers for this machine's filesystem and git. Git's configuration is read as git reads it, and no
 * process is started. Configuration that git would refuse, or would ignore because another user owns it, is an error.
 */
export function createNodeHost(options: NodeHostOptions = {}): Host {
  const homeDir = options.homeDir ?? homedir();
  const ownConfigDir = options.homeDir === undefined ? process.env.XDG_CONFIG_HOME : undefined;
  const disk = new Disk(homeDir, ownConfigDir || `${homeDir}/.config`);
  return Object.freeze({
    homeDir,
    get currentDir() {
      return options.currentDir ?? process.cwd();
    },
    ignoresPathCase: process.platform === "darwin" || process.platform === "win32",
    realpath,
    readLink,
    isDirectory,
    gitRemoteUrls: (repository: string, remote: string) => git(disk, () => gitRemoteUrls(disk, repository, remote)),
    gitDefaultRemoteUrls: (repository: string) => git(disk, () => gitDefaultRemoteUrls(disk, repository)),
    gitUrl: (repository: string, url: string) => git(disk, () => gitUrls(disk, repository, url)),
    gitBranch: (repository: string) => git(disk, () => gitBranch(disk, repository)),
  });
}

/** `true` once git's module is loaded. Most processes never need it. */
let isLoaded = false;

/** Asks git's module, which throws a string if the answer is not certain. */
function git<Answer>(disk: Disk, ask: () => Answer): Answer {
  // If a name is not UTF-8, Node puts this character in place of its bytes.
  if (`${disk.homeDir}${disk.configDir}`.includes("\ufffd")) {
    throw new HostError("the directory of the user's configuration is not UTF-8");
  }
  if (!isLoaded) {
    initSync({ module: readFileSync(new URL("../../wasm/git.wasm", import.meta.url)) });
    isLoaded = true;
  }
  try {
    return ask();
  } catch (thrown) {
    if (typeof thrown === "string") {
      throw new HostError(thrown);
    }
    // The module broke; the next question gets a new one.
    resetState();
    throw thrown;
  }
}
