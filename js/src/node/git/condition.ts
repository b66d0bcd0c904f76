import { NeedsGit } from "./entries.js";
import { canonical } from "./files.js";

/**
 * Whether a condition of `includeIf` (`git-config(1)`, "Conditional includes") holds.
 *
 * @throws {@link NeedsGit} for every condition but `gitdir`, and for patterns that are more than a directory's name.
 */
export function holdsGitDir(condition: string, path: string, gitDir: string | undefined, home: string): boolean {
  const [, fold, given] = /^gitdir(\/i)?:(.*)$/s.exec(condition) ?? [];
  if (given === undefined) {
    throw new NeedsGit(`git's configuration \`${path}\` includes on a condition that is not read: \`${condition}\``);
  }
  if (gitDir === undefined) {
    return false;
  }
  let pattern = given.startsWith("./")
    ? `${(canonical(path) ?? path).replace(/\/[^/]*$/, "")}/${given.slice(2)}`
    : interpolated(given, canonical(home) ?? home);
  const isAnchored = pattern.startsWith("/");
  const isDirectory = pattern.endsWith("/");
  if (/[*?[\\]/.test(pattern) || (fold !== undefined && /[^\x20-\x7e]/.test(pattern))) {
    throw new NeedsGit(`git's configuration \`${path}\` includes on a pattern that is not read: \`${condition}\``);
  }
  let place = gitDir;
  if (fold !== undefined) {
    pattern = pattern.toLowerCase();
    place = place.toLowerCase();
  }
  if (isAnchored) {
    return isDirectory ? place.startsWith(pattern) && place.length > pattern.length : place === pattern;
  }
  return isDirectory ? place.includes(`/${pattern}`) : place.endsWith(`/${pattern}`);
}

/** The path with `~` written out. */
export function interpolated(path: string, home: string): string {
  if (path === "~" || path.startsWith("~/")) {
    return home + path.slice(1);
  }
  if (/^(?:~|%\(|:\()/.test(path)) {
    throw new NeedsGit(`git's configuration has the path \`${path}\`, which only git can write out`);
  }
  return path;
}
