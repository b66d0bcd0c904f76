import { announce } from "../dom.js";
import type { Given } from "./place.js";

/** The texts of files that were chosen. If one cannot be read, it may be gone by now, that is said and there are none. */
export async function readFiles(files: Iterable<File>): Promise<readonly Given[] | undefined> {
  try {
    return await Promise.all(
      [...files].map(async (one) => ({ name: one.webkitRelativePath || one.name, text: await one.text() })),
    );
  } catch (thrown) {
    announce(`A file cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return undefined;
  }
}
