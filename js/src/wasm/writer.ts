import * as wasm from "./module.js";
import { platform } from "./platform.js";
import { isWellFormed, withoutLoneSurrogates } from "./text.js";

/** The types of values; the module has the same numbers. */
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

/** Memory to write to: `bytes` from `start` up to `end`. */
interface Room {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Strings up to this length are copied in JavaScript, which costs less than a call into native code. */
const SHORT = 40;

/**
 * Writes what the module's `wire` reads: bytes, counts, strings.
 *
 * INVARIANT: nothing is written past the end of the room; each method first makes sure that there is enough.
 */
export class Writer {
  readonly #reserve: (size: number) => Room;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;
  #at = 0;
  #isStale = false;

  /** `reserve` returns a room of at least `size` bytes that begins with what was written to the previous one. */
  constructor(reserve: (size: number) => Room) {
    this.#reserve = reserve;
  }

  /** How many bytes were written. */
  get length(): number {
    return this.#at - this.#start;
  }

  /** How many bytes there is room for. */
  get room(): number {
    return this.#end - this.#start;
  }

  /** The bytes that were written. */
  get written(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#at);
  }

  /** Starts over in the module's current memory. */
  restart(): void {
    this.#bytes = wasm.view();
    this.#at = this.#start;
    this.#isStale = false;
  }

  /** Discards everything after the first `length` bytes. */
  rewind(length: number): void {
    this.#at = this.#start + length;
  }

  /** Gives up the room; the next write reserves another one. */
  release(): void {
    this.#start = 0;
    this.#end = 0;
    this.#at = 0;
  }

  /** Returns `true` if the module's memory was replaced since `restart`, so some writes may be lost. */
  isStale(): boolean {
    return this.#isStale || this.#bytes !== wasm.view();
  }

  #need(more: number): void {
    if (this.#at + more > this.#end) {
      const { length } = this;
      this.#isStale = this.isStale();
      const { bytes, start, end } = this.#reserve(length + more);
      this.#bytes = bytes;
      this.#start = start;
      this.#end = end;
      this.#at = start + length;
    }
  }

  byte(value: number): void {
    this.#need(1);
    this.#bytes[this.#at++] = value;
  }

  count(value: number): void {
    this.#need(5);
    let rest = value;
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#at++] = rest;
  }

  number(value: number): void {
    this.#need(9);
    this.#bytes[this.#at++] = Tag.Number;
    new DataView(this.#bytes.buffer, this.#bytes.byteOffset + this.#at).setFloat64(0, value, true);
    this.#at += 8;
  }

  /** Writes a tag and a string. If the string is not well-formed Unicode, writes nothing and returns `false`. */
  taggedText(tag: number, text: string): boolean {
    const { length } = text;
    if (length > SHORT) {
      return this.#longText(tag, text);
    }
    this.#need(length + 2);
    const bytes = this.#bytes;
    const at = this.#at;
    bytes[at] = tag;
    bytes[at + 1] = length;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) {
        return this.#longText(tag, text);
      }
      bytes[at + 2 + index] = unit;
    }
    this.#at = at + 2 + length;
    return true;
  }

  #longText(tag: number, text: string): boolean {
    if (!isWellFormed(text)) {
      return false;
    }
    this.#need(6 + text.length * 3);
    const bytes = this.#bytes;
    const at = this.#at;
    const length = platform.writeText(bytes, text, at + 6);
    bytes[at] = tag;
    // The count takes five bytes even if fewer would do, because the string after it is already in place.
    for (let index = 1; index < 5; index++) {
      bytes[at + index] = ((length >>> (7 * (index - 1))) & 0x7f) | 0x80;
    }
    bytes[at + 5] = length >>> 28;
    this.#at = at + 6 + length;
    return true;
  }
}

/** A writer with its own memory. */
export function ownWriter(): Writer {
  let bytes: Uint8Array = new Uint8Array(0);
  return new Writer((size) => {
    const larger = platform.view(new ArrayBuffer(Math.max(size * 2, 256)));
    larger.set(bytes);
    bytes = larger;
    return { bytes, start: 0, end: bytes.length };
  });
}

/** Writes a string; one that is not well-formed without its lone surrogates, and as such. */
export function writeText(writer: Writer, text: string): void {
  if (!writer.taggedText(Tag.Text, text)) {
    writer.taggedText(Tag.IllFormed, withoutLoneSurrogates(text));
  }
}
