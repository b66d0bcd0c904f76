import { createVirtualHost, type Machine } from "callgate";
import { absolute } from "../engine/links.js";

/** What is at a place of a machine. */
export interface Entry {
  readonly path: string;
  readonly name: string;
  readonly kind: "directory" | "file" | "link";
  /** The text in a link. */
  readonly target?: string | undefined;
  /** Where a link leads in the end; `undefined` if it leads nowhere. */
  readonly end?: string | undefined;
  readonly isRepository: boolean;
  readonly children: readonly Entry[];
}

type Writable = { dirs: string[]; files: string[]; links: Record<string, string> };

/** The tree of a machine's filesystem, from its root. */
export function treeOf(machine: Machine): Entry {
  const { dirs = [], files = [], links = {} } = machine.fs ?? {};
  const kinds = new Map<string, Entry["kind"]>();
  for (const path of [
    ...dirs,
    ...files,
    ...Object.keys(links),
    ...Object.keys(machine.git ?? {}),
    machine.home,
    machine.cwd,
  ]) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      kinds.set(path.slice(0, at), "directory");
    }
  }
  for (const path of [...dirs, ...Object.keys(machine.git ?? {}), machine.home, machine.cwd]) {
    kinds.set(path, "directory");
  }
  for (const path of files) {
    kinds.set(path, "file");
  }
  for (const path of Object.keys(links)) {
    kinds.set(path, "link");
  }
  kinds.delete("/");
  const below = new Map<string, string[]>();
  for (const path of [...kinds.keys()].sort()) {
    const parent = path.slice(0, path.lastIndexOf("/")) || "/";
    below.set(parent, [...(below.get(parent) ?? []), path]);
  }
  const host = createVirtualHost(machine);
  const endOf = (path: string): string | undefined => {
    const end = host.realpath(path);
    return typeof end === "string" ? end : undefined;
  };
  const entry = (path: string): Entry => {
    const kind = kinds.get(path) ?? "directory";
    return {
      path,
      name: path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1),
      kind,
      ...(kind === "link" && { target: links[path], end: endOf(path) }),
      isRepository: Object.hasOwn(machine.git ?? {}, path),
      children: (below.get(path) ?? []).map(entry),
    };
  };
  return entry("/");
}

/** The machine with something more in a directory. */
export function withEntry(
  machine: Machine,
  directory: string,
  kind: Entry["kind"],
  name: string,
  target = "",
): Machine {
  const path = absolute(name, machine.home, directory);
  return changed(machine, (fs) => {
    if (kind === "link") {
      fs.links[path] = target;
    } else {
      (kind === "file" ? fs.files : fs.dirs).push(path);
    }
  });
}

/** The machine without a place and what is below it. */
export function withoutEntry(machine: Machine, path: string): Machine {
  return moved(machine, path, undefined);
}

/** The machine with a place, and what is below it, under another path. */
export function withMoved(machine: Machine, path: string, to: string): Machine {
  return moved(machine, path, to);
}

function moved(machine: Machine, path: string, to: string | undefined): Machine {
  const place = (old: string): string[] => {
    if (old !== path && !old.startsWith(`${path}/`)) {
      return [old];
    }
    return to === undefined ? [] : [to + old.slice(path.length)];
  };
  const entries = <Value>(table: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(Object.entries(table).flatMap(([old, value]) => place(old).map((now) => [now, value] as const)));
  const result = changed(machine, (fs) => {
    fs.dirs = fs.dirs.flatMap(place);
    fs.files = fs.files.flatMap(place);
    fs.links = entries(fs.links);
    // What was only implied by what it held stays.
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (to === undefined && parent !== "") {
      fs.dirs.push(parent);
    }
  });
  const [home = machine.home] = place(machine.home);
  const [cwd = machine.cwd] = place(machine.cwd);
  return { ...result, home, cwd, ...(machine.git !== undefined && { git: entries(machine.git) }) };
}

/** The machine with another text in a link. */
export function withTarget(machine: Machine, path: string, target: string): Machine {
  return changed(machine, (fs) => {
    fs.links[path] = target;
  });
}

function changed(machine: Machine, change: (fs: Writable) => void): Machine {
  const { dirs = [], files = [], links = {} } = machine.fs ?? {};
  const fs: Writable = { dirs: [...dirs], files: [...files], links: { ...links } };
  change(fs);
  const isAncestor = (path: string) =>
    [...fs.dirs, ...fs.files, ...Object.keys(fs.links)].some((other) => other.startsWith(`${path}/`));
  fs.dirs = [...new Set(fs.dirs)].filter((path) => !isAncestor(path)).sort();
  fs.files = [...new Set(fs.files)].sort();
  return { ...machine, fs: { ...machine.fs, ...fs } };
}
