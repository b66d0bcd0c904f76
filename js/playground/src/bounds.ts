// How much a link may bring. Whoever opens one has not chosen what is in it, and a few kilobytes can stand for very much.

/** Bytes of everything in a link, once it is unpacked. */
export const MOST_BYTES = 4 * 1024 * 1024;

/** Bytes of all files that a link names. */
export const MOST_BESIDE = 16 * 1024 * 1024;

/** Characters of one file in a link. */
export const MOST_TEXT = 2 * 1024 * 1024;

/** Spaces and tabs that follow each other in a text. A browser takes as long to break such a line as for pages of text. */
export const MOST_SPACES = 4096;

/** Characters of a machine, and of a path on it (`PATH_MAX` of Linux). */
export const MOST_MACHINE = 256 * 1024;
export const MOST_PATH = 4096;

/** Files that a link holds or names. */
export const MOST_FILES = 64;

/** Scenarios that a link holds. */
export const MOST_SCENARIOS = 20_000;

/** Characters of a call, of which a form and an explanation are made. */
export const MOST_CALL = 1024 * 1024;

/** Arguments of a call that the form has fields for. */
export const ARGUMENTS_SHOWN = 200;

/**
 * Refuses more than there may be. `what` is said of the link.
 *
 * @throws An error that says how many there are, and how many there may be.
 */
export function bounded(count: number, most: number, what: string): void {
  if (count > most) {
    throw new Error(
      `it ${what.replace("#", count.toLocaleString("en"))}, and at most ${most.toLocaleString("en")} are opened`,
    );
  }
}

/** How many bytes may be read together, and how many are left of them. */
export class Budget {
  readonly #most: number;
  #left: number;

  constructor(most: number) {
    this.#most = most;
    this.#left = most;
  }

  /** @throws An error if there are not so many left. */
  take(count: number): void {
    this.#left -= count;
    if (this.#left < 0) {
      throw new Error(`it holds more than ${this.#most.toLocaleString("en")} bytes, which is the most that is opened`);
    }
  }
}

/**
 * All bytes of a stream.
 *
 * @throws An error if there are more than the budget has left.
 */
export async function collect(stream: ReadableStream<Uint8Array>, budget: Budget): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    try {
      budget.take(read.value.length);
    } catch (thrown) {
      await reader.cancel();
      throw thrown;
    }
    chunks.push(new Uint8Array(read.value));
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
