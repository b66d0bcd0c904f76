/** The change that turns one text into another. */
export interface Edit {
  readonly from: number;
  /** Where what is replaced ends in the old text. */
  readonly to: number;
  readonly insert: string;
}

/** Long texts are compared in pieces of this length, which is much faster than by character. */
const PIECE = 16_384;

/** The edit that was made last. To find it again in two long texts takes milliseconds, for which a verdict would wait. */
let last: { readonly before: string; readonly after: string; readonly edit: Edit } | undefined;

/** An edit in one place that turns a text into another: the one that was made last, or the shortest. */
export function editBetween(before: string, after: string): Edit {
  if (last?.before === before && last.after === after) {
    return last.edit;
  }
  const most = Math.min(before.length, after.length);
  const from = common(most, (at, length) => before.slice(at, at + length) === after.slice(at, at + length));
  const end = (text: string, at: number, length: number) => text.slice(text.length - at - length, text.length - at);
  const behind = common(most - from, (at, length) => end(before, at, length) === end(after, at, length));
  return { from, to: before.length - behind, insert: after.slice(from, after.length - behind) };
}

/** How many characters are alike, of at most `most`. */
function common(most: number, isSame: (at: number, length: number) => boolean): number {
  let at = 0;
  for (let piece = PIECE; piece >= 1; piece = piece === 1 ? 0 : piece >> 1) {
    while (at + piece <= most && isSame(at, piece)) {
      at += piece;
    }
  }
  return at;
}

/** The text after the edit. */
export function edited(before: string, edit: Edit): string {
  const after = before.slice(0, edit.from) + edit.insert + before.slice(edit.to);
  last = { before, after, edit };
  return after;
}
