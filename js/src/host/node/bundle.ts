import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute } from "node:path";
import * as wasm from "../../../wasm/callgate.js";
import { partsOf } from "../../api/parse-bundle.js";
import { CallgateError, type Diagnostic } from "../../errors.js";
import type { DocumentName } from "../../types.js";
import { within } from "../../wasm/module.js";

/** The text of a document, and the file in which it stands. */
interface ReadDocument {
  readonly name: DocumentName;
  readonly text: string;
  readonly file: string;
}

/** A bundle with the files that it names. */
interface ReadBundle {
  readonly documents: readonly ReadDocument[];
  /** The file of each document. What a bundle must have and has not is a fault of the bundle. */
  readonly files: Readonly<Partial<Record<DocumentName, string>>>;
  /** The folder of the bundle, where the kernel found it. */
  readonly folder: string;
  /** Faults of the bundle itself, and files that are not the text of any document. */
  readonly faults: readonly Diagnostic[];
}

/**
 * Reads a bundle, without one of its documents if `other` is given. Each file is named as the bundle's path and the bundle write it.
 *
 * @throws {@link CallgateError} `invalid-document`, without diagnostics, if a file cannot be read.
 */
export function readBundle(file: string, other?: DocumentName): ReadBundle {
  const faults: Diagnostic[] = [];
  const textOf = (path: string, name: string): string | undefined => {
    const bytes = bytesOf(path);
    try {
      return within("invalid-document", () => wasm.documentText(bytes, name));
    } catch (thrown) {
      if (!(thrown instanceof CallgateError && thrown.diagnostics.length > 0)) {
        throw thrown;
      }
      faults.push(...thrown.diagnostics.map((fault) => ({ file: path, ...fault })));
      return undefined;
    }
  };
  const text = textOf(file, "bundle");
  const folder = folderOf(file);
  if (text === undefined) {
    return { documents: [], files: {}, folder, faults };
  }
  const parts = partsOf(text);
  faults.push(...parts.faults.map((fault) => ({ file, ...fault })));
  const documents: ReadDocument[] = [];
  for (const [name, path] of parts.files.filter(([name]) => name !== other)) {
    const named = beside(file, path);
    const text = textOf(named, name);
    if (text !== undefined) {
      documents.push({ name, text, file: named });
    }
  }
  const inline = parts.inline.filter(([name]) => name !== other);
  documents.push(...inline.map(([name, text]) => ({ name, text, file })));
  const named = documents.map(({ name, file }) => [name, file]);
  return { documents, files: { policy: file, annotations: file, ...Object.fromEntries(named) }, folder, faults };
}

/** The path of a file that a bundle names, as it is written. */
export function beside(bundle: string, path: string): string {
  const folder = dirname(bundle);
  if (isAbsolute(path) || basename(bundle) === bundle) {
    return path;
  }
  return folder.endsWith("/") ? `${folder}${path}` : `${folder}/${path}`;
}

function folderOf(file: string): string {
  try {
    return realpathSync.native(dirname(file));
  } catch (thrown) {
    throw unreadable(file, thrown);
  }
}

function bytesOf(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (thrown) {
    throw unreadable(file, thrown);
  }
}

function unreadable(file: string, thrown: unknown): CallgateError {
  return new CallgateError("invalid-document", `cannot read \`${file}\`: ${reasonOf(thrown)}`);
}

/** The operating system's messages for its most frequent errors. Node has words of its own for them. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "No such file or directory"],
  ["EACCES", "Permission denied"],
  ["EISDIR", "Is a directory"],
  ["ENOTDIR", "Not a directory"],
  ["ELOOP", "Too many levels of symbolic links"],
  ["ENAMETOOLONG", "File name too long"],
]);

/** Why the operating system refused something. */
export function reasonOf(thrown: unknown): string {
  const { code = "", errno = 0, message } = thrown as NodeJS.ErrnoException;
  const reason = REASONS.get(code);
  return reason === undefined ? message : `${reason} (os error ${-errno})`;
}
