import { CallgateError } from "./errors.js";
import { member, reading } from "./members.js";
import { isWellFormed } from "./wasm/text.js";

/** Why a path has no canonical form, for hosts that return this instead of throwing. */
export interface RealpathFailure {
  readonly error: "not-found" | "loop" | "denied" | "not-utf8" | "other";
  /**
   * With `not-found`: the deepest ancestor that exists, if the host knows it. Everything between it and the path is
   * missing, so the engine need not ask about it.
   */
  readonly nearest?: string;
}

/**
 * What git's ignore files say of a path. `ignored`: the last pattern that matches it excludes it, or a directory above it; `included`:
 * that pattern begins with `!`; `unmentioned`: no pattern matches it, or it is outside of a repository.
 */
export type GitIgnore = "ignored" | "included" | "unmentioned";

/**
 * Answers the engine's questions about the machine. Paths, both given and returned, are absolute POSIX paths without
 * `.`, `..`, `//` or a trailing `/`.
 *
 * If a callback throws, or returns something other than its type says (a promise, a relative path), the verdict is
 * `deny` with rule `structural-host-error`. Each distinct question is asked at most once in one evaluation.
 */
export interface Host {
  /** The directory that `~` stands for. Read when an engine is built. */
  readonly homeDir: string;
  /** The directory that relative paths are relative to. Read when an engine is built. */
  readonly currentDir: string;
  /**
   * `true` if names that differ only in case or Unicode composition may be one file, as on macOS and Windows. That is
   * the default: names are folded only where a comparison can deny.
   */
  readonly ignoresPathCase?: boolean;
  /**
   * The canonical form of an existing path, free of links, or why it has none.
   *
   * A thrown error with a `code` of the operating system (`ENOENT`, `ELOOP`, `EACCES`, …) counts as such an answer, so
   * `fs.realpathSync.native` can be a host's `realpath`.
   */
  realpath(path: string): string | RealpathFailure;
  /**
   * The target of the symbolic link at the path; `undefined` if there is no link at the path. A host that cannot tell
   * throws: a link that is taken for a missing file would let a write leave the sandbox.
   */
  readLink(path: string): string | undefined;
  /** Returns `true` if the path is an existing directory; `undefined` if that is not known. */
  isDirectory(path: string): boolean | undefined;
  /** Every URL that git would fetch from or push to for this remote; empty if there is no such remote. */
  gitRemoteUrls(repository: string, remote: string): readonly string[];
  /** The same for the remotes that a fetch or a push without an argument would use. */
  gitDefaultRemoteUrls(repository: string): readonly string[];
  /**
   * Every URL that git would fetch from or push to if it were given this one: after `insteadOf` and `pushInsteadOf`,
   * and those of a remote that has this URL as its name. Without any of these, the URL itself.
   */
  gitUrl(repository: string, url: string): readonly string[];
  /**
   * The short name of the branch that is checked out; empty if the head is detached. Without a repository there is no
   * answer, and the host throws.
   */
  gitBranch(repository: string): string;
  /**
   * The refs on the other side that a push of this reference to this remote updates because git's configuration says so,
   * beyond the ref of the same name: by `remote.<name>.push`, `push.default` and `branch.<name>.merge`. Each is named as a
   * refspec names its destination, such as `refs/heads/main`. The remote is a name, a URL, or empty for the default
   * remote, and an empty reference stands for a push without one. `undefined` if the refs cannot be told, which meets
   * every restriction. Outside of a repository git pushes nothing.
   */
  gitPushRefs(repository: string, remote: string, reference: string): readonly string[] | undefined;
  /**
   * What git's ignore files say of the path, as `git check-ignore --no-index` has it: each `.gitignore` from the top of its work tree
   * down to it, `.git/info/exclude`, and `core.excludesFile`. `undefined` if that cannot be told; it then counts as strictly as any
   * answer.
   */
  gitCheckIgnore(path: string): GitIgnore | undefined;
  /**
   * Returns `true` if the predicate that a world calls `host:<name>` holds. The subject is JSON text: `{mode, tool,
   * command, root_key, subdirectory, address, host}`. Without this method, whatever depends on a predicate is denied.
   */
  condition?(name: string, subject: string): boolean;
}

/**
 * The host's directories, which may be accessors.
 *
 * @throws {@link CallgateError} `invalid-argument` if they are not text.
 */
export function directoriesOf(host: Host): Pick<Host, "homeDir" | "currentDir"> {
  return reading("host", () => {
    const directory = (name: "homeDir" | "currentDir"): string => {
      const path = member(host, name);
      if (typeof path !== "string" || !isWellFormed(path)) {
        throw new CallgateError("invalid-argument", `the host's \`${name}\` is not a well-formed string`);
      }
      return path;
    };
    return { homeDir: directory("homeDir"), currentDir: directory("currentDir") };
  });
}

/** The callbacks that every host has. */
const REQUIRED = [
  "realpath",
  "readLink",
  "isDirectory",
  "gitRemoteUrls",
  "gitDefaultRemoteUrls",
  "gitUrl",
  "gitBranch",
  "gitPushRefs",
  "gitCheckIgnore",
] as const satisfies readonly (keyof Host)[];

/**
 * Refuses a host that cannot answer.
 *
 * @throws {@link CallgateError} `invalid-argument` if it lacks a callback.
 */
export function checkHost(host: Host): void {
  reading("host", () => {
    if (typeof host !== "object" || host === null) {
      throw new CallgateError("invalid-argument", "the host is not an object");
    }
    const missing = REQUIRED.filter((name) => typeof member(host, name) !== "function");
    if (missing.length > 0) {
      throw new CallgateError("invalid-argument", `the host lacks ${missing.map((name) => `\`${name}\``).join(", ")}`);
    }
  });
}

/** Thrown by a host to say why it failed. The message is passed on unchanged. */
export class HostError extends Error {
  override readonly name = "HostError";
}

const FAILURES: { readonly [error in RealpathFailure["error"]]: string } = {
  "not-found": "ENOENT ENOTDIR",
  loop: "ELOOP",
  denied: "EACCES EPERM",
  "not-utf8": "EILSEQ",
  other: "EINVAL EIO EMFILE ENAMETOOLONG ENOMEM ESTALE ETIMEDOUT",
};
const BY_CODE: ReadonlyMap<string, RealpathFailure["error"]> = new Map(
  (Object.keys(FAILURES) as RealpathFailure["error"][]).flatMap((error) =>
    FAILURES[error].split(" ").map((code) => [code, error]),
  ),
);

/** The failure that an error code of the operating system means; `undefined` for a code that is not in the table. */
export function failureOf(code: string): RealpathFailure["error"] | undefined {
  return BY_CODE.get(code);
}

let provided: (() => Host) | undefined;
let chosen: Host | undefined;

/** Sets the host to use if none is given and none was chosen. The entry for Node calls this. */
export function provideHost(host: () => Host): void {
  provided = host;
}

/**
 * Chooses the host of plain functions, and of engines that are built without one. `undefined` restores the initial
 * default: this machine in Node, none elsewhere.
 *
 * @throws {@link CallgateError} `invalid-argument` if the host lacks a callback.
 */
export function setDefaultHost(host: Host | undefined): void {
  if (host !== undefined) {
    checkHost(host);
  }
  chosen = host;
}

/** The host to use if none is given. */
export function hostByDefault(): Host | undefined {
  return chosen ?? provided?.();
}
