// What the texts of a call were judged as, where they are not sent as they came. The guard of the command says the same.
import type { Explanation } from "../types.js";
import { isObject } from "./message.js";

/** How many texts are named. */
const MOST = 8;

/** Characters of a text that a message has. */
const SHOWN = 200;

/** How a redacted value is shown by the engine. */
const REDACTED = "[redacted]";

interface Rewritten {
  /** The argument that holds the text, as a JSON Pointer. */
  readonly argument: string;
  readonly raw: string;
  readonly sent: string;
}

/** The end of a denial: what the texts were judged as. Of those that the explanation does not show nothing is said. */
export function judgedAs(given: unknown, sent: unknown, explained: () => Explanation | undefined): string {
  const found: Rewritten[] = [];
  compare(given, sent, "", found);
  const values = found.length === 0 ? [] : (explained()?.values ?? []);
  const shown = found.filter(({ argument }) => {
    const own = values.filter((value) => value.argument === argument);
    return own.length > 0 && own.every(({ raw }) => raw !== REDACTED);
  });
  const each = shown.map(({ argument, raw, sent }) => `${argument} ${quoted(raw)} as ${quoted(sent)}`);
  return each.length === 0 ? "" : ` (judged: ${each.join(", ")})`;
}

/** Finds the texts that differ in two values of one shape. */
function compare(given: unknown, sent: unknown, pointer: string, found: Rewritten[]): void {
  if (given === sent || found.length >= MOST) {
    return;
  }
  if (typeof given === "string" && typeof sent === "string") {
    found.push({ argument: pointer, raw: given, sent });
  } else if (Array.isArray(given) && Array.isArray(sent)) {
    for (const [at, value] of given.slice(0, sent.length).entries()) {
      compare(value, sent[at], `${pointer}/${at}`, found);
    }
  } else if (isObject(given) && isObject(sent)) {
    for (const [name, value] of Object.entries(given)) {
      const token = name.replaceAll("~", "~0").replaceAll("/", "~1");
      compare(value, Object.hasOwn(sent, name) ? sent[name] : value, `${pointer}/${token}`, found);
    }
  }
}

function quoted(text: string): string {
  const characters = [...text.slice(0, 2 * SHOWN)].slice(0, SHOWN);
  const shown = characters.join("");
  return `${JSON.stringify(shown)}${shown.length < text.length ? "…" : ""}`;
}
