import * as wasm from "../../wasm/tools.js";
import { withHost } from "./plain.js";
import { checkedText } from "./text.js";

/** The path with the home directory in place of `~` or of the `~` in `~/…`; `~name` is left alone. */
export function expandTilde(path: string): string {
  const text = checkedText(path, "path");
  return withHost((host) => wasm.expandTilde(host, text));
}

/**
 * The canonical form of a path, links followed. A missing rest is appended to the deepest directory that exists.
 * A path without a canonical form (empty, with a NUL, through a loop of links, …) is returned in its lexical form.
 */
export function resolveRealPath(path: string): string {
  const text = checkedText(path, "path");
  return withHost((host) => wasm.resolveRealPath(host, text));
}

/** Returns `true` if the path is the directory or lies within it; `false` if either has no canonical form. */
export function isWithinDirectory(path: string, directory: string): boolean {
  const text = checkedText(path, "path");
  const within = checkedText(directory, "directory");
  return withHost((host) => wasm.isWithinDirectory(host, text, within));
}

/** The directory that holds a path: its canonical parent, or itself if the text ends in `/`. */
export function directoryForPath(path: string): string {
  const text = checkedText(path, "path");
  return withHost((host) => wasm.directoryForPath(host, text));
}
