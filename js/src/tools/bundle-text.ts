import * as wasm from "../../wasm/tools.js";
import type { EngineConfig } from "../api/create-engine.js";
import { checkedText, DocumentText } from "../api/text.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import { bare, members, reading } from "../members.js";
import type { CallContext, DocumentName, ToolCall } from "../types.js";
import { within } from "./module.js";
import { partsOf } from "./parts.js";

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

/** A call as a line holds it, with the context beside it. */
export interface ReadCall {
  readonly call: ToolCall;
  readonly context?: CallContext | undefined;
}

/** A line as the module reads it. */
interface ReadLine {
  readonly call?: string;
  readonly context?: string | null;
  readonly other?: string;
  readonly error?: Omit<Diagnostic, "code" | "severity" | "path">;
}

/**
 * Reads a call from JSON text as the command reads its lines: `{serverName, toolName, arguments, context?}`, or a frame of MCP's
 * `tools/call` for the server called `serverName`. No name may occur twice, in the arguments neither: of two values, parsers
 * take one or the other.
 *
 * @throws {@link CallgateError} `invalid-call`, with its place in `diagnostics`, if the text is not a call.
 */
export function parseCall(text: string, serverName?: string): ReadCall {
  const bytes = new TextEncoder().encode(checkedText(text, "text"));
  const name = serverName === undefined ? undefined : checkedText(serverName, "serverName");
  const read = bare<ReadLine>(JSON.parse(within("invalid-call", () => wasm.readLine(bytes, name))));
  if (read.call === undefined) {
    const { message = `found ${read.other}, expected a call`, ...place } = read.error ?? {};
    throw new CallgateError("invalid-call", message, [
      { code: "invalid-call", severity: "error", path: "call", message, ...place },
    ]);
  }
  refuseAmbiguous(text);
  const call = JSON.parse(read.call) as ToolCall;
  return typeof read.context === "string" ? { call, context: JSON.parse(read.context) as CallContext } : { call };
}

/** Refuses a text of which `JSON.parse` would show one reading and hide another. */
function refuseAmbiguous(text: string): void {
  try {
    within("invalid-call", () => wasm.checkJson(text, "call"));
  } catch (thrown) {
    if (thrown instanceof CallgateError && thrown.diagnostics.length > 0) {
      const [{ message } = thrown] = thrown.diagnostics;
      const help = "of two values one parser takes the first, another the last";
      const faults = thrown.diagnostics.map((fault) => (fault.code === "duplicate-key" ? { ...fault, help } : fault));
      throw new CallgateError("invalid-call", message, faults);
    }
    throw thrown;
  }
}
