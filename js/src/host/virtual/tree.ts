import { failureOf, type RealpathFailure } from "../../host.js";
import { type Machine, type MachineFilesystem, refused } from "./machine.js";

/** The most links that one walk follows, as in Linux (`path_resolution(7)`). */
const MAX_LINKS = 40;

/** A file at a path. */
export type Node = "directory" | "file" | { readonly target: string };

/** Where a walk ended. Only the last component may be a link. */
interface WalkEnd {
  readonly path: string;
  readonly node: Node;
}

/** The characters that HFS+ ignores in names (Apple's technical note 1150). */
const IGNORABLES = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * The files and directories, by the folded form of their absolute paths. The root is the empty string.
 *
 * INVARIANT: every proper ancestor of an entry is a directory, and an entry.
 */
export class Tree {
  readonly #nodes = new Map<string, Node>([["", "directory"]]);
  readonly #errors = new Map<string, RealpathFailure["error"]>();
  readonly #fs: MachineFilesystem;

  constructor(machine: Machine) {
    this.#fs = machine.fs ?? {};
    if (machine.platform === "win32") {
      return;
    }
    for (const path of this.#fs.dirs ?? []) {
      this.#insert(path, "directory");
    }
    for (const path of this.#fs.files ?? []) {
      this.#insert(path, "file");
    }
    for (const [path, target] of Object.entries(this.#fs.links ?? {})) {
      this.#insert(path, { target });
    }
    for (const [directory, code] of Object.entries(this.#fs.errors ?? {})) {
      const error = failureOf(code);
      if (error === undefined) {
        throw refused(`unknown error code \`${code}\` of \`${directory}\``);
      }
      this.#errors.set(this.#key(directory), error);
    }
  }

  /** Follows a path from the root, component by component, as the kernel does. */
  walk(path: string, followsLast: boolean): WalkEnd | RealpathFailure {
    if (path.includes("\0") || !path.startsWith("/")) {
      return { error: "other" };
    }
    let reached = "";
    let node: Node = "directory";
    let links = 0;
    const pending = components(path);
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (node !== "directory") {
        return { error: "not-found" };
      }
      if (name === ".") {
        continue;
      }
      if (name === "..") {
        reached = reached.slice(0, Math.max(0, reached.lastIndexOf("/")));
        continue;
      }
      const child: string = `${reached}/${name}`;
      const found = this.#lookUp(child);
      if (typeof found === "object" && "error" in found) {
        return found;
      }
      if (typeof found === "object" && (followsLast || pending.length > 0)) {
        links += 1;
        if (links > MAX_LINKS) {
          return { error: "loop" };
        }
        if (found.target === "") {
          return { error: "not-found" };
        }
        if (found.target.startsWith("/")) {
          reached = "";
        }
        pending.push(...components(found.target));
      } else {
        reached = child;
        node = found;
      }
    }
    return { path: reached === "" ? "/" : reached, node };
  }

  #lookUp(path: string): Node | RealpathFailure {
    const key = this.#key(path);
    for (const [directory, error] of this.#errors) {
      if (key.startsWith(`${directory}/`)) {
        return { error };
      }
    }
    return this.#nodes.get(key) ?? { error: "not-found" };
  }

  #insert(path: string, node: Node): void {
    if (path === "/" && node === "directory") {
      return;
    }
    const names = path.startsWith("/") ? path.slice(1).split("/") : [""];
    if (path.includes("\0") || names.some((name) => name === "" || name === "." || name === "..")) {
      throw refused(`entry \`${path}\` is not an absolute path without \`.\`, \`..\`, \`//\` or a trailing \`/\``);
    }
    let ancestor = "";
    for (const name of names.slice(0, -1)) {
      ancestor += `/${name}`;
      const key = this.#key(ancestor);
      const known = this.#nodes.get(key) ?? "directory";
      if (known !== "directory") {
        throw refused(`entry \`${path}\` lies below \`${ancestor}\`, which is not a directory`);
      }
      this.#nodes.set(key, known);
    }
    const key = this.#key(path);
    const known = this.#nodes.get(key);
    if (known !== undefined && !isSame(known, node)) {
      throw refused(`entry \`${path}\` is of two kinds`);
    }
    this.#nodes.set(key, node);
  }

  /** The form in which names that are one name are equal. `/` stays `/`. */
  #key(path: string): string {
    let key = this.#fs.ignorables === true ? path.replace(IGNORABLES, "") : path;
    if (this.#fs.caseInsensitive === true) {
      // Upper case first, so that `ß` and `SS` are equal too.
      key = key.toUpperCase().toLowerCase();
    }
    return this.#fs.normalizationInsensitive === true ? key.normalize("NFD") : key;
  }
}

function isSame(one: Node, other: Node): boolean {
  return typeof one === "object" && typeof other === "object" ? one.target === other.target : one === other;
}

/** The components of a path from the last to the first, empty ones left out. */
function components(path: string): string[] {
  return path
    .split("/")
    .filter((name) => name !== "")
    .reverse();
}
