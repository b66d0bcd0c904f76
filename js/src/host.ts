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
   * The canonical form of an existing path, free of links, or why it has none.
   *
   * An error that is thrown with a `code` of the operating system (`ENOENT`, `ELOOP`, `EACCES`, …) is such an answer
   * too, so that `fs.realpathSync.native` is a host's `realpath`.
   */
  realpath(path: string): string | RealpathFailure;
  /** The target of the symbolic link at the path; `undefined` if there is no link at the path. */
  readLink?(path: string): string | undefined;
  /** Whether the path is an existing directory; `undefined` if that is not known. */
  isDirectory?(path: string): boolean | undefined;
  /** Every URL that a git remote stands for, to fetch from and to push to. Empty: no such remote. */
  gitRemoteUrls(repository: string, remote: string): readonly string[];
  /** The same for the remotes that a fetch or push without an argument would use. */
  gitDefaultRemoteUrls(repository: string): readonly string[];
  /** A URL after git's `insteadOf`, to fetch from and to push to where they differ. Default: the URL itself. */
  gitUrl?(repository: string, url: string): readonly string[];
  /**
   * Whether the predicate that a world calls `host:<name>` holds. The subject is JSON text: `{mode, tool, command,
   * root_key, subdirectory, address, host}`. Without this, whatever depends on such a predicate is denied.
   */
  condition?(name: string, subject: string): boolean;
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

/** What an error code of the operating system means; `undefined` for a code that is not in the table. */
export function failureOf(code: string): RealpathFailure["error"] | undefined {
  return BY_CODE.get(code);
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
