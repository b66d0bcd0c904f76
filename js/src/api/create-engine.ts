/// <reference lib="esnext.disposable" preserve="true" />
import { CallgateError, type Diagnostic } from "../errors.js";
import { type Host, hostByDefault } from "../host.js";
import type {
  CallContext,
  Ceiling,
  CompiledPolicyFile,
  DescribedTool,
  DynamicListsFile,
  Enforcement,
  EngineOptions,
  Explanation,
  Gated,
  HarnAnnotations,
  HostRole,
  PreparedToolArgs,
  Reply,
  Resolution,
  ResolveOptions,
  StoredToolAnnotationsFile,
  ToolCall,
  Verdict,
  VisibilityRef,
  WorldDocument,
  WorldRole,
} from "../types.js";
import { evaluate, evaluateText, explain, gate, prepare } from "../wasm/calls.js";
import { ask, createHandle, dispose, type WasmHandle } from "../wasm/handle.js";
import { enforce, hostPath, resolve, revoke } from "../wasm/places.js";
import { answersOf, documentsOf } from "./configuration.js";

/** What an engine is built from. A document is a value, or a string that is its JSON text. */
export interface EngineConfig<Role extends string = never> {
  /** The rules. */
  readonly policy: CompiledPolicyFile<WorldRole | NoInfer<Role>> | string;
  /** The roles of every tool's arguments. */
  readonly annotations: StoredToolAnnotationsFile<WorldRole | NoInfer<Role>> | HarnAnnotations | string;
  /** What `@names` in the policy stand for. */
  readonly dynamicLists?: DynamicListsFile | string | undefined;
  /** Paths that no call may touch. */
  readonly protectedPaths?: readonly string[] | undefined;
  /** The sandbox: a directory within which the servers `filesystem` and `git` may do what they like. */
  readonly allowedDirectory?: string | undefined;
  /** For each gated server the domain patterns that its URLs must match. */
  readonly serverDomainAllowlists?:
    | ReadonlyMap<string, readonly string[]>
    | Readonly<Record<string, readonly string[]>>
    | undefined;
  /** Servers whose every call is allowed. */
  readonly trustedServers?: ReadonlySet<string> | readonly string[] | undefined;
  /** What calls may use at most; it only ever denies. */
  readonly ceiling?: Ceiling | string | undefined;
  /** Further roles, with callbacks where a built-in step does not do. */
  readonly roles?: readonly HostRole<Role>[] | undefined;
  /** Places by address, and what may be done there; with it there is a role `address`. */
  readonly world?: WorldDocument | string | undefined;
  /** How the engine behaves where there is a choice. */
  readonly options?: EngineOptions | undefined;
  /** What answers about the filesystem and git. Default in Node: this machine. */
  readonly host?: Host | undefined;
}

/** What a call may be judged with. */
export interface CallOptions {
  /** What the host says about the call; an engine with a world judges addresses by it. */
  readonly context?: CallContext | undefined;
}

/** What a call may be gated with. */
export interface GateOptions extends CallOptions {
  /**
   * The sandbox as the tool's container names it: paths below it are moved onto `allowedDirectory`, or onto the first
   * workspace root where those are the sandbox.
   */
  readonly containerWorkspaceDir?: string | undefined;
}

/** For whom a verdict is explained. */
export interface ExplainOptions {
  /** An explanation for an `agent` has no host path and no recording. Default `operator`. */
  readonly audience?: "operator" | "agent" | undefined;
}

/** A policy decision point: it judges tool calls, and does nothing else. */
export interface Engine extends Disposable {
  /**
   * Prepares and judges a call in one pass: what is judged is what `argsForTransport` sends on. Relative paths are
   * relative to `allowedDirectory`, or to the first workspace root where those are the sandbox.
   *
   * The input is never changed. What no role names is in `argsForTransport` as it was, the same object.
   */
  gate(call: ToolCall, options?: GateOptions): Gated;
  /** Judges a call whose arguments are prepared: relative paths are relative to the host's current directory. */
  evaluate(call: ToolCall, options?: CallOptions): Verdict;
  /**
   * The same for a call as JSON text, which is read strictly: a name that occurs twice is refused.
   *
   * @throws {@link CallgateError} `invalid-call` when the text is not a call.
   */
  evaluateText(call: string, options?: CallOptions): Verdict;
  /** The verdict of `evaluate` with everything that led to it. */
  explain(call: ToolCall, options?: CallOptions & ExplainOptions): Explanation;
  /** The verdict of `gate` with everything that led to it. */
  explainGate(call: ToolCall, options?: GateOptions & ExplainOptions): Explanation;
  /**
   * The two views of a call's arguments, not judged.
   *
   * @throws {@link CallgateError} `unprepared` when the arguments are not an object, do not have the shape that the
   * annotation describes, or the host fails. A value is never an error.
   */
  prepare(call: ToolCall, options?: GateOptions): PreparedToolArgs;
  /**
   * The place that an address of the world names, in the context's mode.
   *
   * @throws {@link CallgateError} `invalid-argument` when the engine has no world.
   */
  resolve(address: string, context: CallContext, options?: ResolveOptions): Resolution;
  /** The path of the host that a reference stands for; `undefined` once it is revoked, or where another engine gave it. */
  hostPath(ref: VisibilityRef): string | undefined;
  /** Ends a reference, and says whether it was valid; without one, ends every reference of this engine. */
  revoke(ref?: VisibilityRef): boolean;
  /**
   * Whether an operation is allowed at a place of the world.
   *
   * @throws {@link CallgateError} `invalid-argument` when the engine has no world.
   */
  enforce(operation: Enforcement): Reply;
  /** What an annotated tool does, for schedulers and telemetry; `undefined` for any other tool. */
  semantics(serverName: string, toolName: string): DescribedTool | undefined;
  /** Whether calls of the tool may run side by side; a tool that is not annotated may not. */
  isReadOnly(serverName: string, toolName: string): boolean;
  /** The capability ceiling: the host counts its `recursion_limit`. */
  readonly ceiling: Ceiling | undefined;
  /** Whether calls of the server are allowed without being judged. */
  isTrustedServer(serverName: string): boolean;
  /** Resolves pinned directories again (`options.directories: "pinned"`). */
  refresh(): void;
  /** Frees the engine's memory now rather than when it is collected. Using the engine afterwards is an error. */
  dispose(): void;
  /** What was noticed about the documents without being an error. */
  readonly diagnostics: readonly Diagnostic[];
}

