import { platform } from "./platform.js";
import { isWellFormed } from "./text.js";

/** Texts up to this length are copied by hand, which costs less than a call out of JavaScript. */
const SHORT = 40;

/**
 * Writes what the module's `wire` reads: bytes, counts, texts.
 *
 * A room is never outgrown: whoever writes first sees to it that there is enough, and `grow` moves what is there.
 */
export abstract class Writer {
  protected bytes: Uint8Array = new Uint8Array(0);
  /** Where the room begins in `bytes`. */
  protected start = 0;
  /** Where it ends. */
  protected end = 0;
  /** Where the next byte goes. */
  protected at = 0;

  /** Makes `bytes`, `start` and `end` describe a room for `size` bytes that holds what was written. */
  protected abstract grow(size: number): void;

  /** How many bytes were written. */
  get length(): number {
    return this.at - this.start;
  }

  /** Forgets what was written after the first `length` bytes. */
  rewind(length: number): void {
    this.at = this.start + length;
  }

  protected need(more: number): void {
    if (this.at + more > this.end) {
      const written = this.at - this.start;
      this.grow(written + more);
      this.at = this.start + written;
    }
  }

  byte(value: number): void {
    if (this.at === this.end) {
      this.need(1);
    }
    this.bytes[this.at++] = value;
  }

  count(value: number): void {
    this.need(5);
    let rest = value;
    while (rest > 0x7f) {
      this.bytes[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.at++] = rest;
  }

  number(value: number): void {
    this.need(9);
    this.bytes[this.at++] = Tag.Number;
    new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at).setFloat64(0, value, true);
    this.at += 8;
  }

  /** Writes a tag and a text; where the text is not well-formed, only that it is not. */
  taggedText(tag: number, text: string): boolean {
    const { length } = text;
    if (length <= SHORT) {
      this.need(length + 2);
      const { bytes, at } = this;
      bytes[at] = tag;
      bytes[at + 1] = length;
      let next = at + 2;
      for (let index = 0; index < length; index++) {
        const unit = text.charCodeAt(index);
        if (unit > 0x7f) {
          return this.#long(tag, text);
        }
        bytes[next++] = unit;
      }
      this.at = next;
      return true;
    }
    return this.#long(tag, text);
  }

  #long(tag: number, text: string): boolean {
    if (!isWellFormed(text)) {
      return false;
    }
    this.need(6 + text.length * 3);
    const { bytes, at } = this;
    const length = platform.writeText(bytes, text, at + 6);
    bytes[at] = tag;
    // A count may have more bytes than it needs, so that the text need not move.
    bytes[at + 1] = (length & 0x7f) | 0x80;
    bytes[at + 2] = ((length >>> 7) & 0x7f) | 0x80;
    bytes[at + 3] = ((length >>> 14) & 0x7f) | 0x80;
    bytes[at + 4] = ((length >>> 21) & 0x7f) | 0x80;
    bytes[at + 5] = length >>> 28;
    this.at = at + 6 + length;
    return true;
  }
}

/** The types of values; the numbers are the module's too. */
export enum Tag {
  Null = 0,
  False = 1,
  True = 2,
  Number = 3,
  Text = 4,
  IllFormed = 5,
  Array = 6,
  Object = 7,
  Unread = 8,
}

/** Writes into memory of its own. */
export class OwnWriter extends Writer {
  protected override grow(size: number): void {
    const bytes = platform.view(new ArrayBuffer(Math.max(size * 2, 256)));
    bytes.set(this.bytes.subarray(0, this.at));
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** What was written. */
  written(): Uint8Array {
    return this.bytes.subarray(this.start, this.at);
  }
}
