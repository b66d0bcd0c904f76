import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import {
  gitDefaultRemoteUrls,
  gitRemoteUrls,
  gitUrls,
  initSync,
  __wbg_reset_state as resetState,
} from "../../wasm/git.js";
import { type Host, HostError, type RealpathFailure } from "../host.js";
import { Disk } from "./files.js";
import { isDirectory, readLink, realpath } from "./filesystem.js";

/** Where a host's files are, where that is not this process's own. */
export interface NodeHostOptions {
  /** Default: the process's home directory. */
  readonly homeDir?: string;
  /** Default: the process's working directory, read each time it is asked for. */
  readonly currentDir?: string;
}

/**
 * A host that answers for this machine: the filesystem, and git's configuration, which is read as git reads it. No
 * process is ever started. What git would refuse, or ignore because another user owns it, is an error.
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
    realpath: (path: string): string | RealpathFailure => realpath(path),
    readLink: (path: string) => readLink(path),
    isDirectory: (path: string) => isDirectory(path),
    gitRemoteUrls: (repository: string, remote: string) => git(disk, () => gitRemoteUrls(disk, repository, remote)),
    gitDefaultRemoteUrls: (repository: string) => git(disk, () => gitDefaultRemoteUrls(disk, repository)),
    gitUrl: (repository: string, url: string) => git(disk, () => gitUrls(disk, repository, url)),
  });
}

/** Whether git's module is loaded, which most processes never need. */
let isLoaded = false;

/** What git's module answers. It throws a text where the answer is not certain. */
function git(disk: Disk, ask: () => string[]): string[] {
  // Node has no other text for a directory whose name is not UTF-8.
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
