// JSON text with names in order, as the command writes it to find digests.
import { isObject } from "./message.js";

/** The value as JSON text, names in the order of their code points at every depth. */
export function canonical(value: unknown): string {
  return written(
    value,
    (name) => name,
    (scalar) => JSON.stringify(scalar) ?? "null",
  );
}

/** The same for a value that {@link parseExact} read. */
export function canonicalExact(value: unknown): string {
  const bare = (text: string): string => text.slice(1);
  return written(value, bare, (scalar) => {
    if (typeof scalar !== "string") {
      return JSON.stringify(scalar);
    }
    return scalar.startsWith("n") ? bare(scalar) : JSON.stringify(bare(scalar));
  });
}

/** Reads JSON so that no number loses its spelling: each is a text after `n`, and each text and name comes after `s`. */
export function parseExact(text: string): unknown {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(text.replace(token, (found) => (found.startsWith('"') ? `"s${found.slice(1)}` : `"n${found}"`)));
}

function written(value: unknown, nameOf: (name: string) => string, scalar: (value: unknown) => string): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => written(item, nameOf, scalar)).join(",")}]`;
  }
  if (!isObject(value)) {
    return scalar(value);
  }
  const members = Object.entries(value).sort(([one], [other]) => byCodePoint(one, other));
  const texts = members.map(([name, member]) => `${JSON.stringify(nameOf(name))}:${written(member, nameOf, scalar)}`);
  return `{${texts.join(",")}}`;
}

function byCodePoint(one: string, other: string): number {
  const [ones, others] = [Array.from(one), Array.from(other)];
  for (const [at, letter] of ones.entries()) {
    const difference = (letter.codePointAt(0) ?? 0) - (others[at]?.codePointAt(0) ?? -1);
    if (difference !== 0) {
      return difference;
    }
  }
  return ones.length - others.length;
}
