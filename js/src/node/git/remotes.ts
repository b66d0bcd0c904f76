import { lstatSync } from "node:fs";
import { HostError } from "../../host.js";
import { booleanOf, type Entry, partsOf, required } from "./entries.js";

/** The URLs of one answer. */
const MAX_URLS = 1_000;

interface Remote {
  urls: string[];
  pushUrls: string[];
  /** Those before an empty value. Git since 2.46 forgets them there, an older one does not. */
  earlierUrls: string[];
  /** The remote helper that carries every connection (`remote.<name>.vcs`). */
  helper: string | undefined;
}

interface Branch {
  remote?: string;
  pushRemote?: string;
}

/** The remotes of a repository, and the URLs that git connects to for them (`remote.c` of git). */
export class Remotes {
  readonly #remotes = new Map<string, Remote>();
  readonly #branches = new Map<string, Branch>();
  /** The members of each group, which is named by all that follows `remotes.` in its key. */
  readonly #groups = new Map<string, string[]>();
  readonly #insteadOf = new Rewrites();
  readonly #pushInsteadOf = new Rewrites();
  readonly #commonDir: string | undefined;
  #pushDefault: string | undefined;
  #fetchesAll = false;

  constructor(entries: readonly Entry[], commonDir: string | undefined) {
    this.#commonDir = commonDir;
    entries.forEach((entry) => this.#read(entry));
  }

  /** The URLs of a remote or a group of remotes; none when there is none and nothing rewrites the name. */
  named(name: string): string[] {
    const urls = this.explicit(name);
    return urls.length === 1 && urls[0] === name && !this.#isKnown(name) ? [] : urls;
  }

  /** The URLs that git connects to when it is given `name`, which may be a URL itself. */
  explicit(name: string): string[] {
    const urls: string[] = [];
    const seen = new Set<string>();
    const names = [name];
    for (let next = names.pop(); next !== undefined; next = names.pop()) {
      if (!seen.has(next)) {
        seen.add(next);
        this.#resolve(next, true, urls);
        names.push(...(this.#groups.get(next) ?? []));
      }
    }
    return urls;
  }

  /** The URLs of `git fetch` and `git push` without an argument on a branch, `undefined` for a detached head. */
  withoutArgument(branchName: string | undefined): string[] {
    const branch = branchName === undefined ? undefined : this.#branches.get(branchName);
    const remote = branch?.remote;
    const pushRemote = branch?.pushRemote ?? this.#pushDefault;
    const urls: string[] = [];
    for (const name of [remote, pushRemote]) {
      if (name !== undefined) {
        this.#resolve(name, true, urls);
      }
    }
    const names = [...this.#remotes.keys()].sort();
    if (remote === undefined) {
      this.#resolve("origin", false, urls);
      // Git takes the only remote there is, whatever its name.
      if (names.length === 1) {
        this.#resolve(names[0] as string, false, urls);
      }
    }
    if (this.#fetchesAll) {
      names.forEach((name) => this.#resolve(name, false, urls));
    }
    return urls;
  }

  #read(entry: Entry): void {
    const { section, subsection, name } = partsOf(entry);
    if (section === "remote" && subsection === undefined && name === "pushdefault") {
      this.#pushDefault = required(entry);
    } else if (section === "fetch" && subsection === undefined && name === "all") {
      this.#fetchesAll = booleanOf(entry);
    } else if (section === "remotes") {
      const group = entry.key.slice("remotes.".length);
      const members = required(entry)
        .split(/[ \t\n]+/)
        .filter((word) => word !== "");
      this.#groups.set(group, [...(this.#groups.get(group) ?? []), ...members]);
    } else if (subsection !== undefined) {
      this.#readNamed(section, subsection, name, entry);
    }
  }

  #readNamed(section: string, subsection: string, name: string, entry: Entry): void {
    switch (`${section}.${name}`) {
      case "branch.remote":
        this.#branch(subsection).remote = required(entry);
        break;
      case "branch.pushremote":
        this.#branch(subsection).pushRemote = required(entry);
        break;
      case "url.insteadof":
        this.#insteadOf.add(subsection, required(entry));
        break;
      case "url.pushinsteadof":
        this.#pushInsteadOf.add(subsection, required(entry));
        break;
      default:
        // Git warns of a name that starts with a slash, and takes it for a path.
        if (section === "remote" && !subsection.startsWith("/")) {
          this.#readRemote(subsection, name, entry);
        }
    }
  }

  #readRemote(remoteName: string, name: string, entry: Entry): void {
    let remote = this.#remotes.get(remoteName);
    if (remote === undefined) {
      remote = { urls: [], pushUrls: [], earlierUrls: [], helper: undefined };
      this.#remotes.set(remoteName, remote);
    }
    if (name === "vcs") {
      remote.helper = required(entry);
      return;
    }
    const list = name === "url" ? "urls" : name === "pushurl" ? "pushUrls" : undefined;
    if (list === undefined) {
      return;
    }
    const url = required(entry);
    if (url === "") {
      remote.earlierUrls.push(...remote[list]);
      remote[list] = [];
    } else {
      remote[list].push(url);
    }
  }

  #branch(name: string): Branch {
    const branch = this.#branches.get(name) ?? {};
    this.#branches.set(name, branch);
    return branch;
  }

  #isKnown(name: string): boolean {
    const remote = this.#remotes.get(name);
    const lists = remote === undefined ? [] : [remote.urls, remote.pushUrls, remote.earlierUrls];
    return this.#groups.has(name) || remote?.helper !== undefined || lists.some((urls) => urls.length > 0);
  }

