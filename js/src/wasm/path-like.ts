// What looks like a path in values that no annotation names.
import { checkOwnToJSON, DEEPEST, MOST_ITEMS, textOf } from "./plain-data.js";
import { beginning, isWellFormed, Unit, withoutLoneSurrogates } from "./text.js";
import { Tag, type Writer, writeText } from "./writer.js";

// Taken now, before other code can replace them.
const { getOwnPropertyNames } = Object;
const { isArray } = Array;

/** Writes what looks like a path in an array, and in the arrays that it holds. `around` are those that hold it. */
export function writePathLike(
  writer: Writer,
  items: readonly unknown[],
  name: string,
  around: ReadonlySet<unknown> = new Set(),
): void {
  if (around.has(items) || around.size === DEEPEST) {
    writeTooDeep(writer);
    return;
  }
  const found = pathsByIndex(items, name) ?? pathsByName(items, name);
  const within = new Set(around).add(items);
  writer.byte(Tag.Array);
  writer.count(found.length);
  for (let index = 0; index < found.length; index++) {
    const one = found[index];
    if (typeof one === "string") {
      writeText(writer, one);
    } else {
      writePathLike(writer, one as readonly unknown[], name, within);
    }
  }
}

/** Writes arrays that the engine refuses for their depth, in place of one that nests deeper or holds itself. */
function writeTooDeep(writer: Writer): void {
  for (let depth = 0; depth < DEEPEST; depth++) {
    writer.byte(Tag.Array);
    writer.count(1);
  }
  writer.byte(Tag.Null);
}

/** The items that look like paths, and the arrays; undefined for an array that is mostly holes, which may be of any length. */
function pathsByIndex(items: readonly unknown[], name: string): (string | readonly unknown[])[] | undefined {
  const found: (string | readonly unknown[])[] = [];
  let holes = 0;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (item === undefined) {
      if (++holes > MOST_ITEMS) {
        return undefined;
      }
      continue;
    }
    if (isArray(item)) {
      checkOwnToJSON(item, name);
      found[found.length] = item;
      continue;
    }
    const text = textOfItem(item, name);
    if (text !== undefined && looksLikePath(text)) {
      found[found.length] = text;
    }
  }
  return found;
}

/** The same by the names that the array has: hundreds of times as slow, but in proportion to what is there. */
function pathsByName(items: readonly unknown[], name: string): (string | readonly unknown[])[] {
  const found: (string | readonly unknown[])[] = [];
  for (const at of getOwnPropertyNames(items)) {
    const item = (items as unknown as Record<string, unknown>)[at];
    if (isArray(item)) {
      checkOwnToJSON(item, name);
      found[found.length] = item;
      continue;
    }
    const text = textOfItem(item, name);
    if (text !== undefined && looksLikePath(text)) {
      found[found.length] = text;
    }
  }
  return found;
}

/** The text of an item of an array. */
function textOfItem(item: unknown, name: string): string | undefined {
  if (typeof item === "string") {
    return item;
  }
  checkOwnToJSON(item, name);
  return textOf(item);
}

/** Characters within which the schemes before the path of a `file:` URI stand. */
const LONGEST_SCHEMES = 64;

/**
 * Every string that passes core's test passes this one. Testing here saves copying long strings that are not paths.
 */
export function looksLikePath(text: string): boolean {
  const start = beginning(text);
  const first = text.charCodeAt(start);
  return (
    first === Unit.Slash ||
    first === Unit.Dot ||
    first === Unit.Tilde ||
    text.includes("/..") ||
    (!isWellFormed(text) && withoutLoneSurrogates(text).includes("/..")) ||
    mayBeFileUri(text.slice(start, start + LONGEST_SCHEMES))
  );
}

function mayBeFileUri(head: string): boolean {
  return head.includes(":") && /file:/i.test(withoutLoneSurrogates(head).replace(/[\t\n\r]/g, ""));
}
