const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;
const SURROGATE = /\p{Surrogate}/u;

/** Whether the text is well-formed Unicode: no surrogate stands alone. */
export const isWellFormed: (text: string) => boolean =
  native === undefined ? (text) => !SURROGATE.test(text) : (text) => native.call(text);
