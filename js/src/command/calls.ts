import { createReadStream, fstatSync, openSync } from "node:fs";
import { extname } from "node:path";
import { reasonOf } from "../host/node/bundle.js";
import { Failure, note } from "./output.js";

/** Bytes of the longest call. */
export const MOST_BYTES = 16 * 1024 * 1024;

const EXPECTED = "expected a call as JSON, a file of calls, or - for standard input";

/** Where calls come from. */
export interface Calls {
  /** The name of the input in a message. */
  readonly name: string;
  /** `true` if everything together is one call. */
  readonly isWhole: boolean;
  readonly chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[];
}

/** The text that stands where a call should be. */
export interface Line {
  /** The line that it begins on, from 1. */
  readonly line: number;
  /** `undefined` if there are too many. */
  readonly bytes: Uint8Array | undefined;
}

/**
 * Opens the input. `argument` is a call, `-`, or a file: `….json` for one call, any other for a call a line. Without one,
 * calls are read from standard input, unless that is a terminal.
 */
export function openCalls(argument: string | undefined): Calls {
  if (argument === undefined && process.stdin.isTTY) {
    throw new Failure("there are no calls to judge", EXPECTED);
  }
  const name = argument ?? "-";
  if (name === "-") {
    if (process.stdin.isTTY) {
      note("reading calls from this terminal, one a line; Ctrl-D ends them");
    }
    return { name: "standard input", isWhole: false, chunks: process.stdin };
  }
  if (/^\p{White_Space}*[{["]/u.test(name)) {
    return { name, isWhole: true, chunks: [new TextEncoder().encode(name)] };
  }
  let file: number;
  try {
    file = openSync(name, "r");
  } catch (thrown) {
    throw new Failure(`cannot read \`${name}\`: ${reasonOf(thrown)}`, EXPECTED);
  }
  if (fstatSync(file).isDirectory()) {
    const help = `${EXPECTED}; a folder with documents is given by --bundle`;
    throw new Failure(`cannot read \`${name}\`: Is a directory`, help);
  }
  return { name, isWhole: extname(name) === ".json", chunks: createReadStream("", { fd: file }) };
}

/** The calls, one after the other as they come; lines without anything are passed over. */
export async function* linesOf({ name, isWhole, chunks }: Calls): AsyncGenerator<Line> {
  let kept: Uint8Array[] = [];
  let size = 0;
  let line = 0;
  const keep = (bytes: Uint8Array): void => {
    size += bytes.length;
    // A line that is too long is not judged, so nothing of it is needed.
    if (size <= MOST_BYTES) {
      kept.push(bytes);
    }
  };
  const ended = (): Line | undefined => {
    const bytes = size <= MOST_BYTES ? Buffer.concat(kept) : undefined;
    kept = [];
    size = 0;
    line += 1;
    return bytes === undefined || bytes.some((byte) => !WHITE_SPACE.has(byte)) ? { line, bytes } : undefined;
  };
  try {
    for await (const chunk of chunks) {
      let rest = chunk;
      for (let end = breakIn(rest, isWhole); end >= 0; end = breakIn(rest, isWhole)) {
        keep(rest.subarray(0, end));
        rest = rest.subarray(end + 1);
        const found = ended();
        if (found !== undefined) {
          yield found;
        }
      }
      keep(rest);
    }
  } catch (thrown) {
    throw new Failure(`cannot read \`${name}\`: ${reasonOf(thrown)}`);
  }
  const last = size > 0 ? ended() : undefined;
  if (last !== undefined) {
    yield last;
  }
}

/** Space, tabulator, line feed, form feed, carriage return. */
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0c, 0x0d]);

function breakIn(bytes: Uint8Array, isWhole: boolean): number {
  return isWhole ? -1 : bytes.indexOf(0x0a);
}
