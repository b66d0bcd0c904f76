/// <reference lib="esnext.disposable" preserve="true" />
import { answersOf, documentsOf } from "./configuration.js";
import type {
  Ceiling,
  CompiledPolicyFile,
  DescribedTool,
  DynamicListsFile,
  EngineOptions,
  HarnAnnotations,
  HostRole,
  StoredToolAnnotationsFile,
  ToolCall,
  Verdict,
} from "./documents.js";
import { Core, type Gated } from "./engine.js";
import { CallgateError, type Diagnostic } from "./errors.js";
import type { Explanation } from "./explanation.js";
import { type Host, hostByDefault } from "./host.js";
import type { PreparedToolArgs } from "./prepared.js";
import type {
  CallContext,
  Enforcement,
  Reply,
  Resolution,
  ResolveOptions,
  VisibilityRef,
  WorldDocument,
  WorldRole,
} from "./world.js";

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
  /** For an `agent` there is no path of the host in the explanation, and no recording. Default `operator`. */
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
   * @throws {@link CallgateError} `invalid-call` when the text is no call.
   */
  evaluateText(call: string, options?: CallOptions): Verdict;
  /** The verdict of `evaluate` with everything that led to it. */
  explain(call: ToolCall, options?: CallOptions & ExplainOptions): Explanation;
  /** The verdict of `gate` with everything that led to it. */
  explainGate(call: ToolCall, options?: GateOptions & ExplainOptions): Explanation;
  /**
   * The two views of a call's arguments, not judged.
   *
   * @throws {@link CallgateError} `unprepared` when the arguments are no object, do not have the shape that the
   * annotation describes, or the host fails. A value never is an error.
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
  /** Resolves the directories anew that `options.directories: "pinned"` resolved before. */
  refresh(): void;
  /** Frees the engine's memory at once. Using it afterwards is an error; without this, it is freed when collected. */
  dispose(): void;
  /** What was noticed about the documents and did not stop loading. */
  readonly diagnostics: readonly Diagnostic[];
}

const PUBLIC_NAMES: ReadonlyMap<string, string> = new Map([
  ["compiledPolicy", "policy"],
  ["toolAnnotations", "annotations"],
]);

/** The diagnostic with the names that {@link EngineConfig} has. */
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
  let core: Core;
  try {
    core = new Core(documents, answersOf(host, config.roles));
  } catch (thrown) {
    throw thrown instanceof CallgateError && thrown.diagnostics.length > 0
      ? new CallgateError(thrown.code, thrown.message, thrown.diagnostics.map(renamed))
      : thrown;
  }
  const allowedDirectory = config.allowedDirectory ?? core.allowedDirectory();
  const diagnostics = Object.freeze(core.warnings().map(renamed));
  const engine = {
    gate: (call: ToolCall, options?: GateOptions) => core.gate(call, options?.containerWorkspaceDir, options?.context),
    evaluate: (call: ToolCall, options?: CallOptions) => core.evaluate(call, options?.context),
    evaluateText: (call: string, options?: CallOptions) => core.evaluateText(call, options?.context),
    explain: (call: ToolCall, options?: CallOptions & ExplainOptions) => core.explain(call, "evaluate", options ?? {}),
    explainGate: (call: ToolCall, options?: GateOptions & ExplainOptions) => core.explain(call, "gate", options ?? {}),
    prepare: (call: ToolCall, options?: GateOptions) =>
      core.prepare(call, allowedDirectory, options?.containerWorkspaceDir),
    resolve: (address: string, context: CallContext, options?: ResolveOptions) =>
      core.resolve(address, options?.requireExists ?? true, context),
    hostPath: (ref: VisibilityRef) => core.hostPath(ref),
    revoke: (ref?: VisibilityRef) => core.revoke(ref),
    enforce: (operation: Enforcement) => core.enforce(operation),
    semantics: (serverName: string, toolName: string) => core.semantics(serverName, toolName),
    isReadOnly: (serverName: string, toolName: string) => core.semantics(serverName, toolName)?.isReadOnly ?? false,
    ceiling: core.ceiling(),
    isTrustedServer: (serverName: string) => core.isTrustedServer(serverName),
    refresh: () => core.refresh(),
    dispose: () => core.dispose(),
    diagnostics,
  };
  // Where a runtime has no such symbol yet, nothing asks for it.
  return Object.freeze(
    Symbol.dispose === undefined ? engine : { ...engine, [Symbol.dispose]: engine.dispose },
  ) as Engine;
}
