import { DOCUMENTS, type DocumentKey } from "../documents.js";
import { readJson } from "../jsonc.js";
import { editBetween } from "./edit.js";

/** A document that is written out in a bundle, and where it stands. */
export interface Inner {
  readonly key: DocumentKey;
  readonly from: number;
  readonly to: number;
  /** Where the next document begins in the bundle, if there is one. */
  readonly next: number | undefined;
}

/** The longest document in a bundle. */
export function innerOf(bundle: string): Inner | undefined {
  const root = readJson(bundle, 1);
  const members = root?.kind === "object" ? root.members : [];
  const values = members.flatMap(({ value }) => (value === undefined ? [] : [value]));
  const found = DOCUMENTS.flatMap((key) => {
    const [value, ...others] = members.filter((member) => member.key === key).map((member) => member.value);
    return value === undefined || others.length > 0 || bundle[value.from] !== "{" ? [] : [{ key, ...value }];
  });
  const [longest] = found.sort((one, other) => other.to - other.from - (one.to - one.from));
  if (longest === undefined) {
    return undefined;
  }
  const { key, from, to } = longest;
  return { key, from, to, next: values.find((value) => value.from >= to)?.from };
}

/**
 * The document in the bundle after an edit within it, where the rest of the bundle surely means what it did, if only the text
 * from `from` to `to` is a document; else `undefined`.
 *
 * A document ends with its last bracket, so the rest begins where it did, unless that bracket stands in a comment now. A comment
 * up to the end of a line would begin in the last line; another one would end with a slash.
 */
export function editedInner(before: string, { key, from, to, next }: Inner, after: string): Inner | undefined {
  const edit = editBetween(before, after);
  const removed = before.slice(edit.from, edit.to);
  if (edit.from <= from || edit.to >= to || /[\n\r]/.test(removed + edit.insert)) {
    return undefined;
  }
  const more = edit.insert.length - removed.length;
  const end = to + more;
  const lastLine = after.slice(Math.max(from, after.lastIndexOf("\n", end - 1)), end);
  // The place of the next document has to stay in its line.
  const isApart = next === undefined || before.slice(edit.to, next).includes("\n");
  return !isApart || lastLine.includes("//") ? undefined : { key, from, to: end, next: next && next + more };
}
