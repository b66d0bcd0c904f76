/** What differs between JavaScript runtimes. Node's is faster than the portable one, and sees through more. */
export interface Platform {
  /** A view of a whole buffer. */
  view(buffer: ArrayBuffer): Uint8Array;
  /** The text between two places, which is UTF-8. */
  readText(bytes: Uint8Array, start: number, end: number): string;
  /** Writes a text as UTF-8; how many bytes it took. There must be room for three bytes a code unit. */
  writeText(bytes: Uint8Array, text: string, at: number): number;
  /** Whether the object is a Proxy, or nothing tells that it is none. */
  isProxy(value: object): boolean;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** What every runtime offers. */
export const portable: Platform = {
  view: (buffer) => new Uint8Array(buffer),
  readText: (bytes, start, end) => decoder.decode(bytes.subarray(start, end)),
  writeText: (bytes, text, at) => encoder.encodeInto(text, bytes.subarray(at)).written,
  isProxy: (value) => {
    try {
      // Of all that a browser offers this alone looks through a Proxy: it copies none, nor anything that holds one.
      structuredClone(value);
      return false;
    } catch (thrown) {
      // Too deep a nesting, and what an accessor within throws, come after the object itself was looked at.
      return thrown instanceof DOMException && thrown.name === "DataCloneError";
    }
  },
};

/** The platform in use. */
export let platform: Platform = portable;

/** Chooses the platform; done once, by an entry of the package. */
export function usePlatform(chosen: Platform): void {
  platform = chosen;
}
