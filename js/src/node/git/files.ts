import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { RealpathFailure } from "../../host.js";
import { HostError } from "../../host.js";
import { realpathOfBytes } from "../filesystem.js";

/** The bytes that are read of one file, and of all configuration files of one question. */
export const MAX_BYTES = 16 << 20;

/** Where something is really, as a binary string; `undefined` when there is nothing. */
export function canonical(path: string): string | undefined {
  const real: string | RealpathFailure = realpathOfBytes(path);
  if (typeof real === "string") {
    return real;
  }
  if (real.error === "not-found") {
    return undefined;
  }
  throw new HostError(`git's \`${path}\` cannot be read: ${real.error}`);
}

/** The content of a file as a binary string; `undefined` when there is none. */
export function read(path: string): string | undefined {
  const real = canonical(path);
  if (real === undefined) {
    return undefined;
  }
  if (real === "/dev/null") {
    return "";
  }
  const refused = (why: string): HostError => new HostError(`git's \`${path}\` cannot be read: ${why}`);
  let file: number;
  try {
    // Not blocking, so that a FIFO put here answers at once.
    file = openSync(Buffer.from(real, "latin1"), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    throw refused(String((thrown as { code?: unknown }).code));
  }
  try {
    const { size } = regular(file, refused);
    const bytes = Buffer.allocUnsafe(Math.min(size, MAX_BYTES) + 1);
    let length = 0;
    for (let more = -1; more !== 0 && length < bytes.length; length += more) {
      more = readSync(file, bytes, length, bytes.length - length, length);
    }
    if (length > Math.min(size, MAX_BYTES)) {
      throw refused(`it is longer than ${MAX_BYTES} bytes, or grows`);
    }
    return bytes.toString("latin1", 0, length);
  } finally {
    closeSync(file);
  }
}

function regular(file: number, refused: (why: string) => HostError): { size: number } {
  const found = fstatSync(file);
  if (!found.isFile()) {
    throw refused("not a regular file");
  }
  return found;
}
