import { homedir } from "node:os";
import { initSync, GitSnapshot as Module, __wbg_reset_state as resetState } from "../../wasm/git.js";
import { CallgateError } from "../errors.js";
import { type GitIgnore, type Host, HostError } from "../host.js";
import { member, members, reading } from "../members.js";
import { Disk } from "./node/files.js";
import { isDirectory, readLink, realpath } from "./node/filesystem.js";
import { type Reading, setReading } from "./reading.js";

/** The directories of a host that differ from this process's own. */
export interface NodeHostOptions {
  /** Default: the process's home directory. Where that is not a POSIX path, as on Windows, no path can be judged. */
  readonly homeDir?: string;
  /** Default: the process's working directory, read again for each question. */
  readonly currentDir?: string;
}

/**
 * A host that answers for this machine's filesystem and git. Git's configuration is read as git reads it, and no
 * process is started. Configuration that git would refuse, or would ignore because another user owns it, is an error.
 */
export function createNodeHost(options: NodeHostOptions = {}): Host {
  return reading("options", () => {
    if (typeof options !== "object" || options === null) {
      throw new CallgateError("invalid-argument", "the options are not an object");
    }
    const given = members(options, ["homeDir"]);
    if (given.homeDir === undefined && !homedir().startsWith("/")) {
      return elsewhere();
    }
    const homeDir = given.homeDir ?? homedir();
    const ownConfigDir = given.homeDir === undefined ? process.env.XDG_CONFIG_HOME : undefined;
    const disk = new Disk(homeDir, ownConfigDir || `${homeDir}/.config`);
    const read = <Answer>(ask: (reading: Reading) => Answer): Answer => {
      const reading = begin(disk);
      try {
        return ask(reading);
      } finally {
        reading.end();
      }
    };
    const host: Host = Object.freeze({
      homeDir,
      get currentDir() {
        return member(options, "currentDir") ?? process.cwd();
      },
      ignoresPathCase: process.platform === "darwin" || process.platform === "win32",
      realpath,
      readLink,
      isDirectory,
      gitRemoteUrls: (repository: string, remote: string) => read((git) => git.gitRemoteUrls(repository, remote)),
      gitDefaultRemoteUrls: (repository: string) => read((git) => git.gitDefaultRemoteUrls(repository)),
      gitUrl: (repository: string, url: string) => read((git) => git.gitUrl(repository, url)),
      gitBranch: (repository: string) => read((git) => git.gitBranch(repository)),
      gitPushRefs: (repository: string, remote: string, reference: string) =>
        read((git) => git.gitPushRefs(repository, remote, reference)),
      gitCheckIgnore: (path: string) => read((git) => git.gitCheckIgnore(path)),
    });
    setReading(host, () => begin(disk));
    return host;
  });
}

/** A host of a machine whose paths are not those of POSIX: it has no answer about its disk, so a call that needs one is denied. */
function elsewhere(): Host {
  const fail = (): never => {
    throw new HostError("the paths of this machine are not those of POSIX");
  };
  return Object.freeze({
    homeDir: NOWHERE,
    currentDir: NOWHERE,
    ignoresPathCase: true,
    realpath: fail,
    readLink: fail,
    isDirectory: fail,
    gitRemoteUrls: fail,
    gitDefaultRemoteUrls: fail,
    gitUrl: fail,
    gitBranch: fail,
    gitPushRefs: fail,
    gitCheckIgnore: fail,
  });
}

/** A directory that nobody asks about. */
const NOWHERE = "/nonexistent";

/** Reads git's configuration once, whatever is asked. */
function begin(disk: Disk): Reading {
  let module: Module | undefined;
  const git = <Answer>(ask: (module: Module) => Answer): Answer => {
    try {
      return answered(disk, () => {
        module ??= new Module(disk);
        return ask(module);
      });
    } catch (thrown) {
      if (!(thrown instanceof HostError)) {
        // It was in the module that broke.
        module = undefined;
      }
      throw thrown;
    }
  };
  return {
    gitRemoteUrls: (repository, remote) => git((module) => module.gitRemoteUrls(repository, remote)),
    gitDefaultRemoteUrls: (repository) => git((module) => module.gitDefaultRemoteUrls(repository)),
    gitUrl: (repository, url) => git((module) => module.gitUrls(repository, url)),
    gitBranch: (repository) => git((module) => module.gitBranch(repository)),
    gitPushRefs: (repository, remote, reference) => git((module) => module.gitPushRefs(repository, remote, reference)),
    gitCheckIgnore: (path) => git((module) => module.gitCheckIgnore(path) as GitIgnore | undefined),
    end: () => module?.free(),
  };
}

/** Where git's module comes from. */
let load: (() => BufferSource) | undefined;
/** `true` once git's module is loaded. Most processes never need it. */
let isLoaded = false;

/**
 * Sets where git's module comes from when it is first needed.
 *
 * @internal
 */
export function provideGit(source: () => BufferSource): void {
  load ??= source;
}

/** Asks git's module, which throws a string if the answer is not certain. */
function answered<Answer>(disk: Disk, ask: () => Answer): Answer {
  // If a name is not UTF-8, Node puts this character in place of its bytes.
  if (`${disk.homeDir}${disk.configDir}`.includes("\ufffd")) {
    throw new HostError("the directory of the user's configuration is not UTF-8");
  }
  if (!isLoaded) {
    if (load === undefined) {
      throw new HostError("git's module is not loaded");
    }
    initSync({ module: load() });
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
