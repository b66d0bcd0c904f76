import * as wasm from "../../wasm/tools.js";
import { CallgateError } from "../errors.js";
import { reading } from "../members.js";
import { within } from "../tools/module.js";
import type { ListType } from "../types.js";
import { askOf, withHost } from "./plain.js";
import { checkedText } from "./text.js";

/** A URL in its canonical form (WHATWG), without the `/` of an empty path; other text is returned unchanged. */
export function normalizeUrl(url: string): string {
  return askOf(url, "url", wasm.normalizeUrl);
}

/** The same for a git URL, without a `/` at the end; `[user@]host:path` is returned unchanged. */
export function normalizeGitUrl(url: string): string {
  return askOf(url, "url", wasm.normalizeGitUrl);
}

/** The host name of a URL; other text is returned unchanged. */
export function extractDomain(url: string): string {
  return askOf(url, "url", wasm.extractDomain);
}

/** `host/owner/repo` of a git URL, or its host name; other text is returned unchanged. */
export function extractGitDomain(url: string): string {
  return askOf(url, "url", wasm.extractGitDomain);
}

/** The domain that policy sees of a value with this role. For a git remote it includes owner and repository. */
export function extractDomainForRole(value: string, role: string): string {
  return role === "git-remote-url" ? extractGitDomain(value) : extractDomain(value);
}

/** Returns `true` if the domain matches a pattern: `example.com`, `*.example.com`, `host/owner/repo` or `*`. */
export function domainMatchesAllowlist(domain: string, allowedDomains: readonly string[]): boolean {
  return reading("allowlist", () => {
    const text = checkedText(domain, "domain");
    const patterns = allowedDomains.map((pattern) => checkedText(pattern, "allowedDomains"));
    return within("invalid-argument", () => wasm.domainMatchesAllowlist(text, patterns));
  });
}

/** Returns `true` if the text is an IPv4 address in four decimal groups, or contains a `:`. */
export function isIpAddress(host: string): boolean {
  return askOf(host, "host", wasm.isIpAddress);
}

/**
 * The URL that a git remote's name stands for in the repository at `args.path`, or in the current directory. A URL
 * and an unknown name are returned unchanged.
 */
export function resolveGitRemote(remote: string, args: Readonly<Record<string, unknown>>): string {
  return reading("arguments", () => {
    const text = checkedText(remote, "remote");
    const path = Object.hasOwn(args, "path") ? args.path : undefined;
    const repository = typeof path === "string" ? checkedText(path, "path") : undefined;
    return withHost((host) => wasm.resolveGitRemote(host, text, repository));
  });
}

/** The URL that a fetch or push without an argument would use in the repository at this path. */
export function resolveDefaultGitRemote(repositoryPath: string): string | undefined {
  const text = checkedText(repositoryPath, "repositoryPath");
  return withHost((host) => wasm.resolveDefaultGitRemote(host, text));
}

/** A type of list, and how its entries are compared. */
export interface ListTypeDefinition {
  readonly description: string;
  /** Returns `true` if the value is covered by `pattern`, an entry of a list. */
  readonly matches: (value: string, pattern: string) => boolean;
}

function matcher(type: ListType): ListTypeDefinition["matches"] {
  return (value, pattern) => {
    const [text, entry] = [checkedText(value, "value"), checkedText(pattern, "pattern")];
    return within("invalid-argument", () => wasm.listEntryMatches(type, text, entry)) === true;
  };
}

const LIST_TYPES: { readonly [type in ListType]: string } = {
  domains: "domain names; `*.example.com` is an entry for `example.com` and everything below it",
  emails: "e-mail addresses, compared without regard to case",
  identifiers: "names, compared exactly",
};

/** Every type of list with its definition. */
export const LIST_TYPE_REGISTRY: ReadonlyMap<ListType, ListTypeDefinition> = new Map(
  (Object.keys(LIST_TYPES) as ListType[]).map((type) => [
    type,
    Object.freeze({ description: LIST_TYPES[type], matches: matcher(type) }),
  ]),
);

/**
 * The function that compares a value with an entry of a list of this type.
 *
 * @throws {@link CallgateError} `invalid-argument` if there is no such type.
 */
export function getListMatcher(type: ListType): (value: string, pattern: string) => boolean {
  return reading("type", () => {
    const definition = LIST_TYPE_REGISTRY.get(type);
    if (definition === undefined) {
      throw new CallgateError("invalid-argument", `unknown list type \`${String(type)}\``);
    }
    return definition.matches;
  });
}
