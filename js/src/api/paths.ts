import * as wasm from "../../wasm/callgate.js";
import { checkedText, withHost } from "./plain.js";

/** A path with the home directory in the place of `~` or of the `~` of `~/…`; `~name` stays as it is. */
export function expandTilde(path: string): string {
  const text = checkedText(path, "path");
  return withHost(({ homeDir, currentDir, bridge }) => wasm.expandTilde(text, homeDir, currentDir, bridge));
}

/**
 * The canonical form of a path, links followed; what does not exist yet continues the deepest directory that does.
 * A path without a canonical form (empty, with a NUL, through a loop of links, …) comes back in its lexical form.
 */
export function resolveRealPath(path: string): string {
  const text = checkedText(path, "path");
  return withHost(({ homeDir, currentDir, bridge }) => wasm.resolveRealPath(text, homeDir, currentDir, bridge));
}

/** Whether a path lies within a directory, or is it; what has no canonical form does not. */
export function isWithinDirectory(path: string, directory: string): boolean {
  const text = checkedText(path, "path");
  const within = checkedText(directory, "directory");
  return withHost(({ homeDir, currentDir, bridge }) =>
    wasm.isWithinDirectory(text, within, homeDir, currentDir, bridge),
  );
}

/** The directory that holds a path: its canonical parent, or itself where the text ends in `/`. */
export function directoryForPath(path: string): string {
  const text = checkedText(path, "path");
  return withHost(({ homeDir, currentDir, bridge }) => wasm.directoryForPath(text, homeDir, currentDir, bridge));
}
