import { existsSync, lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import { failureOf, type RealpathFailure } from "../../host.js";
import { bare, member } from "../../members.js";

/** The symbolic links that one resolution follows, as in Linux (`path_resolution(7)`). */
const MAX_LINKS = 40;

const NOT_FOUND: RealpathFailure = Object.freeze({ error: "not-found" });
const OTHER: RealpathFailure = Object.freeze({ error: "other" });

/** Node asks its options for more than these, and would find it in `Object.prototype`. */
const QUIET = Object.freeze(bare({ throwIfNoEntry: false, bigint: false } as const));

/** The canonical form of a path. */
export function realpath(path: string): string | RealpathFailure {
  if (isProcessRelative(path)) {
    return OTHER;
  }
  let real: string;
  try {
    // Checked first, because throwing an error costs several times as much as returning.
    if (!existsSync(path) && lstat(path) === undefined) {
      return { error: "not-found", nearest: nearest(path) };
    }
    real = realpathSync.native(path);
  } catch (thrown) {
    return failure(thrown);
  }
  // If the answer equals the question, no link was followed and the string represents every byte exactly.
  if (real === path && !real.includes("\ufffd")) {
    return real;
  }
  const walked = realpathOfBytes(Buffer.from(path).toString("latin1"));
  return typeof walked === "string" ? decoded(walked) : walked;
}

/** The deepest ancestor of a missing path that exists; it may be a broken link. */
function nearest(path: string): string {
  let ancestor = path;
  do {
    ancestor = ancestor.slice(0, ancestor.lastIndexOf("/")) || "/";
  } while (ancestor !== "/" && lstat(ancestor) === undefined);
  return ancestor;
}

/**
 * The file at a path, without following a link; `undefined` if nothing is there, or if an ancestor is not a directory.
 */
export function lstat(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, QUIET);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOTDIR") {
      return undefined;
    }
    throw thrown;
  }
}

function decoded(path: string): string | RealpathFailure {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytesOf(path));
  } catch {
    return { error: "not-utf8" };
  }
}

/**
 * The canonical form of a path of any bytes, found as the kernel finds it (`path_resolution(7)`): component by
 * component, following every link. Paths are strings of one character per byte, because names need not be UTF-8.
 */
function realpathOfBytes(path: string): string | RealpathFailure {
  if (!path.startsWith("/") || path.includes("\0")) {
    return OTHER;
  }
  let reached = "";
  let rest = path;
  let links = 0;
  try {
    for (;;) {
      const [, name, after] = /^\/*([^/]*)(.*)$/s.exec(rest) as unknown as [string, string, string];
      if (name === "" || name === "." || name === "..") {
        if (reached !== "" && lstatSync(bytesOf(`${reached}/.`), QUIET) === undefined) {
          return NOT_FOUND;
        }
        if (name === "..") {
          reached = reached.slice(0, Math.max(0, reached.lastIndexOf("/")));
        }
      } else {
        const next = `${reached}/${name}`;
        if (isProcessRelative(next)) {
          return OTHER;
        }
        const target = linkTarget(next);
        if (typeof target === "object") {
          return target;
        }
        if (target === undefined) {
          reached = next;
        } else {
          links += 1;
          if (links > MAX_LINKS) {
            return { error: "loop" };
          }
          if (isProcessLink(name, target)) {
            return OTHER;
          }
          reached = target.startsWith("/") ? "" : reached;
          rest = target + after;
          continue;
        }
      }
      rest = after;
      if (rest === "") {
        return reached === "" ? "/" : reached;
      }
    }
  } catch (thrown) {
    return failure(thrown);
  }
}

/** The target of a link; `undefined` if the path is not a link, a failure if nothing is there. */
function linkTarget(path: string): string | RealpathFailure | undefined {
  const found = lstatSync(bytesOf(path), QUIET);
  if (found === undefined) {
    return NOT_FOUND;
  }
  if (!found.isSymbolicLink()) {
    return undefined;
  }
  const target = readlinkSync(bytesOf(path), "buffer").toString("latin1");
  // POSIX allows empty links; following one finds nothing.
  return target === "" ? NOT_FOUND : target;
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

/** The operating system's code of an error. */
export function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? member(thrown as { code?: unknown }, "code") : undefined;
}

function failure(thrown: unknown): RealpathFailure {
  const code = codeOf(thrown);
  return { error: failureOf(String(code)) ?? "other" };
}

/** The target of the link at a path, as written in it; `undefined` if there is no link. */
export function readLink(path: string): string | undefined {
  const cut = path.lastIndexOf("/");
  const name = path.slice(cut + 1);
  if (cut === -1 || name === "" || lstat(path)?.isSymbolicLink() !== true) {
    return undefined;
  }
  const parent = realpath(path.slice(0, cut) || "/");
  if (typeof parent === "object") {
    if (parent.error === "not-found") {
      return undefined;
    }
    throw new Error(`the link \`${path}\` cannot be read: its directory cannot be resolved`);
  }
  const link = parent === "/" ? `/${name}` : `${parent}/${name}`;
  if (isProcessRelative(link)) {
    throw new Error(`the link \`${path}\` means something else in another process`);
  }
  const found = lstatSync(link, QUIET);
  if (found === undefined || !found.isSymbolicLink()) {
    return undefined;
  }
  const target = decoded(readlinkSync(link, "buffer").toString("latin1"));
  if (typeof target === "object") {
    throw new Error(`the target of the link \`${path}\` is not UTF-8`);
  }
  return target;
}

/** Returns `true` if the path is an existing directory; `undefined` if that is uncertain. */
export function isDirectory(path: string): boolean | undefined {
  const real = realpath(path);
  if (typeof real === "object") {
    return real.error === "not-found" ? false : undefined;
  }
  return statSync(real, QUIET)?.isDirectory();
}

/** Returns `true` if a path means something else in another process (`proc(5)`). */
function isProcessRelative(path: string): boolean {
  return PROCESS_RELATIVE.test(path);
}

const PROCESS_RELATIVE = /^\/(?:dev\/fd|proc\/(?:self|thread-self|\d+))(?:\/|$)/;

/** Returns `true` if a link is `self` or `thread-self` of a proc filesystem, wherever that is mounted. */
function isProcessLink(name: string, target: string): boolean {
  return (name === "self" && /^\d+$/.test(target)) || (name === "thread-self" && /^\d+(?:\/|$)/.test(target));
}
