import { HostError } from "../../host.js";
import { type Entry, isOfInterest } from "./entries.js";

const KEY = /^[a-z][a-z0-9-]*$/i;
const SECTION = /^[a-z0-9.-]+$/i;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\\": "\\", '"': '"' };

/**
 * The entries of one file (`git-config(1)`, "Syntax"), less the sections without a part in this.
 *
 * @throws {@link HostError} at a syntax that git does not know, and at a NUL, at which git would cut.
 */
export function parse(path: string, content: string): Entry[] {
  return new Parser(path, content.replace(/^\u00ef\u00bb\u00bf/, "").replaceAll("\r\n", "\n")).entries();
}

class Parser {
  readonly #path: string;
  readonly #text: string;
  #at = 0;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    if (text.includes("\0")) {
      throw this.#refused("a NUL, expected text");
    }
  }

  entries(): Entry[] {
    const entries: Entry[] = [];
    let prefix = "";
    for (;;) {
      this.#skip(/[\s]*/y);
      const next = this.#text[this.#at];
      if (next === undefined) {
        return entries;
      }
      if (next === "#" || next === ";") {
        this.#skip(/[^\n]*/y);
      } else if (next === "[") {
        prefix = this.#header();
      } else {
        const entry = this.#entry(prefix);
        if (isOfInterest(entry)) {
          entries.push(entry);
        }
      }
    }
  }

  /** What stands before the name in the keys of a section; `[section.subsection]` is in lower case throughout. */
  #header(): string {
    const plain = this.#skip(/\[([^\s\]"]+)\]/y);
    const quoted = plain === null ? this.#skip(/\[([^\s\]"]+)[^\S\n]+"((?:[^"\\\n]|\\[^\n])*)"\]/y) : null;
    const name = (plain ?? quoted)?.[1];
    if (name === undefined || !SECTION.test(name)) {
      throw this.#refused("expected a section");
    }
    const subsection = quoted?.[2]?.replace(/\\(.)/gs, "$1");
    return subsection === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${subsection}`;
  }

  #entry(prefix: string): Entry {
    const name = this.#skip(/[^\s=#;]+/y)?.[0] ?? "";
    if (!KEY.test(name) || prefix === "") {
      throw this.#refused("expected a key and its value");
    }
    const key = `${prefix}.${name.toLowerCase()}`;
    this.#skip(/[ \t]*/y);
    if (this.#skip(/=/y) !== null) {
      return { key, value: this.#value() };
    }
    if (this.#skip(/\n|$/y) === null) {
      throw this.#refused("expected a key and its value");
    }
    return { key, value: undefined };
  }

  #value(): string {
    let value = "";
    // Spaces count only where something follows them.
    let spaces = "";
    let isQuoted = false;
    for (;;) {
      const next = this.#text[this.#at];
      this.#at += 1;
      if (next === undefined || next === "\n") {
        if (isQuoted) {
          throw this.#refused("expected the end of a quotation");
        }
        return value;
      }
      if (!isQuoted && /\s/.test(next)) {
        spaces += value === "" ? "" : next;
        continue;
      }
      if (!isQuoted && (next === "#" || next === ";")) {
        this.#skip(/[^\n]*/y);
        continue;
      }
      if (next === '"') {
        isQuoted = !isQuoted;
        value += spaces;
        spaces = "";
        continue;
      }
      if (next !== "\\") {
        value += spaces + next;
        spaces = "";
        continue;
      }
      const escaped = this.#text[this.#at] ?? "\n";
      this.#at += 1;
      if (escaped !== "\n") {
        const meant = Object.hasOwn(ESCAPES, escaped) ? ESCAPES[escaped] : undefined;
        if (meant === undefined) {
          throw this.#refused("expected another escape");
        }
        value += spaces + meant;
        spaces = "";
      }
    }
  }

  #skip(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#text);
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #refused(why: string): HostError {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    return new HostError(`git's configuration \`${this.#path}\`, line ${line}: ${why}`);
  }
}
