import { existsSync, lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs";
import type { RealpathFailure } from "../host.js";

/** The symbolic links that one resolution follows, as in Linux (`path_resolution(7)`). */
const MAX_LINKS = 40;

const NOT_FOUND: RealpathFailure = Object.freeze({ error: "not-found" });
const LOOP: RealpathFailure = Object.freeze({ error: "loop" });
const DENIED: RealpathFailure = Object.freeze({ error: "denied" });
const NOT_UTF8: RealpathFailure = Object.freeze({ error: "not-utf8" });
const OTHER: RealpathFailure = Object.freeze({ error: "other" });

const QUIET = { throwIfNoEntry: false } as const;
const native = realpathSync.native;

/** The canonical form of a path. */
export function realpath(path: string): string | RealpathFailure {
  if (isProcessRelative(path)) {
    return OTHER;
  }
  let real: string;
  try {
    // Asked first, because an error that is thrown costs several times as much as an answer.
    if (!existsSync(path) && lstat(path) === undefined) {
      return { error: "not-found", nearest: nearest(path) };
    }
    real = native(path);
  } catch (thrown) {
    return failure(thrown);
  }
  // Where the answer is the question there was no link on the way, and each byte was what the text says.
  if (real === path && !real.includes("\ufffd")) {
    return real;
  }
  const walked = walk(Buffer.from(path).toString("latin1"));
  return typeof walked === "string" ? decoded(walked) : walked;
}

/** The deepest ancestor of a missing path that is there, if only as a link. */
function nearest(path: string): string {
  let ancestor = path;
  do {
    ancestor = ancestor.slice(0, ancestor.lastIndexOf("/")) || "/";
  } while (ancestor !== "/" && lstat(ancestor) === undefined);
  return ancestor;
}

/** What is at a path, if only a link; nothing below what is no directory. */
function lstat(path: string): Stats | undefined {
  try {
    return lstatSync(path, QUIET);
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "ENOTDIR") {
      return undefined;
    }
    throw thrown;
  }
}

/** The canonical form of a path of any bytes, as a binary string. */
export function realpathOfBytes(path: string): string | RealpathFailure {
  return walk(path);
}

function decoded(path: string): string | RealpathFailure {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytesOf(path));
  } catch {
    return NOT_UTF8;
  }
}

/**
 * The kernel's walk (`path_resolution(7)`), one component after the other, every link read. The path is a binary
 * string: names are bytes, and need not be text.
 */
function walk(path: string): string | RealpathFailure {
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
            return LOOP;
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

/** What is written in the link; nothing for what is no link, a failure for what is not there. */
function linkTarget(path: string): string | RealpathFailure | undefined {
  const found = lstatSync(bytesOf(path), QUIET);
  if (found === undefined) {
    return NOT_FOUND;
  }
  if (!found.isSymbolicLink()) {
    return undefined;
  }
  const target = readlinkSync(bytesOf(path), "buffer").toString("latin1");
  // POSIX lets a link be empty; following it finds nothing.
  return target === "" ? NOT_FOUND : target;
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

function failure(thrown: unknown): RealpathFailure {
  switch ((thrown as { code?: unknown }).code) {
    case "ENOENT":
    case "ENOTDIR":
      return NOT_FOUND;
    case "ELOOP":
      return LOOP;
    case "EACCES":
    case "EPERM":
      return DENIED;
    default:
      return OTHER;
  }
}

/** The target of the link at a path, as it is written there. */
export function readLink(path: string): string | undefined {
  const cut = path.lastIndexOf("/");
  const name = path.slice(cut + 1);
  if (cut === -1 || name === "") {
    return undefined;
  }
  // Nothing, or something else, is no link, whatever led there.
  if (lstat(path)?.isSymbolicLink() !== true) {
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

/** Whether the path is an existing directory; `undefined` when that cannot be told. */
export function isDirectory(path: string): boolean | undefined {
  const real = realpath(path);
  if (typeof real === "object") {
    return real.error === "not-found" ? false : undefined;
  }
  return statSync(real, QUIET)?.isDirectory();
}

/** Whether a path names, or lies within, a place that belongs to one process (`proc(5)`). */
export function isProcessRelative(path: string): boolean {
  return PROCESS_RELATIVE.test(path);
}

const PROCESS_RELATIVE = /^\/(?:dev\/fd|proc\/(?:self|thread-self|\d+))(?:\/|$)/;

/** Whether a link is `self` or `thread-self` of a proc filesystem, wherever that is mounted. */
function isProcessLink(name: string, target: string): boolean {
  return (name === "self" && /^\d+$/.test(target)) || (name === "thread-self" && /^\d+(?:\/|$)/.test(target));
}
