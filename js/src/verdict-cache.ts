import type { Verdict } from "./documents.js";
import { Unit } from "./text.js";

/** The most origins of which verdicts are kept. */
const MOST_ORIGINS = 256;
/** How long a plain text may be, in code units; the module has the same limit. */
const LONGEST = 1024;

/**
 * The verdicts of calls that have one shape, hold plain values and asked the host nothing, by what they vary by: the origin
 * of a URL, or nothing. What a judgement of such a call can look at is the same in all that have the same key.
 */
export class VerdictCache {
  readonly #verdicts = new Map<string, Verdict>();

  get(key: string): Verdict | undefined {
    return this.#verdicts.get(key);
  }

  keep(key: string, verdict: Verdict): void {
    if (this.#verdicts.size === MOST_ORIGINS) {
      this.#verdicts.clear();
    }
    this.#verdicts.set(key, verdict);
  }

  clear(): void {
    this.#verdicts.clear();
  }
}

/** Whether the text is plain: printable ASCII that does not begin like an option or a path. */
export function isPlain(text: string): boolean {
  const { length } = text;
  const first = text.charCodeAt(0);
  let isPrintable = length > 0 && length <= LONGEST;
  for (let index = 0; index < length && isPrintable; index++) {
    const unit = text.charCodeAt(index);
    isPrintable = unit >= Unit.Space && unit <= Unit.Tilde;
  }
  return isPrintable && first !== Unit.Dash && first !== Unit.Dot && first !== Unit.Slash && first !== Unit.Tilde;
}

/**
 * A URL up to its path; nothing where behind the scheme stands what belongs in no URL. Whether this is an origin, the
 * module knows.
 */
export function originOf(url: string): string | undefined {
  const { length } = url;
  if (length > LONGEST) {
    return undefined;
  }
  const host = url.charCodeAt(4) === Unit.Colon ? "http://".length : "https://".length;
  let end = length;
  for (let index = host; index < length; index++) {
    const unit = url.charCodeAt(index);
    if (unit <= Unit.Space || unit > Unit.Tilde) {
      return undefined;
    }
    if (unit === Unit.Slash && end === length) {
      end = index;
    }
  }
  return end === length ? url : url.slice(0, end);
}
