import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";

/** Writes a file so that there is the old text or the new one, whatever happens. A link stays one. */
export function replaceFile(path: string, text: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  const place = found === undefined ? path : realpathSync.native(path);
  // Hooks and guards protect what ends like this.
  const fresh = `${place}.${process.pid}.new.callgate`;
  try {
    const file = openSync(fresh, "wx", 0o666);
    try {
      if (found !== undefined) {
        fchmodSync(file, found.mode & 0o7777);
      }
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(fresh, place);
  } catch (thrown) {
    rmSync(fresh, { force: true });
    throw thrown;
  }
}
