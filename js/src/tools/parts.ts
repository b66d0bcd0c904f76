import * as wasm from "../../wasm/tools.js";
import type { Diagnostic } from "../errors.js";
import type { DocumentName } from "../types.js";
import { within } from "./module.js";

/** The contents of a bundle and the files that it names. */
interface Parts {
  /** The texts of documents that are written out, brought to their places in the bundle, so that a fault is found there. */
  readonly inline: readonly (readonly [DocumentName, string])[];
  readonly files: readonly (readonly [DocumentName, string])[];
  readonly faults: readonly Diagnostic[];
}

/** Takes the text of a bundle apart. */
export function partsOf(text: string): Parts {
  const { inline, files, faults } = JSON.parse(within("invalid-document", () => wasm.readBundle(text))) as {
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
