import { accessSync, closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from "node:fs";
import { HostError } from "../../host.js";
import { codeOf, lstat, realpathOfBytes } from "./filesystem.js";

/** A file at a path. The module uses the same numbers for the kinds. */
interface Found {
  /** 0 for a file, 1 for a directory, 2 for a link, 3 for anything else. */
  readonly kind: 0 | 1 | 2 | 3;
  /** The target of a link, as written in it. */
  readonly target: Uint8Array | undefined;
  /** `true` if this process's user owns it. */
  readonly isOwn: boolean;
  readonly device: number;
}

/** The disk as git's module reads it. Paths are bytes. If an answer is not certain, the method throws. */
export class Disk {
  readonly homeDir: string;
  readonly configDir: string;
  readonly isMacos = process.platform === "darwin";

  constructor(homeDir: string, configDir: string) {
    this.homeDir = homeDir;
    this.configDir = configDir;
  }

  /** The path without links; `undefined` if nothing is there. */
  real(path: Uint8Array): Uint8Array | undefined {
    const real = realpathOfBytes(Buffer.from(path).toString("latin1"));
    if (typeof real === "string") {
      return Buffer.from(real, "latin1");
    }
    if (real.error === "not-found") {
      return undefined;
    }
    throw new HostError(real.error === "other" ? "its directory cannot be resolved" : real.error);
  }

  /** The file at the path, without following a link; `undefined` if nothing is there. */
  look(path: Uint8Array): Found | undefined {
    const found = lstat(Buffer.from(path));
    return found && { ...kindOf(found, path), isOwn: found.uid === process.geteuid?.(), device: found.dev };
  }

  /** At most `limit` bytes of the regular file that the path leads to; `undefined` if nothing is there. */
  read(path: Uint8Array, limit: number): Uint8Array | undefined {
    const real = this.real(path);
    if (real === undefined) {
      return undefined;
    }
    if (Buffer.from(real).toString("latin1") === "/dev/null") {
      return new Uint8Array(0);
    }
    // Non-blocking, so that opening a FIFO returns at once.
    const file = openSync(Buffer.from(real), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = fstatSync(file);
      if (!found.isFile()) {
        throw new HostError("not a regular file");
      }
      const bytes = Buffer.allocUnsafe(Math.min(found.size + 1, limit));
      let length = 0;
      for (let more = -1; more !== 0 && length < bytes.length; length += more) {
        more = readSync(file, bytes, length, bytes.length - length, length);
      }
      if (length > found.size) {
        throw new HostError("the file grew while it was read");
      }
      return bytes.subarray(0, length);
    } finally {
      closeSync(file);
    }
  }

  /** Returns `true` if a directory may be searched; `false` if nothing is there. */
  isSearchable(path: Uint8Array): boolean {
    try {
      accessSync(Buffer.from(path), constants.X_OK);
      return true;
    } catch (thrown) {
      if (isMissing(thrown)) {
        return false;
      }
      throw thrown;
    }
  }
}

function kindOf(found: Stats, path: Uint8Array): Pick<Found, "kind" | "target"> {
  if (found.isSymbolicLink()) {
    return { kind: 2, target: readlinkSync(Buffer.from(path), "buffer") };
  }
  return { kind: found.isFile() ? 0 : found.isDirectory() ? 1 : 3, target: undefined };
}

function isMissing(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === "ENOENT" || code === "ENOTDIR";
}
