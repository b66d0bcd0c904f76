import { createVirtualHost, type GitIgnore, type Machine, type Recording } from "callgate";

/**
 * A recording, which a file may hold in part.
 *
 * @throws An error that says what it lacks.
 */
export function checkedRecording(found: unknown): Recording {
  const { homeDir, currentDir, exchanges } = Object(found) as Record<string, unknown>;
  if (typeof homeDir !== "string" || typeof currentDir !== "string") {
    throw new Error("its recording has no `homeDir` or no `currentDir`");
  }
  if (!Array.isArray(exchanges) || !exchanges.every((one) => typeof one === "object" && one !== null)) {
    throw new Error("the `exchanges` of its recording are not a list of objects");
  }
  return found as Recording;
}

interface Repository {
  branch?: string;
  readonly remotes: Record<string, string[]>;
  readonly pushRefspecs: Record<string, string[]>;
  readonly mirrors: string[];
  checkIgnore?: Record<string, GitIgnore | null>;
}

/** A machine that answers as a recording does, as far as a recording tells what a machine holds. */
export function machineOf({ homeDir, exchanges }: Recording, folder: string): Machine {
  const bare: Machine = { home: homeDir, cwd: folder };
  const dirs: string[] = [];
  const links: Record<string, string> = {};
  const git: Record<string, Repository> = {};
  const ignored = new Map<string, GitIgnore | null>();
  const repository = (path: unknown) => {
    const found = git[String(path)] ?? { remotes: {}, pushRefspecs: {}, mirrors: [] };
    git[String(path)] = found;
    return found;
  };
  for (const { ask, answer, path, repo, remote, reference } of exchanges) {
    const {
      path: canonical,
      link,
      urls,
      refs,
      text,
      ignore,
    } = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
    if (ask === "realpath" && typeof canonical === "string") {
      dirs.push(canonical);
    } else if (ask === "readLink" && typeof link === "string") {
      links[String(path)] = link;
    } else if (ask === "gitRemoteUrls" && Array.isArray(urls)) {
      repository(repo).remotes[String(remote)] = urls.map(String);
    } else if (ask === "gitDefaultRemoteUrls" && Array.isArray(urls) && urls.length > 0) {
      repository(repo).remotes.origin = urls.map(String);
    } else if (ask === "gitCheckIgnore" && (ignore === null || ignore === "ignored" || ignore === "included")) {
      ignored.set(String(path), ignore);
    } else if (ask === "gitBranch" && typeof text === "string") {
      repository(repo).branch = text;
    } else if (ask === "gitPushRefs" && Array.isArray(refs)) {
      const name = String(reference);
      const source = name === "" || name === "HEAD" || name.startsWith("refs/") ? name || "HEAD" : `refs/heads/${name}`;
      const { pushRefspecs } = repository(repo);
      const to = String(remote) || "origin";
      pushRefspecs[to] = [...(pushRefspecs[to] ?? []), ...refs.map((ref) => `${source}:${ref}`)];
    } else if (ask === "gitPushRefs" && refs === null) {
      repository(repo).mirrors.push(String(remote) || "origin");
    }
  }
  for (const [path, said] of ignored) {
    const roots = Object.keys(git).filter((root) => root === "/" || path.startsWith(`${root}/`));
    const root =
      roots.sort((one, other) => other.length - one.length)[0] ?? (path.slice(0, path.lastIndexOf("/")) || "/");
    const found = repository(root);
    found.checkIgnore = { ...found.checkIgnore, [path]: said };
  }
  const machine = { ...bare, fs: { dirs: dirs.filter((path) => path !== "/"), links }, git };
  try {
    createVirtualHost(machine);
    return machine;
  } catch {
    // The answers of a real machine may not be of one moment.
    return bare;
  }
}
