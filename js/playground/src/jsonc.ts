/**
 * Where things stand in a text: JSON with comments and trailing commas, read as far as it goes. It serves the editor, which has
 * to know places in a text that is being written; the engine reads documents by itself.
 */

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A value and its place. */
export type JsonNode = Range &
  (
    | { readonly kind: "object"; readonly members: readonly JsonMember[] }
    | { readonly kind: "array"; readonly items: readonly JsonNode[] }
    | { readonly kind: "value"; readonly value: unknown }
  );

/** A key with its value, which may not be written yet. */
export interface JsonMember {
  readonly key: string;
  readonly keyFrom: number;
  readonly keyTo: number;
  readonly value: JsonNode | undefined;
}

/** Deeper values are passed over. */
const MAX_DEPTH = 200;

const SPACE = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/y;
const WORD = /[^\s,:{}[\]"/]+/y;

class Reader {
  at = 0;
  readonly text: string;
  /** Objects and arrays below this many others are passed over. */
  readonly most: number;

  constructor(text: string, most: number) {
    this.text = text;
    this.most = most;
  }

  value(depth: number): JsonNode | undefined {
    this.space();
    const from = this.at;
    const next = this.text[from];
    if (next === "{" || next === "[") {
      if (depth >= this.most) {
        this.at = endOf(this.text, from);
        return { kind: "value", value: undefined, from, to: this.at };
      }
      this.at += 1;
      return next === "{" ? this.object(from, depth) : this.array(from, depth);
    }
    const written = next === '"' ? this.string() : this.match(WORD);
    return written === "" ? undefined : { kind: "value", value: scalar(written), from, to: this.at };
  }

  object(from: number, depth: number): JsonNode {
    const members: JsonMember[] = [];
    for (;;) {
      this.space();
      const keyFrom = this.at;
      const key = this.text[keyFrom] === '"' ? this.string() : this.match(WORD);
      if (key === "") {
        if (this.ends("}", "]")) {
          return { kind: "object", members, from, to: this.at };
        }
        continue;
      }
      const keyTo = this.at;
      this.space();
      let value: JsonNode | undefined;
      if (this.text[this.at] === ":") {
        this.at += 1;
        value = depth < MAX_DEPTH ? this.value(depth + 1) : undefined;
      }
      members.push({ key: String(scalar(key)), keyFrom, keyTo, value });
    }
  }

  array(from: number, depth: number): JsonNode {
    const items: JsonNode[] = [];
    for (;;) {
      const item = depth < MAX_DEPTH ? this.value(depth + 1) : undefined;
      if (item !== undefined) {
        items.push(item);
      } else if (this.ends("]", "}")) {
        return { kind: "array", items, from, to: this.at };
      }
    }
  }

  /** Passes over one character that begins nothing. Returns `true` if what is being read ends here. */
  ends(own: string, other: string): boolean {
    const next = this.text[this.at];
    if (next === undefined || next === other) {
      return true;
    }
    this.at += 1;
    return next === own;
  }

  space(): void {
    this.match(SPACE);
  }

  string(): string {
    const from = this.at;
    this.at = endOfString(this.text, from);
    return this.text.slice(from, this.at);
  }

  match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}

function scalar(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return written.replace(/^"|"$/g, "");
  }
}

/** Where the string ends that begins at `from`: behind its quote, or with its line. Whoever reads on from there reads once. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"' && text[at] !== "\n") {
    at += text[at] === "\\" && text[at + 1] !== "\n" ? 2 : 1;
  }
  return Math.min(text[at] === '"' ? at + 1 : at, text.length);
}

function isComment(text: string, at: number): boolean {
  return text[at] === "/" && (text[at + 1] === "/" || text[at + 1] === "*");
}

/** Where the comment ends that begins at `from`: before the end of its line, or behind its last slash. */
function endOfComment(text: string, from: number): number {
  const isLine = text[from + 1] === "/";
  const end = isLine ? text.indexOf("\n", from) : text.indexOf("*/", from + 2) + 2;
  return end < (isLine ? 0 : 2) ? text.length : end;
}

/** The text without comments and trailing commas. Lines stay lines. */
export function withoutComments(text: string): string {
  const bare = without(text, (all, at) => (isComment(all, at) ? endOfComment(all, at) : at));
  return without(bare, (all, at) => {
    SPACE.lastIndex = at + 1;
    const isLast = all[at] === "," && /[}\]]/.test(all[at + 1 + (SPACE.exec(all)?.[0].length ?? 0)] ?? "");
    return isLast ? at + 1 : at;
  });
}

/** The JSON text without what stands between its words. */
export function withoutSpace(text: string): string {
  return without(text, (all, at) => (/\s/.test(all[at] ?? "") ? at + 1 : at));
}

