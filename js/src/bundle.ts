import { readFileSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as wasm from "../wasm/tools.js";
import type { EngineConfig } from "./api/create-engine.js";
import { DocumentText } from "./api/text.js";
import { CallgateError, type Diagnostic } from "./errors.js";
import { provide, within } from "./tools/module.js";
import type { DocumentName } from "./types.js";

provide(() => readFileSync(new URL("../wasm/tools.wasm", import.meta.url)));

/** What a bundle configures: everything but the host. */
export type BundleConfig = Omit<EngineConfig, "host">;

/** What a bundle holds and names. */
interface ReadBundle {
  readonly inline: readonly (readonly [DocumentName, string])[];
  readonly files: readonly (readonly [DocumentName, string])[];
  readonly faults: readonly Diagnostic[];
}

/**
 * Reads a bundle, `callgate.json`, with the files that it names: `createEngine(loadBundle(path))`. What can be added or
 * replaced is a member: `createEngine({ ...loadBundle(path), host })`.
 *
 * @throws {@link CallgateError} `invalid-document` if a file cannot be read, or the bundle itself has a fault. Those of the
 * documents in it are found by `createEngine`.
 */
export function loadBundle(path: string | { readonly href: string } = "callgate.json"): BundleConfig {
  const file = typeof path === "string" ? path : fileURLToPath(path.href);
  const text = textOf(file, "bundle");
  const { inline, files, faults } = JSON.parse(within("invalid-document", () => wasm.readBundle(text))) as ReadBundle;
  if (faults.length > 0) {
    refuse(file, faults);
  }
  const named = files.map(([name, path]) => [name, resolve(dirname(file), path)] as const);
  const texts: (readonly [DocumentName, string])[] = named.map(([name, path]) => [name, textOf(path, name)]);
  const documents = [...inline, ...texts].map(([name, text]) => [name, new DocumentText(text)] as const);
  const places = [...inline.map(([name]) => [name, file] as const), ...named];
  return {
    ...Object.fromEntries(documents),
    folder: realpathSync(dirname(resolve(file))),
    // What a bundle must have and has not is a fault of the bundle.
    files: { policy: file, annotations: file, ...Object.fromEntries(places) },
  } as BundleConfig;
}

function textOf(file: string, name: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (thrown) {
    throw new CallgateError("invalid-document", `cannot read \`${file}\`: ${(thrown as Error).message}`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const message = "found bytes that are not UTF-8, expected JSON in UTF-8";
    return refuse(file, [{ code: "syntax", severity: "error", path: name, message }]);
  }
}

function refuse(file: string, faults: readonly Diagnostic[]): never {
  const located = faults.map((fault) => ({ ...fault, file }));
  const shown = located.map(({ file, line, column, path, message }) => {
    const place = line === undefined ? file : `${file}:${line}:${column}`;
    return `${place}: ${path}: ${message}`;
  });
  throw new CallgateError("invalid-document", shown.join("; "), located);
}
