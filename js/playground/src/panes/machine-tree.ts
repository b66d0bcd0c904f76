import { createVirtualHost, type Machine } from "callgate";
import { absolute } from "../engine/links.js";

/** A place of a machine, and its kind. */
export interface Entry {
  readonly path: string;
  readonly name: string;
  readonly kind: "directory" | "file" | "link";
  /** The text in a link. */
  readonly target?: string | undefined;
  /** Where a link leads in the end; `undefined` if it leads nowhere. */
  readonly end?: string | undefined;
  /** A link leads back to itself. */
  readonly isLoop?: boolean | undefined;
  readonly isRepository: boolean;
  readonly children: readonly Entry[];
}

type Writable = { dirs: string[]; files: string[]; links: Record<string, string> };

/** The tree of a machine's filesystem, from its root. */
export function treeOf(machine: Machine): Entry {
  const { links = {} } = machine.fs ?? {};
  const kinds = kindsOf(machine);
  const host = createVirtualHost(machine);
  const nodes = new Map<string, Entry & { readonly children: Entry[] }>();
  // A directory comes before what is in it.
  for (const path of ["/", ...[...kinds.keys()].sort()]) {
    const kind = kinds.get(path) ?? "directory";
    const found = kind === "link" ? host.realpath(path) : undefined;
    const entry = {
      path,
      name: path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1),
      kind,
      ...(kind === "link" && {
        target: links[path],
        end: typeof found === "string" ? found : undefined,
        isLoop: typeof found === "object" && found.error === "loop",
      }),
      isRepository: Object.hasOwn(machine.git ?? {}, path),
      children: [],
    };
    nodes.set(path, entry);
    if (path !== "/") {
      nodes.get(path.slice(0, path.lastIndexOf("/")) || "/")?.children.push(entry);
    }
  }
  return nodes.get("/") as Entry;
}

/** The kind of each place but the root; the ancestors of entries are directories. */
function kindsOf(machine: Machine): ReadonlyMap<string, Entry["kind"]> {
  const { dirs = [], files = [], links = {} } = machine.fs ?? {};
  const kinds = new Map<string, Entry["kind"]>();
  const directories = [...dirs, ...Object.keys(machine.git ?? {}), machine.home, machine.cwd];
  for (const path of [...directories, ...files, ...Object.keys(links)]) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const above = path.slice(0, at);
      if (kinds.has(above)) {
        break;
      }
      kinds.set(above, "directory");
    }
  }
  const set = (paths: readonly string[], kind: Entry["kind"]): void => {
    for (const path of paths) {
      kinds.set(path, kind);
    }
  };
  set(directories, "directory");
  set(files, "file");
  set(Object.keys(links), "link");
  kinds.delete("/");
  return kinds;
}

/** @throws An error if there is something at a place of the machine. */
function assertFree(machine: Machine, path: string): void {
  if (path === "/" || kindsOf(machine).has(path)) {
    throw new Error(`There is already something at ${path}`);
  }
}

/**
 * The machine with something more in a directory.
 *
 * @throws An error if something is there already.
 */
export function withEntry(
  machine: Machine,
  directory: string,
  kind: Entry["kind"],
  name: string,
  target = "",
): Machine {
  const path = absolute(name, machine.home, directory);
  assertFree(machine, path);
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

/**
 * The machine with a place, and what is below it, under another path.
 *
 * @throws An error if something is there already.
 */
export function withMoved(machine: Machine, path: string, to: string): Machine {
  assertFree(machine, to);
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
    // A directory that was only implied by its entries stays.
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
  const all = [...fs.dirs, ...fs.files, ...Object.keys(fs.links)];
  const ancestors = new Set(all.flatMap((path) => ancestorsOf(path)));
  fs.dirs = [...new Set(fs.dirs)].filter((path) => !ancestors.has(path)).sort();
  fs.files = [...new Set(fs.files)].sort();
  return { ...machine, fs: { ...machine.fs, ...fs } };
}

function ancestorsOf(path: string): string[] {
  const steps = path.split("/");
  return steps.slice(2).map((_, at) => steps.slice(0, at + 2).join("/"));
}
