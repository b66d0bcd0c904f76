import { accessSync, closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from "node:fs";
import { failureOf, HostError } from "../../host.js";
import { codeOf, lstat } from "./filesystem.js";

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

/**
 * The disk as git's module reads it. Paths are bytes, and have no links but where a method says so. If an answer is not
 * certain, the method throws.
 */
export class Disk {
  readonly homeDir: string;
  readonly configDir: string;
  readonly isMacos = process.platform === "darwin";

  constructor(homeDir: string, configDir: string) {
    this.homeDir = homeDir;
    this.configDir = configDir;
  }

  /** The file at the path, without following a link; `undefined` if nothing is there. */
  look(path: Uint8Array): Found | undefined {
    return asked(() => {
      const found = lstat(Buffer.from(path));
      return found && { ...kindOf(found, path), isOwn: found.uid === process.geteuid?.(), device: found.dev };
    });
  }

  /** At most `limit` bytes of the regular file at the path; `undefined` if nothing is there. */
  read(path: Uint8Array, limit: number): Uint8Array | undefined {
    return asked(() => contentOf(path, limit));
  }

  /** Returns `true` if a directory may be searched; `false` if nothing is there. */
  isSearchable(path: Uint8Array): boolean {
    return (
      asked(() => {
        accessSync(Buffer.from(path), constants.X_OK);
        return true;
      }) ?? false
    );
  }
}

/** The answer; `undefined` if nothing is there. The words are those of the native host. */
function asked<Answer>(ask: () => Answer): Answer | undefined {
  try {
    return ask();
  } catch (thrown) {
    if (thrown instanceof HostError) {
      throw thrown;
    }
    const code = codeOf(thrown);
    if (code === "ENOENT" || code === "ENOTDIR") {
      return undefined;
    }
    const failure = failureOf(String(code));
    throw new HostError(
      failure === "denied" ? "permission denied" : failure === "loop" ? "too many links" : "the disk failed",
    );
  }
}

function contentOf(path: Uint8Array, limit: number): Uint8Array {
  // Non-blocking, so that opening a FIFO returns at once.
  const file = openSync(Buffer.from(path), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
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

function kindOf(found: Stats, path: Uint8Array): Pick<Found, "kind" | "target"> {
  if (found.isSymbolicLink()) {
    return { kind: 2, target: readlinkSync(Buffer.from(path), "buffer") };
  }
  return { kind: found.isFile() ? 0 : found.isDirectory() ? 1 : 3, target: undefined };
}
