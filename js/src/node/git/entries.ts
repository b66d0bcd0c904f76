import { HostError } from "../../host.js";

/** The sections that have a part in what git connects to; all others are passed over. */
const SECTIONS = new Set(["branch", "extensions", "fetch", "include", "includeif", "remote", "remotes", "url"]);

/** The bytes of a key and of a value. */
const MAX_ENTRY_BYTES = 32 << 10;

/** A key with its value, in the order of the files. */
export interface Entry {
  /** The whole key, `section.subsection.name`, with the section and the name in lower case. */
  readonly key: string;
  /** `undefined` for a key without `=`. */
  readonly value: string | undefined;
}

/** Reading cannot tell; git can. */
export class NeedsGit extends HostError {}

/** The key in its parts: the section ends at the first dot, the name starts after the last. */
export function partsOf({ key }: Entry): { section: string; subsection: string | undefined; name: string } {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  return {
    section: first === -1 ? key : key.slice(0, first),
    subsection: first < last ? key.slice(first + 1, last) : undefined,
    name: first === -1 ? "" : key.slice(last + 1),
  };
}

/** The value of a key that must have one. */
export function required(entry: Entry): string {
  if (entry.value === undefined) {
    throw new HostError(`git's configuration: \`${entry.key}\` has no value`);
  }
  return entry.value;
}

/** The value as git's boolean (`git-config(1)`, "Values"). */
export function booleanOf(entry: Entry): boolean {
  switch (entry.value?.toLowerCase()) {
    case undefined:
    case "true":
    case "yes":
    case "on":
      return true;
    case "false":
    case "no":
    case "off":
    case "":
      return false;
    default:
      if (!/^[-+]?\d{1,9}$/.test(entry.value as string)) {
        throw new HostError(`git's configuration: \`${entry.key}\` is no boolean`);
      }
      return Number(entry.value) !== 0;
  }
}

/** Whether the entry's section has a part in what git connects to, and its size is sane. */
export function isOfInterest(entry: Entry): boolean {
  if (!SECTIONS.has(partsOf(entry).section)) {
    return false;
  }
  if (Math.max(entry.key.length, entry.value?.length ?? 0) > MAX_ENTRY_BYTES) {
    throw new HostError(`git's configuration has a key or a value of more than ${MAX_ENTRY_BYTES} bytes`);
  }
  return true;
}