/** The text without what begins between two strings; `end` says where that ends, and of what stays the place itself. */
function without(text: string, end: (text: string, at: number) => number): string {
  const parts: string[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const next = end(text, at);
    if (next > at) {
      parts.push(text.slice(from, at));
      from = next;
      at = next;
    } else {
      at = text[at] === '"' ? endOfString(text, at) : at + 1;
    }
  }
  return parts.join("") + text.slice(from);
}

/** Returns `true` if objects and arrays lie in each other more deeply than is read here. */
export function isTooDeep(text: string): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    const next = text[at];
    if (next === '"') {
      at = endOfString(text, at) - 1;
    } else if (isComment(text, at)) {
      at = endOfComment(text, at) - 1;
    } else if (next === "{" || next === "[") {
      open += 1;
      if (open > MAX_DEPTH) {
        return true;
      }
    } else if (next === "}" || next === "]") {
      open -= 1;
    }
  }
  return false;
}

/** Why a text is not read that {@link isTooDeep}. */
export const TOO_DEEP = `it is nested more than ${MAX_DEPTH} deep`;

/** Where the object or array ends that begins at `from`. Nothing is made of it, so that a long one takes little time. */
function endOf(text: string, from: number): number {
  let open = 0;
  for (let at = from; at < text.length; at += 1) {
    const next = text[at];
    if (next === '"') {
      at = endOfString(text, at) - 1;
    } else if (isComment(text, at)) {
      at = endOfComment(text, at) - 1;
    } else if (next === "{" || next === "[") {
      open += 1;
    } else if (next === "}" || next === "]") {
      open -= 1;
      if (open === 0) {
        return at + 1;
      }
    }
  }
  return text.length;
}

/**
 * Reads a text; `undefined` if it holds nothing. Objects and arrays that lie in `most` others have their places and nothing in
 * them.
 */
export function readJson(text: string, most: number = Number.POSITIVE_INFINITY): JsonNode | undefined {
  return new Reader(text, most).value(0);
}

/** The value that a node stands for. Keys such as `__proto__` are ordinary members. */
export function plainValue(node: JsonNode | undefined): unknown {
  switch (node?.kind) {
    case "object":
      return Object.fromEntries(node.members.map(({ key, value }) => [key, plainValue(value)]));
    case "array":
      return node.items.map(plainValue);
    default:
      return node?.value;
  }
}

/** The member of an object, or the item of an array. */
export function child(node: JsonNode | undefined, step: string | number): JsonNode | undefined {
  if (node?.kind === "object") {
    return node.members.find(({ key }) => key === String(step))?.value;
  }
  return node?.kind === "array" ? node.items[Number(step)] : undefined;
}

/** The node that a path of keys and indices leads to. */
export function follow(node: JsonNode | undefined, path: readonly (string | number)[]): JsonNode | undefined {
  return path.reduce<JsonNode | undefined>(child, node);
}

/** Where a cursor stands: the path of what encloses it, and whether a key is being written there. */
export interface Cursor {
  readonly path: readonly (string | number)[];
  /** The part of the text that is being written, quotes included. */
  readonly from: number;
  readonly to: number;
  readonly isKey: boolean;
  /** The object around the key. */
  readonly siblings: readonly string[];
}

/** Where an offset stands in a text. */
export function cursorAt(root: JsonNode | undefined, offset: number): Cursor {
  const path: (string | number)[] = [];
  let node = root;
  for (;;) {
    if (node?.kind === "object") {
      const siblings = node.members.map(({ key }) => key);
      const member = node.members.find(
        ({ keyFrom, keyTo, value }) => keyFrom < offset && offset <= (value?.to ?? keyTo),
      );
      const key = member !== undefined && offset <= member.keyTo ? member : undefined;
      if (member === undefined || key !== undefined) {
        const begun = [...node.members].reverse().find(({ keyTo }) => keyTo <= offset);
        if (key === undefined && begun !== undefined && begun.value === undefined) {
          return { path: [...path, begun.key], from: offset, to: offset, isKey: false, siblings: [] };
        }
        const { keyFrom = offset, keyTo = offset } = key ?? {};
        return { path, from: keyFrom, to: keyTo, isKey: true, siblings };
      }
      path.push(member.key);
      if (member.value === undefined || offset < member.value.from) {
        return { path, from: offset, to: offset, isKey: false, siblings: [] };
      }
      node = member.value;
    } else if (node?.kind === "array") {
      const at = node.items.findIndex(({ from, to }) => from < offset && offset <= to);
      const before = node.items.filter(({ to }) => to < offset).length;
      path.push(at < 0 ? before : at);
      if (at < 0) {
        return { path, from: offset, to: offset, isKey: false, siblings: [] };
      }
      node = node.items[at];
    } else {
      return { path, from: node?.from ?? offset, to: node?.to ?? offset, isKey: false, siblings: [] };
    }
  }
}
