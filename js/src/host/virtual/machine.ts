import { CallgateError } from "../../errors.js";

/** A machine as data: everything that a virtual host knows. */
export interface Machine {
  /** What the paths look like; of a machine with Windows paths only `/` exists. Default `"posix"`. */
  readonly platform?: "posix" | "win32";
  /** The home directory. */
  readonly home: string;
  /** The directory that relative paths are relative to. */
  readonly cwd: string;
  /** What exists. Ancestors of entries are directories, and nothing else exists. */
  readonly fs?: MachineFilesystem;
  /** Repositories by the canonical path of their top directory. */
  readonly git?: Readonly<Record<string, MachineRepository>>;
  /**
   * The answer to each predicate that a world of addresses calls `host:<name>`, by name: the boolean, or whether the
   * subject has all of these members. A string makes the host fail with that message, as does every other predicate.
   */
  readonly conditions?: Readonly<Record<string, boolean | string | Readonly<Record<string, unknown>>>>;
}

/** A virtual filesystem. Names compare exactly, unless a flag says otherwise. */
export interface MachineFilesystem {
  readonly dirs?: readonly string[];
  readonly files?: readonly string[];
  /** Symbolic links and the targets that are written in them. */
  readonly links?: Readonly<Record<string, string>>;
  /** Error codes by directory, for example `EACCES`: looking up anything below it fails so. */
  readonly errors?: Readonly<Record<string, string>>;
  /** Names that differ in case only are one name. */
  readonly caseInsensitive?: boolean;
  /** Names that differ in Unicode composition only are one name. */
  readonly normalizationInsensitive?: boolean;
  /** Invisible formatting characters in names do not count. */
  readonly ignorables?: boolean;
}

/** What git knows of one repository. */
export interface MachineRepository {
  /** The branch that is checked out; `null`: the head is detached. */
  readonly branch?: string | null;
  /** `branch.<name>.remote`. */
  readonly branchRemotes?: Readonly<Record<string, string>>;
  /** Another spelling of `branchRemotes`. */
  readonly branchRemote?: Readonly<Record<string, string>>;
  /** `branch.<name>.pushRemote`. */
  readonly branchPushRemotes?: Readonly<Record<string, string>>;
  /** `remote.pushDefault`. */
  readonly pushDefault?: string | null;
  /** `remote.<name>.url`: one URL or several. */
  readonly remotes?: Readonly<Record<string, string | readonly string[]>>;
  /** `remote.<name>.pushurl`. */
  readonly pushUrls?: Readonly<Record<string, string | readonly string[]>>;
  /** `url.<key>.insteadOf = <value>`: URLs that begin with the value begin with the key instead. */
  readonly insteadOf?: Readonly<Record<string, string>>;
  /** Where the repository's data lies; no answer depends on it. */
  readonly gitdir?: string;
  /** Where the repository's files lie; no answer depends on it. */
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
  remotes: true,
  pushUrls: true,
  insteadOf: true,
  gitdir: true,
  worktree: true,
};

/** An error that says what is wrong with a machine. */
export function refused(message: string): CallgateError {
  return new CallgateError("invalid-world", message);
}

/** Refuses unknown keys: a misspelled one would leave the machine emptier than it looks. */
export function checkMachine(machine: Machine): void {
  checkKeys(machine, MACHINE, "the world");
  checkKeys(machine.fs ?? {}, FILESYSTEM, "`fs`");
  for (const [path, repository] of Object.entries(machine.git ?? {})) {
    checkKeys(repository, REPOSITORY, `\`git\` at \`${path}\``);
  }
  for (const name of ["home", "cwd"] as const) {
    if (typeof machine[name] !== "string") {
      throw refused(`the world has no \`${name}\``);
    }
  }
}

function checkKeys(object: object, known: object, what: string): void {
  const unknown = Object.keys(object).find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined) {
    throw refused(`unknown field \`${unknown}\` of ${what}, expected one of ${Object.keys(known).join(", ")}`);
  }
}