const PUBLIC_NAMES: ReadonlyMap<string, string> = new Map([
  ["compiledPolicy", "policy"],
  ["toolAnnotations", "annotations"],
]);

/** The diagnostic in the names that {@link EngineConfig} has. */
function renamed(diagnostic: Diagnostic): Diagnostic {
  const [root = ""] = diagnostic.path.split(/[.[]/, 1);
  const name = PUBLIC_NAMES.get(root);
  return name === undefined ? diagnostic : { ...diagnostic, path: name + diagnostic.path.slice(root.length) };
}

/**
 * Builds an engine.
 *
 * @throws {@link CallgateError} `invalid-document` with every fault of every document in `diagnostics`.
 */
export function createEngine<Role extends string = never>(config: EngineConfig<Role>): Engine {
  const { policy, annotations, host = hostByDefault(), ...rest } = config;
  const documents = documentsOf({
    ...rest,
    compiledPolicy: policy,
    toolAnnotations: annotations,
  });
  const handle = created(documents, answersOf(host, config.roles));
  const allowedDirectory =
    config.allowedDirectory ?? ask(handle, "invalid-argument", ({ engine }) => engine.allowedDirectory());
  const semantics = (serverName: string, toolName: string): DescribedTool | undefined =>
    ask(handle, "invalid-argument", ({ engine }) => engine.semantics(serverName, toolName) ?? undefined);
  const engine: Omit<Engine, typeof Symbol.dispose> = {
    gate: (call, options) => gate(handle, call, options),
    evaluate: (call, options) => evaluate(handle, call, options),
    evaluateText: (call, options) => evaluateText(handle, call, options),
    explain: (call, options) => explain(handle, call, "evaluate", options),
    explainGate: (call, options) => explain(handle, call, "gate", options),
    prepare: (call, options) => prepare(handle, call, allowedDirectory, options?.containerWorkspaceDir),
    resolve: (address, context, options) => resolve(handle, address, options?.requireExists ?? true, context),
    hostPath: (ref) => hostPath(handle, ref),
    revoke: (ref) => revoke(handle, ref),
    enforce: (operation) => enforce(handle, operation),
    semantics,
    isReadOnly: (serverName, toolName) => semantics(serverName, toolName)?.isReadOnly ?? false,
    ceiling: ask(handle, "invalid-argument", (built) => (built.engine.ceiling() as Ceiling | null) ?? undefined),
    isTrustedServer: (serverName) =>
      ask(handle, "invalid-argument", (built) => built.engine.isTrustedServer(serverName)),
    refresh: () => ask(handle, "host-failed", (built) => built.engine.refresh()),
    dispose: () => dispose(handle),
    diagnostics: ask(handle, "invalid-argument", (built) =>
      Object.freeze((built.engine.warnings() as readonly Diagnostic[]).map(renamed)),
    ),
  };
  // A runtime that does not have the symbol yet does not ask for it either.
  return Object.freeze(
    Symbol.dispose === undefined ? engine : { ...engine, [Symbol.dispose]: engine.dispose },
  ) as Engine;
}

/** The handle, or diagnostics in the names that {@link EngineConfig} has. */
function created(...from: Parameters<typeof createHandle>): WasmHandle {
  try {
    return createHandle(...from);
  } catch (thrown) {
    throw thrown instanceof CallgateError && thrown.diagnostics.length > 0
      ? new CallgateError(thrown.code, thrown.message, thrown.diagnostics.map(renamed))
      : thrown;
  }
}
