/** Code units that begin what looks like a path. */
export enum Unit {
  Dot = 0x2e,
  Slash = 0x2f,
  Tilde = 0x7e,
}

const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;
const SURROGATE = /\p{Surrogate}/u;
const SPACE = /[\s\u0085\ufeff]/;

/** Returns `true` if the text is well-formed Unicode: it has no lone surrogate. */
export const isWellFormed: (text: string) => boolean =
  native === undefined ? (text) => !SURROGATE.test(text) : (text) => native.call(text);

const CONTROL = /\p{Cc}/u;

/** Returns `true` if the text has a control character. */
export function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

const encoder = new TextEncoder();

/** A well-formed text as UTF-8. In a browser, `encode` takes four times as long for a text of megabytes. */
export function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  const { read, written } = encoder.encodeInto(text, bytes);
  if (read === text.length) {
    return bytes;
  }
  // A code unit is three bytes at most.
  const all = new Uint8Array(written + 3 * (text.length - read));
  all.set(bytes.subarray(0, written));
  const rest = encoder.encodeInto(text.slice(read), all.subarray(written));
  return all.subarray(0, written + rest.written);
}

/** Where a text goes on after the white space and the lone surrogates that it begins with. */
export function beginning(text: string): number {
  let at = 0;
  // A code point that is a surrogate has no partner.
  while (isSpace(text.charCodeAt(at)) || isSurrogate(text.codePointAt(at))) {
    at++;
  }
  return at;
}

/** The text without its lone surrogates. */
export function withoutLoneSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}+/gu, "");
}

function isSurrogate(point: number | undefined): boolean {
  return point !== undefined && point >= 0xd800 && point <= 0xdfff;
}

/** White space to any program that strips it, as core has it: control characters and the byte order mark included. */
function isSpace(unit: number): boolean {
  return unit <= 0x20 || (unit >= 0x85 && SPACE.test(String.fromCharCode(unit)));
}
