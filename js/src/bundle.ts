import { fileURLToPath } from "node:url";
import type { EngineConfig } from "./api/create-engine.js";
import { DocumentText } from "./api/text.js";
import { CallgateError, type Diagnostic } from "./errors.js";
import { readBundle } from "./host/node/bundle.js";
// The module comes from there.
import "./node.js";

/** The configuration in a bundle: everything but the host. */
export type BundleConfig = Omit<EngineConfig, "host">;

/**
 * Reads a bundle, `callgate.json`, with the files that it names: `createEngine(loadBundle(path))`. What can be added or
 * replaced is a member: `createEngine({ ...loadBundle(path), host })`. Faults name the files as `path` and the bundle do.
 *
 * @throws {@link CallgateError} `invalid-document` if a file cannot be read, or the bundle itself has a fault. Those of the
 * documents in it are found by `createEngine`.
 */
export function loadBundle(path: string | { readonly href: string } = "callgate.json"): BundleConfig {
  const file = fileOf(path);
  const { documents, files, folder, faults } = readBundle(file);
  if (faults.length > 0) {
    throw new CallgateError("invalid-document", faults.map(shown).join("; "), faults);
  }
  return {
    ...Object.fromEntries(documents.map(({ name, text }) => [name, new DocumentText(text)])),
    folder,
    files,
  } as BundleConfig;
}

function fileOf(path: string | { readonly href: string }): string {
  try {
    return typeof path === "string" ? path : fileURLToPath(path.href);
  } catch (thrown) {
    throw new CallgateError(
      "invalid-argument",
      `the bundle is not named by a path or a \`file:\` URL: ${String(thrown)}`,
    );
  }
}

function shown({ file, line, column, path, message }: Diagnostic): string {
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  return `${place}: ${path}: ${message}`;
}
