/** Code units that begin what looks like a path. */
export enum Unit {
  Dot = 0x2e,
  Slash = 0x2f,
  Tilde = 0x7e,
}

const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;
const SURROGATE = /\p{Surrogate}/u;

/** Returns `true` if the text is well-formed Unicode: it has no lone surrogate. */
export const isWellFormed: (text: string) => boolean =
  native === undefined ? (text) => !SURROGATE.test(text) : (text) => native.call(text);
