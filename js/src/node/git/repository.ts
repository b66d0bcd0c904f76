import { accessSync, constants, lstatSync, readlinkSync, statSync } from "node:fs";
import { HostError } from "../../host.js";
import { branchByGit } from "./command.js";
import { canonical, read } from "./files.js";

/** The symbolic references that git follows from `HEAD`. */
const MAX_SYMBOLIC_REFERENCES = 5;

const QUIET = { throwIfNoEntry: false } as const;

/** A repository as git finds it (`gitrepository-layout(5)`). */
export interface Repository {
  /** Canonical; of a worktree its own directory. */
  readonly gitDir: string;
  /** Where the configuration and the branches are; of a main worktree the same as `gitDir`. */
  readonly commonDir: string;
}

/** The repository that git would use in a directory; where that does not exist yet, in the deepest one that does. */
export function discover(directory: string): Repository | undefined {
  let start = canonical(directory);
  for (let given = directory; start === undefined; start = canonical(given)) {
    given = parentOf(given);
  }
  for (let place = start; ; place = parentOf(place)) {
    const found = repositoryAt(place);
    if (found !== undefined || place === "/") {
      return found;
    }
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function repositoryAt(directory: string): Repository | undefined {
  const place = directory === "/" ? "/.git" : `${directory}/.git`;
  const real = canonical(place);
  if (real !== undefined) {
    if (statSync(bytesOf(real), QUIET)?.isFile() === true) {
      return behindGitFile(real, directory);
    }
    const found = ofGitDir(real);
    if (found !== undefined) {
      return found;
    }
  }
  return ofGitDir(directory);
}

/** The repository that a `.git` file of a worktree or a submodule names. */
function behindGitFile(file: string, directory: string): Repository {
  const place = /^gitdir: (.*?)[\r\n]*$/s.exec(read(file) ?? "")?.[1];
  const gitDir = place === undefined ? undefined : canonical(place.startsWith("/") ? place : `${directory}/${place}`);
  const found = gitDir === undefined ? undefined : ofGitDir(gitDir);
  if (found === undefined) {
    throw new HostError(`\`${file}\` leads to no git repository`);
  }
  return found;
}

/** The repository whose directory is `gitDir`, if it is one for git (`is_git_directory`). */
function ofGitDir(gitDir: string): Repository | undefined {
  if (!hasHead(gitDir)) {
    return undefined;
  }
  const place = read(`${gitDir}/commondir`)?.replace(/[\r\n]*$/, "");
  const commonDir = place === undefined ? gitDir : canonical(place.startsWith("/") ? place : `${gitDir}/${place}`);
  return commonDir !== undefined && isSearchable(`${commonDir}/objects`) && isSearchable(`${commonDir}/refs`)
    ? { gitDir, commonDir }
    : undefined;
}

/** Whether the directory has a `HEAD` that git accepts (`validate_headref`). */
function hasHead(gitDir: string): boolean {
  const path = `${gitDir}/HEAD`;
  const found = lstat(path);
  if (found === undefined || found.isDirectory()) {
    return false;
  }
  if (found.isSymbolicLink()) {
    return referenceLink(path) !== undefined;
  }
  const head = read(path) ?? "";
  return /^ref:\s*refs\//.test(head) || /^[0-9a-f]{40}/i.test(head);
}

/** Git's own test of a repository's directories, `access(2)` with `X_OK`. */
function isSearchable(path: string): boolean {
  if (lstat(path) === undefined) {
    return false;
  }
  try {
    accessSync(bytesOf(path), constants.X_OK);
    return true;
  } catch (thrown) {
    // The tool server may have another user's rights, so this process cannot answer for it.
    throw new HostError(`\`${path}\` cannot be searched: ${String((thrown as { code?: unknown }).code)}`);
  }
}

/** The branch that is checked out, also when it has no commit yet; `undefined` when the head is detached. */
export function branchOf(repository: Repository, directory: string): string | undefined {
  let name = "HEAD";
  for (let links = 0; links <= MAX_SYMBOLIC_REFERENCES; links++) {
    const target = symbolicReference(repository, name);
    if (target === undefined) {
      return name.startsWith("refs/heads/") ? name.slice("refs/heads/".length) : undefined;
    }
    if (!isReferenceName(target)) {
      // This is how a repository that does not keep its references in files looks.
      return branchByGit(directory);
    }
    name = target;
  }
  throw new HostError(`\`${repository.gitDir}/HEAD\` does not tell the branch: too many symbolic references`);
}

/** What a reference stands for, when it is a symbolic one. */
function symbolicReference({ gitDir, commonDir }: Repository, name: string): string | undefined {
  const isOfWorktree = name === "HEAD" || /^refs\/(?:bisect|worktree|rewritten)\//.test(name);
  const path = `${isOfWorktree ? gitDir : commonDir}/${name}`;
  const link = referenceLink(path);
  // A directory is a name that other branches start with; the branch itself is packed or unborn.
  if (link !== undefined || lstat(path)?.isDirectory() === true) {
    return link;
  }
  return /^ref:\s*(.*?)\s*$/s.exec(read(path) ?? "")?.[1];
}

/** The reference that a symbolic link stands for, as git once wrote `HEAD`. */
function referenceLink(path: string): string | undefined {
  if (lstat(path)?.isSymbolicLink() !== true) {
    return undefined;
  }
  const target = readlinkSync(bytesOf(path), "buffer").toString("latin1");
  return target.startsWith("refs/") ? target : undefined;
}

function lstat(path: string): ReturnType<typeof lstatSync> {
  try {
    return lstatSync(bytesOf(path), QUIET);
  } catch (thrown) {
    throw new HostError(`git's \`${path}\` cannot be read: ${String((thrown as { code?: unknown }).code)}`);
  }
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

/** `git-check-ref-format(1)`, for a whole name below `refs/`. */
function isReferenceName(name: string): boolean {
  return (
    name.startsWith("refs/") &&
    name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock")) &&
    !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\.$/.test(name)
  );
}