  /** Adds every URL of one remote to `answer`: to fetch from, then to push to. */
  #resolve(name: string, mayBeUrl: boolean, answer: string[]): void {
    const remote = this.#remotes.get(name);
    const { urls = [], pushUrls = [], earlierUrls = [], helper } = remote ?? {};
    if (answer.length + urls.length + pushUrls.length + earlierUrls.length > MAX_URLS) {
      throw new HostError(`git would connect to more than ${MAX_URLS} URLs`);
    }
    const found: string[] = [];
    for (const url of earlierUrls) {
      found.push(this.#insteadOf.apply(url), ...this.#pushInsteadOf.rewritten(url));
    }
    const fetchUrls = [...urls];
    if (urls.length === 0 && helper === undefined) {
      this.#refuseLegacyFile(name);
      if (mayBeUrl) {
        fetchUrls.push(name);
      }
    }
    found.push(...[...fetchUrls, ...pushUrls].map((url) => this.#insteadOf.apply(url)));
    // A name that stands for itself is rewritten for a push even beside a `pushurl`.
    if (pushUrls.length === 0 || urls.length === 0) {
      found.push(...fetchUrls.flatMap((url) => this.#pushInsteadOf.rewritten(url)));
    }
    if (helper === undefined) {
      answer.push(...found);
    } else {
      answer.push(...(found.length === 0 ? [name] : found).map((url) => `${helper}::${url}`));
    }
  }

  /**
   * Git reads `remotes/<name>` and `branches/<name>` where the configuration has no URL (and no longer from version 3
   * on); what they stand for is not told here.
   */
  #refuseLegacyFile(name: string): void {
    if (this.#commonDir === undefined || /^\.{0,2}$|[/\0]/.test(name)) {
      return;
    }
    for (const folder of ["remotes", "branches"]) {
      const path = `${this.#commonDir}/${folder}/${name}`;
      let isThere: boolean;
      try {
        isThere = lstatSync(Buffer.from(path, "latin1"), { throwIfNoEntry: false }) !== undefined;
      } catch (thrown) {
        throw new HostError(`git's \`${path}\` cannot be read: ${String((thrown as { code?: unknown }).code)}`);
      }
      if (isThere) {
        throw new HostError(`the remote is in the legacy file \`${path}\`, which is not read`);
      }
    }
  }
}

/** The rules of `url.<base>.insteadOf` or `pushInsteadOf`. */
class Rewrites {
  /** Each base with its place in the order of first mention. */
  readonly #bases = new Map<string, number>();
  /** Each prefix with what replaces it: of several bases the one that was mentioned first. */
  readonly #rules = new Map<string, { place: number; base: string }>();

  add(base: string, prefix: string): void {
    const place = this.#bases.get(base) ?? this.#bases.size;
    this.#bases.set(base, place);
    const rule = this.#rules.get(prefix);
    if (rule === undefined || place < rule.place) {
      this.#rules.set(prefix, { place, base });
    }
  }

  apply(url: string): string {
    return this.rewritten(url)[0] ?? url;
  }

  /** The URL with its longest known prefix replaced, if it has one. */
  rewritten(url: string): string[] {
    let longest: string | undefined;
    for (const prefix of this.#rules.keys()) {
      if (url.startsWith(prefix) && prefix.length >= (longest?.length ?? 0)) {
        longest = prefix;
      }
    }
    return longest === undefined ? [] : [`${this.#rules.get(longest)?.base ?? ""}${url.slice(longest.length)}`];
  }
}
