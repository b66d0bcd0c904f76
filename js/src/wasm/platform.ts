/** The differences between JavaScript runtimes. Node's is faster than the portable one, and recognizes every Proxy. */
interface Platform {
  /** A view of a whole buffer. */
  view(buffer: ArrayBuffer): Uint8Array;
  /** The UTF-8 text between two positions. */
  readText(bytes: Uint8Array, start: number, end: number): string;
  /** Writes a string as UTF-8 and returns its length in bytes. There must be room for three bytes per code unit. */
  writeText(bytes: Uint8Array, text: string, at: number): number;
  /** Returns `true` if the object is a Proxy, or cannot be shown not to be one. */
  isProxy(value: object): boolean;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Uses only what every runtime offers. */
const portable: Platform = {
  view: (buffer) => new Uint8Array(buffer),
  readText: (bytes, start, end) => decoder.decode(bytes.subarray(start, end)),
  writeText: (bytes, text, at) => encoder.encodeInto(text, bytes.subarray(at)).written,
  isProxy: (value) => {
    try {
      // Nothing else in a browser recognizes a Proxy: this refuses to copy one, and anything that holds one.
      structuredClone(value);
      return false;
    } catch (thrown) {
      // Other errors (nesting that is too deep, a throwing accessor) come after the object itself was accepted.
      return thrown instanceof DOMException && thrown.name === "DataCloneError";
    }
  },
};

/** The platform in use. */
export let platform: Platform = portable;

/** Chooses the platform. An entry of the package calls this once. */
export function usePlatform(chosen: Platform): void {
  platform = chosen;
}
