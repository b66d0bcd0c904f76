/** Code units that tell texts apart. */
export enum Unit {
  Space = 0x20,
  Dash = 0x2d,
  Dot = 0x2e,
  Slash = 0x2f,
  Colon = 0x3a,
  Tilde = 0x7e,
}

const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;
const SURROGATE = /\p{Surrogate}/u;

/** Whether the text is well-formed Unicode: no surrogate stands alone. */
export const isWellFormed: (text: string) => boolean =
  native === undefined ? (text) => !SURROGATE.test(text) : (text) => native.call(text);
