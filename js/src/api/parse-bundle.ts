import * as wasm from "../../wasm/callgate.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import { members, reading } from "../members.js";
import type { DocumentName } from "../types.js";
import { within } from "../wasm/module.js";
import type { EngineConfig } from "./create-engine.js";
import { checkedText, DocumentText } from "./text.js";

/** Where a bundle's text comes from. */
export interface BundleSource {
  /** The directory, absolute, that relative paths of the documents start from. */
  readonly folder?: string | undefined;
  /** The name of the bundle in diagnostics. Default `callgate.json`. */
  readonly file?: string | undefined;
  /** Returns the text of a file that the bundle names, as it is written there. By default there are none. */
  readonly read?: ((path: string) => string) | undefined;
}

/**
 * Reads the text of a bundle: `createEngine({ ...parseBundle(text), host })`. Nothing is read from a disk; `read` gives the
 * texts of the files that the bundle names.
 *
 * @throws {@link CallgateError} `invalid-document` if the bundle itself has a fault, or `read` throws. Faults of the documents
 * in it are found by `createEngine`, which gives their places in the bundle's text.
 */
export function parseBundle(text: string, source: BundleSource = {}): Omit<EngineConfig, "host"> {
  return reading("source", () => {
    if (typeof source !== "object" || source === null) {
      throw new CallgateError("invalid-argument", "the source is not an object");
    }
    const { folder, file = "callgate.json", read = missing } = members(source, ["folder", "file", "read"]);
    const { inline, files, faults } = partsOf(checkedText(text, "text"));
    const all: Diagnostic[] = faults.map((fault) => ({ file, ...fault }));
    const documents: [DocumentName, DocumentText][] = inline.map(([name, text]) => [name, new DocumentText(text)]);
    const names: Partial<Record<DocumentName, string>> = { policy: file, annotations: file };
    for (const [name] of inline) {
      names[name] = file;
    }
    for (const [name, path] of files) {
      names[name] = path;
      try {
        documents.push([name, new DocumentText(checkedText(read(path), path))]);
      } catch (thrown) {
        const message = thrown instanceof Error ? thrown.message : String(thrown);
        all.push({ code: "unreadable-file", severity: "error", path: `bundle.${name}`, file, message });
      }
    }
    if (all.length > 0) {
      throw new CallgateError(
        "invalid-document",
        all.map(({ path, message }) => `${path}: ${message}`).join("; "),
        all,
      );
    }
    return { ...Object.fromEntries(documents), folder, files: names } as Omit<EngineConfig, "host">;
  });
}

function missing(path: string): string {
  throw new CallgateError("invalid-document", `the file \`${path}\` is not there`);
}

/** The contents of a bundle and the files that it names. */
interface Parts {
  /** The texts of documents that are written out, brought to their places in the bundle, so that a fault is found there. */
  readonly inline: readonly (readonly [DocumentName, string])[];
  readonly files: readonly (readonly [DocumentName, string])[];
  readonly faults: readonly Diagnostic[];
}

/** Takes the text of a bundle apart. */
export function partsOf(text: string): Parts {
  const { inline, files, faults } = within("invalid-document", () => wasm.readBundle(text)) as {
    readonly inline: readonly (readonly [DocumentName, number, number, number, number])[];
    readonly files: Parts["files"];
    readonly faults: Parts["faults"];
  };
  const placed = inline.map(([name, from, to, line, column]) => {
    const before = "\n".repeat(line - 1) + " ".repeat(column - 1);
    return [name, before + text.slice(from, to)] as const;
  });
  return { inline: placed, files, faults };
}
