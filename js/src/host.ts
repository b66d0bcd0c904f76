/** Why a path has no canonical form, as a host says it without throwing. */
export interface RealpathFailure {
  readonly error: "not-found" | "loop" | "denied" | "not-utf8" | "other";
  /**
   * With `not-found`, the deepest ancestor that exists, if the host knows: everything below it on the way is missing,
   * and no link. It saves the questions about what lies between.
   */
  readonly nearest?: string;
}

/**
 * What the engine asks of the outside. Paths are absolute, POSIX, without `.`, `..`, `//` or a trailing `/`, in both
 * directions.
 *
 * A callback that throws, or answers with anything else than its type says (a promise, a relative path), makes the
 * verdict `deny` with rule `structural-host-error`. Each distinct question is asked at most once in one evaluation.
 */
export interface Host {
  /** What `~` stands for. Read when an engine is built. */
  readonly homeDir: string;
  /** What relative paths are relative to. Read when an engine is built. */
  readonly currentDir: string;
  /** Whether names that differ only in case or composition may be one file, as on macOS and Windows. */
  readonly ignoresPathCase?: boolean;
  /**
   * The canonical form of an existing path, free of links; or why there is none.
   *
   * An error that is thrown with a `code` of the operating system (`ENOENT`, `ELOOP`, `EACCES`, …) is such an answer
   * too, so that `fs.realpathSync.native` is a host's `realpath`.
   */
  realpath(path: string): string | RealpathFailure;
  /** The target of the symbolic link at the path; `undefined` when it is no link or does not exist. */
  readLink?(path: string): string | undefined;
  /** Whether the path is an existing directory; `undefined` when that cannot be told. */
  isDirectory?(path: string): boolean | undefined;
  /** Every URL that a git remote stands for, to fetch from and to push to. Empty: no such remote. */
  gitRemoteUrls(repository: string, remote: string): readonly string[];
  /** The same for the remotes that a fetch or push without an argument would use. */
  gitDefaultRemoteUrls(repository: string): readonly string[];
  /** A URL after git's `insteadOf`, to fetch from and to push to where they differ. Default: the URL itself. */
  gitUrl?(repository: string, url: string): readonly string[];
  /**
   * Whether the predicate that a world calls `host:<name>` holds. The subject is JSON text: `{mode, tool, command,
   * root_key, subdirectory, address, host}`. Without this, what hangs on such a predicate is denied.
   */
  condition?(name: string, subject: string): boolean;
}

/** What a host may throw to say why it failed: the message is given on as it is. */
export class HostError extends Error {
  override readonly name = "HostError";
}

let provided: (() => Host) | undefined;
let chosen: Host | undefined;

/** Says which host is used where none is given and none was chosen; done by the entry for Node. */
export function provideHost(host: () => Host): void {
  provided = host;
}

/**
 * Chooses the host that plain functions ask, and engines that are given none; `undefined` goes back to the first one:
 * this machine in Node, none elsewhere.
 */
export function setDefaultHost(host: Host | undefined): void {
  chosen = host;
}

/** The host that is used where none is given. */
export function hostByDefault(): Host | undefined {
  return chosen ?? provided?.();
}
