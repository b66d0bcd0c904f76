import * as wasm from "../../wasm/callgate.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import type { CallContext, ToolCall } from "../types.js";
import { within } from "../wasm/module.js";
import { checkedText } from "./text.js";

/** A call as a line holds it, with the context beside it. */
export interface ReadCall {
  readonly call: ToolCall;
  readonly context?: CallContext | undefined;
}

/** A line as the module reads it. */
interface ReadLine {
  readonly call: string | null;
  readonly context: string | null;
  readonly other: string | null;
  readonly error: Omit<Diagnostic, "code" | "severity" | "path"> | null;
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
  const read = within("invalid-call", () => wasm.readLine(bytes, name)) as ReadLine;
  if (read.call === null) {
    const { message = `found ${read.other}, expected a call`, ...place } = read.error ?? {};
    throw new CallgateError("invalid-call", message, [
      { code: "invalid-call", severity: "error", path: "call", message, ...place },
    ]);
  }
  refuseAmbiguous(text);
  const call = JSON.parse(read.call) as ToolCall;
  return read.context === null ? { call } : { call, context: JSON.parse(read.context) as CallContext };
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
