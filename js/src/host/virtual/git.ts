import type { MachineRepository } from "./machine.js";

/** The remote that git uses if none is configured. */
const ORIGIN = "origin";

/** The repository at a directory or the nearest one above it. */
export function nearest(
  repositories: Readonly<Record<string, MachineRepository>>,
  directory: string,
): MachineRepository | undefined {
  for (let place = directory; ; place = place.slice(0, place.lastIndexOf("/")) || "/") {
    if (Object.hasOwn(repositories, place)) {
      return repositories[place];
    }
    if (place === "/") {
      return undefined;
    }
  }
}

/** Every URL that a remote stands for: those to fetch from, then those to push to. */
export function remoteUrls(repository: MachineRepository, name: string): string[] {
  if (name.startsWith("-") || name.includes("\0")) {
    return [];
  }
  const { remotes = {}, pushUrls = {} } = repository;
  const urls = [remotes, pushUrls].flatMap((table) => (Object.hasOwn(table, name) ? (table[name] ?? []) : []));
  return distinct(urls.map((url) => rewritten(repository, url.trim())));
}

/** The URLs of the remotes that a fetch and a push without an argument use. */
export function defaultUrls(repository: MachineRepository): string[] {
  const branch = repository.branch?.trim();
  const ofBranch = (table: Readonly<Record<string, string>> = {}): string | undefined =>
    branch !== undefined && Object.hasOwn(table, branch) ? table[branch] : undefined;
  const tracking = ofBranch(repository.branchRemotes ?? repository.branchRemote);
  const push = ofBranch(repository.branchPushRemotes) ?? repository.pushDefault ?? undefined;
  const tracked = tracking === undefined ? [] : urlsOfSetting(repository, tracking);
  const fetched = tracked.some((url) => url !== "") ? tracked : remoteUrls(repository, ORIGIN);
  const pushed = push === undefined ? [] : urlsOfSetting(repository, push);
  return distinct([...fetched, ...pushed].filter((url) => url !== ""));
}

/** The URLs that git uses for an explicit URL: a remote may have it as its name, and `insteadOf` may rewrite it. */
export function explicitUrls(repository: MachineRepository, url: string): string[] {
  const named = remoteUrls(repository, url);
  return named.length > 0 ? named : [rewritten(repository, url)];
}

/** The URLs of a remote as a setting gives it: by name, or as a URL. */
function urlsOfSetting(repository: MachineRepository, setting: string): string[] {
  const remote = setting.trim();
  return remote.includes(":") ? explicitUrls(repository, remote) : remoteUrls(repository, remote);
}

/** The URL after `insteadOf`; the longest match wins (`git-config(1)`). */
function rewritten(repository: MachineRepository, url: string): string {
  let longest: readonly [base: string, prefix: string] | undefined;
  for (const [base, prefix] of Object.entries(repository.insteadOf ?? {}).sort()) {
    if (url.startsWith(prefix) && (longest === undefined || prefix.length >= longest[1].length)) {
      longest = [base, prefix];
    }
  }
  return longest === undefined ? url : longest[0] + url.slice(longest[1].length);
}

function distinct(urls: readonly string[]): string[] {
  return [...new Set(urls)];
}
