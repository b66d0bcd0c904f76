import { HostError } from "../../host.js";
import { holdsGitDir, interpolated } from "./condition.js";
import { booleanOf, type Entry, partsOf, required } from "./entries.js";
import { MAX_BYTES, read } from "./files.js";
import { parse } from "./parse.js";
import type { Repository } from "./repository.js";

/** How deep git lets files include one another. */
const MAX_DEPTH = 10;

/** The files of one question; the depth alone would let a few files include each other without end. */
const MAX_FILES = 1_000;

/** The places of git's configuration outside a repository. */
export interface ConfigFiles {
  /** What `~` stands for. */
  readonly home: string;
  /** Of the machine and of the user, the weakest first. */
  readonly outside: readonly string[];
}

/** The configuration's entries, the strongest last: of the machine, the user, the repository and the worktree. */
export function loadEntries(files: ConfigFiles, repository: Repository | undefined): readonly Entry[] {
  const layers = new Layers(files, repository);
  files.outside.forEach((path) => layers.file(path, 0));
  if (repository !== undefined) {
    const path = `${repository.commonDir}/config`;
    const own = layers.read(path);
    // Git reads this switch from the file itself, without what it includes.
    const switches = own.filter(({ key }) => key === "extensions.worktreeconfig");
    const last = switches.at(-1);
    layers.follow(own, path, 0);
    if (last !== undefined && booleanOf(last)) {
      layers.file(`${repository.gitDir}/config.worktree`, 0);
    }
  }
  return layers.entries;
}

class Layers {
  readonly entries: Entry[] = [];
  readonly #files: ConfigFiles;
  readonly #repository: Repository | undefined;
  #filesLeft = MAX_FILES;
  #bytesLeft = MAX_BYTES;

  constructor(files: ConfigFiles, repository: Repository | undefined) {
    this.#files = files;
    this.#repository = repository;
  }

  file(path: string, depth: number): void {
    this.follow(this.read(path), path, depth);
  }

  read(path: string): Entry[] {
    const content = read(path);
    if (content === undefined) {
      return [];
    }
    this.#filesLeft -= 1;
    this.#bytesLeft -= content.length;
    if (this.#filesLeft < 0 || this.#bytesLeft < 0) {
      throw new HostError(`git's configuration holds more than ${MAX_FILES} files or ${MAX_BYTES} bytes`);
    }
    return parse(path, content);
  }

  /** Takes the entries of a file over, and those of what it includes at the place where it does. */
  follow(entries: readonly Entry[], path: string, depth: number): void {
    for (const entry of entries) {
      const { section, subsection, name } = partsOf(entry);
      const includes =
        name === "path" &&
        ((section === "include" && subsection === undefined) ||
          (section === "includeif" &&
            subsection !== undefined &&
            holdsGitDir(subsection, path, this.#repository?.gitDir, this.#files.home)));
      if (includes) {
        this.#include(entry, path, depth);
      }
      this.entries.push(entry);
    }
  }

  #include(entry: Entry, from: string, depth: number): void {
    if (depth === MAX_DEPTH) {
      throw new HostError(`git's configuration \`${from}\` includes at a depth of more than ${MAX_DEPTH} files`);
    }
    const path = interpolated(required(entry), this.#files.home);
    const directory = from.slice(0, from.lastIndexOf("/"));
    this.file(path.startsWith("/") ? path : `${directory}/${path}`, depth + 1);
  }
}
