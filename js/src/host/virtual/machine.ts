import { CallgateError } from "../../errors.js";
import type { GitIgnore } from "../../host.js";
import { members } from "../../members.js";

/** The description of a machine: everything that a virtual host knows. */
export interface Machine {
  /** The syntax of its paths. On a machine with Windows paths, only `/` exists. Default `"posix"`. */
  readonly platform?: "posix" | "win32";
  /** The home directory. */
  readonly home: string;
  /** The directory that relative paths are relative to. */
  readonly cwd: string;
  /** The files and directories. The ancestors of entries are directories. Nothing else exists. */
  readonly fs?: MachineFilesystem;
  /** Repositories by the canonical path of their top directory. */
  readonly git?: Readonly<Record<string, MachineRepository>>;
  /**
   * The answer to each predicate that a world calls `host:<name>`, by name: a boolean, or members that the subject must
   * have. A string makes the host fail with that message. The host also fails if a predicate is not listed.
   */
  readonly conditions?: Readonly<Record<string, boolean | string | Readonly<Record<string, unknown>>>>;
}

/** A virtual filesystem. Names compare exactly, unless a flag says otherwise. */
export interface MachineFilesystem {
  readonly dirs?: readonly string[];
  readonly files?: readonly string[];
  /** Symbolic links, and the targets that are written in them. */
  readonly links?: Readonly<Record<string, string>>;
  /** Error codes by directory, for example `EACCES`: looking up anything below it fails with that error. */
  readonly errors?: Readonly<Record<string, string>>;
  /** `true` if names that differ only in case are one name. */
  readonly caseInsensitive?: boolean;
  /** `true` if names that differ only in Unicode composition are one name. */
  readonly normalizationInsensitive?: boolean;
  /** `true` if invisible formatting characters in names are ignored. */
  readonly ignorables?: boolean;
}

/** Git's knowledge of one repository. */
export interface MachineRepository {
  /** The branch that is checked out; `null` if the head is detached. */
  readonly branch?: string | null;
  /** `branch.<name>.remote`. */
  readonly branchRemotes?: Readonly<Record<string, string>>;
  /** Another spelling of `branchRemotes`. */
  readonly branchRemote?: Readonly<Record<string, string>>;
  /** `branch.<name>.pushRemote`. */
  readonly branchPushRemotes?: Readonly<Record<string, string>>;
  /** `remote.pushDefault`. */
  readonly pushDefault?: string | null;
  /** `push.default`. Default `"simple"`. */
  readonly pushMode?: "simple" | "current" | "upstream" | "matching" | "nothing";
  /** `branch.<name>.merge`. */
  readonly branchMerges?: Readonly<Record<string, string>>;
  /** `remote.<name>.push`, as `source:destination`: one refspec or several. */
  readonly pushRefspecs?: Readonly<Record<string, string | readonly string[]>>;
  /** The remotes with `remote.<name>.mirror`. */
  readonly mirrors?: readonly string[];
  /** `remote.<name>.url`: one URL or several. */
  readonly remotes?: Readonly<Record<string, string | readonly string[]>>;
  /** `remote.<name>.pushurl`. */
  readonly pushUrls?: Readonly<Record<string, string | readonly string[]>>;
  /** `url.<key>.insteadOf = <value>`: in URLs that begin with the value, the key replaces it. */
  readonly insteadOf?: Readonly<Record<string, string>>;
  /**
   * What git's ignore files say, by absolute path: what is ignored is so with everything below it. `null` cannot be told, and a path
   * that is not listed is unmentioned.
   */
  readonly checkIgnore?: Readonly<Record<string, GitIgnore | null>>;
  /** The directory of the repository's data; no answer depends on it. */
  readonly gitdir?: string;
  /** The directory of the repository's files; no answer depends on it. */
  readonly worktree?: string;
}

/** Every key of a type; leaving one out is a compile error. */
type Keys<T> = { readonly [key in keyof T]-?: true };

const MACHINE: Keys<Machine> = { platform: true, home: true, cwd: true, fs: true, git: true, conditions: true };
const FILESYSTEM: Keys<MachineFilesystem> = {
  dirs: true,
  files: true,
  links: true,
  errors: true,
  caseInsensitive: true,
  normalizationInsensitive: true,
  ignorables: true,
};
const REPOSITORY: Keys<MachineRepository> = {
  branch: true,
  branchRemotes: true,
  branchRemote: true,
  branchPushRemotes: true,
  pushDefault: true,
  pushMode: true,
  branchMerges: true,
  pushRefspecs: true,
  mirrors: true,
  remotes: true,
  pushUrls: true,
  insteadOf: true,
  checkIgnore: true,
  gitdir: true,
  worktree: true,
};

/** An error that says what is wrong with a machine. */
export function refused(message: string): CallgateError {
  return new CallgateError("invalid-world", message);
}

/**
 * The machine, on objects that inherit nothing. An unknown key is refused, because a misspelled one would have no effect.
 */
export function checkedMachine(machine: Machine): Machine {
  const read = known(machine, MACHINE, "the world");
  for (const name of ["home", "cwd"] as const) {
    if (typeof read[name] !== "string") {
      throw refused(`the world has no \`${name}\``);
    }
  }
  return {
    home: read.home ?? "",
    cwd: read.cwd ?? "",
    platform: read.platform ?? "posix",
    fs: known(read.fs ?? {}, FILESYSTEM, "`fs`"),
    git: Object.fromEntries(
      Object.entries(read.git ?? {}).map(([path, found]) => [
        path,
        known(found as MachineRepository, REPOSITORY, `\`git\` at \`${path}\``),
      ]),
    ),
    conditions: read.conditions ?? {},
  };
}

/** The members of an object that must have no others than these. */
function known<T extends object>(object: T, keys: Keys<T>, what: string): Partial<T> {
  if (typeof object !== "object" || object === null) {
    throw refused(`${what} is not an object`);
  }
  const names = Object.keys(keys) as (keyof T)[];
  const unknown = Object.keys(object).find((key) => !Object.hasOwn(keys, key));
  if (unknown !== undefined) {
    throw refused(`unknown field \`${unknown}\` of ${what}, expected one of ${names.join(", ")}`);
  }
  return members(object, names);
}
