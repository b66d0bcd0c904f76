import { homedir } from "node:os";
import type { Host, RealpathFailure } from "../host.js";
import { isDirectory, readLink, realpath } from "./filesystem.js";
import { Git } from "./git.js";

/** Where a host's files are, where that is not this process's own. */
export interface NodeHostOptions {
  /** Default: the process's home directory. */
  readonly homeDir?: string;
  /** Default: the process's working directory, read each time it is asked for. */
  readonly currentDir?: string;
}

/**
 * A host that answers for this machine: the filesystem, and git's configuration, which is read. No shell is ever
 * started; `git` is, with a cleaned environment, only where a configuration cannot be told by reading it.
 */
export function createNodeHost(options: NodeHostOptions = {}): Host {
  const homeDir = options.homeDir ?? homedir();
  const ownConfigDir = options.homeDir === undefined ? process.env.XDG_CONFIG_HOME : undefined;
  const git = new Git(homeDir, ownConfigDir || `${homeDir}/.config`);
  return Object.freeze({
    homeDir,
    get currentDir() {
      return options.currentDir ?? process.cwd();
    },
    ignoresPathCase: process.platform === "darwin" || process.platform === "win32",
    realpath: (path: string): string | RealpathFailure => realpath(path),
    readLink: (path: string) => readLink(path),
    isDirectory: (path: string) => isDirectory(path),
    gitRemoteUrls: (repository: string, remote: string) => git.remoteUrls(repository, remote),
    gitDefaultRemoteUrls: (repository: string) => git.defaultRemoteUrls(repository),
    gitUrl: (repository: string, url: string) => git.urls(repository, url),
  });
}
