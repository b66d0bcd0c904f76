/** A fault in a document, as loading reports it. */
export interface Diagnostic {
  /** The stable name of the fault, for example `unknown-role`. */
  readonly code: string;
  /** An `error` stops loading. */
  readonly severity: "error" | "warning";
  /** Where the fault is, for example `policy.rules[3].if.roles[0]`. */
  readonly path: string;
  /** The line of the place in the document's text, counted from 1; absent for a document that is a value. */
  readonly line?: number;
  /** The character in the line, counted from 1. */
  readonly column?: number;
  /** The file of the document, where the configuration has its name in `files`. */
  readonly file?: string;
  /** The fault, and what was expected instead. */
  readonly message: string;
  /** A way to mend it, if one is known. */
  readonly help?: string;
}

/**
 * Why an error was thrown:
 * - `invalid-document`: an engine cannot be built; `diagnostics` has every fault.
 * - `invalid-call`: the text is not a call.
 * - `invalid-argument`: a function was given an argument that it cannot take.
 * - `invalid-world`: the description of a virtual host's machine is invalid.
 * - `unprepared`: the arguments cannot be prepared.
 * - `host-failed`: the host threw, or answered with something malformed.
 * - `not-ready`: the engine's module is not loaded yet; await `init()`.
 * - `disposed`: the engine has been disposed of.
 * - `busy`: a callback of the host called the engine that was asking it.
 * - `engine-fault`: the engine's module broke; the next call uses a new instance.
 */
export type ErrorCode =
  | "invalid-document"
  | "invalid-call"
  | "invalid-argument"
  | "invalid-world"
  | "unprepared"
  | "host-failed"
  | "not-ready"
  | "disposed"
  | "busy"
  | "engine-fault";

/** The only error that this package throws. A verdict is never thrown. */
export class CallgateError extends Error {
  override readonly name = "CallgateError";
  /** Why it was thrown, for programs. */
  readonly code: ErrorCode;
  /** Every fault of the documents, or of the text of a call; else empty. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(code: ErrorCode, message: string, diagnostics: readonly Diagnostic[] = []) {
    super(message);
    this.code = code;
    this.diagnostics = diagnostics;
  }
}
