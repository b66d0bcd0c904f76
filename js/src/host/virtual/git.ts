import type { GitIgnore } from "../../host.js";
import type { MachineRepository } from "./machine.js";

/** The remote that git uses if none is configured. */
const ORIGIN = "origin";

/** Where branches are. */
const HEADS = "refs/heads/";

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

/** What git's ignore files say of a path without links; `undefined` if it cannot be told. */
export function checkIgnore({ checkIgnore = {} }: MachineRepository, path: string): GitIgnore | undefined {
  const said = (place: string): GitIgnore | null =>
    Object.hasOwn(checkIgnore, place) ? (checkIgnore[place] ?? null) : "unmentioned";
  for (let above = path; above !== ""; ) {
    above = above.slice(0, above.lastIndexOf("/"));
    if (said(above) === "ignored") {
      return "ignored";
    }
  }
  return said(path) ?? undefined;
}

/** The refs that a push updates because the configuration says so; `undefined` if they cannot be told. */
export function pushRefs(
  repository: MachineRepository,
  remote: string,
  reference: string,
): readonly string[] | undefined {
  const { pushRefspecs = {}, mirrors = [], pushMode, branchMerges = {} } = repository;
  const remotes = remote === "" ? remotesByDefault(repository) : [remote];
  const refspecs = remotes
    .flatMap((name) => (Object.hasOwn(pushRefspecs, name) ? (pushRefspecs[name] ?? []) : []))
    .map((text) => refspec(text.trim()));
  const refs: string[] = [];
  if (reference === "") {
    const isPattern = refspecs.some(([, to]) => to === "" || to.includes("*"));
    const isMatching = refspecs.length === 0 && pushMode === "matching";
    if (isPattern || isMatching || remotes.some((name) => mirrors.includes(name))) {
      return undefined;
    }
    refs.push(...refspecs.map(([, to]) => to).filter((to) => to !== "HEAD"));
  }
  const name = reference === "" || reference === "HEAD" ? repository.branch?.trim() : reference;
  if (name === undefined) {
    return refs;
  }
  const full = name.startsWith(HEADS) ? name : HEADS + name;
  const mapped = refspecs.map(([from, to]) => destination(full, from, to)).find((to) => to !== undefined);
  if (mapped !== undefined && mapped !== full) {
    refs.push(mapped);
  }
  const branch = full.slice(HEADS.length);
  if (pushMode === "upstream" && Object.hasOwn(branchMerges, branch)) {
    refs.push(branchMerges[branch] ?? "");
  }
  return distinct(refs);
}

/** The remotes that a push without one may use. */
function remotesByDefault(repository: MachineRepository): string[] {
  const { branchRemotes, branchRemote, branchPushRemotes, pushDefault } = repository;
  const branch = repository.branch?.trim();
  const ofBranch = (table: Readonly<Record<string, string>> = {}): string[] =>
    branch !== undefined && Object.hasOwn(table, branch) ? [table[branch] ?? ""] : [];
  const configured = [
    ...ofBranch(branchRemotes ?? branchRemote),
    ...ofBranch(branchPushRemotes),
    pushDefault ?? ORIGIN,
  ];
  return distinct([...configured.map((name) => name.trim()), ORIGIN]);
}

/** The source and the destination of a refspec, which are the same where it has no colon. */
function refspec(text: string): readonly [from: string, to: string] {
  const pair = text.startsWith("+") ? text.slice(1) : text;
  const colon = pair.lastIndexOf(":");
  return colon < 0 ? [pair, pair] : [pair.slice(0, colon), pair.slice(colon + 1)];
}

/** The name that a refspec's destination maps the reference to if its source matches it. */
function destination(reference: string, from: string, to: string): string | undefined {
  const star = from.indexOf("*");
  if (star < 0) {
    return reference === from ? to : undefined;
  }
  const [before, after] = [from.slice(0, star), from.slice(star + 1)];
  const fits =
    reference.length >= before.length + after.length && reference.startsWith(before) && reference.endsWith(after);
  const middle = reference.slice(before.length, reference.length - after.length);
  return fits ? to.replace("*", () => middle) : undefined;
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
