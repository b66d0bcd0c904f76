/// <reference lib="esnext.disposable" preserve="true" />
import { unknownKey } from "../../wasm/callgate.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import { type Host, hostByDefault } from "../host.js";
import { member, members, reading } from "../members.js";
import type {
  CallContext,
  Ceiling,
  CompiledPolicyFile,
  DescribedTool,
  DocumentName,
  DynamicListsFile,
  Enforcement,
  EngineApprovals,
  EngineOptions,
  Explanation,
  Gated,
  HarnAnnotations,
  HostRole,
  Invariant,
  PreparedToolArgs,
  ProgramsFile,
  ProtectedPath,
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
import type { Answers } from "../wasm/bridge.js";
import { checkedOptions, evaluate, evaluateText, explain, gate, NOTHING, prepareGiven } from "../wasm/calls.js";
import { ask, createHandle, type Documents, dispose, type WasmHandle } from "../wasm/handle.js";
import { within } from "../wasm/module.js";
import { enforce, hostPath, resolve, revoke } from "../wasm/places.js";
import { answersOf, documentsOf, type FaultOfKey, refuseUnknownKeys, withFile } from "./configuration.js";
import { approvalsOf } from "./engine-approvals.js";
import { checkedText, type DocumentText } from "./text.js";

/**
 * The configuration of an engine, by the names that a bundle has for it. A document is a value or its text: JSON, which
 * may have comments and trailing commas. `Found` is for imported JSON files, in which every word is a `string`.
 */
export interface EngineConfig<Role extends string = never, Found extends string = never> {
  /** The rules. */
  readonly policy: CompiledPolicyFile<WorldRole | NoInfer<Role>, Found> | DocumentText | string;
  /** The roles of every tool's arguments. */
  readonly annotations:
    | StoredToolAnnotationsFile<WorldRole | NoInfer<Role>, Found>
    | HarnAnnotations<Found>
    | DocumentText
    | string;
  /** The contents of the lists that the policy names as `@name`. */
  readonly lists?: DynamicListsFile | DocumentText | string | null | undefined;
  /** Programs that the commands of shells may run, beside those that are known. */
  readonly programs?: ProgramsFile<Found> | DocumentText | string | undefined;
  /**
   * A directory in which file and git servers may do anything. The options `sandbox`, `sandboxServers` and `sandboxRoles`
   * say otherwise.
   */
  readonly sandbox?: string | DocumentText | null | undefined;
  /**
   * Paths that no call may touch, and patterns of them, such as `"/srv/secret-*"`: a `*` stands for any text without a `/`,
   * `**` for any number of directories. One that is an object may be read.
   */
  readonly protectedPaths?: readonly ProtectedPath[] | DocumentText | undefined;
  /** The domain patterns that the URLs of a server must match, by server. Other servers are not restricted. */
  readonly domainAllowlists?:
    | ReadonlyMap<string, readonly string[]>
    | Readonly<Record<string, readonly string[] | undefined>>
    | DocumentText
    | undefined;
  /** Servers whose calls are all allowed without being judged. */
  readonly trustedServers?: ReadonlySet<string> | readonly string[] | DocumentText | undefined;
  /** The most that calls may use. It can only deny. */
  readonly ceiling?: Ceiling | DocumentText | string | undefined;
  /** Further roles, with callbacks where no built-in step fits. */
  readonly roles?: readonly HostRole<Role>[] | DocumentText | undefined;
  /** Places that agents name by address, and what may be done there. It adds the role `address`. */
  readonly world?: WorldDocument<Found> | DocumentText | string | undefined;
  /** Statements about all calls, which `callgate check` proves or refutes. Judging does not look at them. */
  readonly invariants?: readonly Invariant<WorldRole | NoInfer<Role>>[] | DocumentText | undefined;
  /** Settings of the engine. */
  readonly options?: EngineOptions | DocumentText | undefined;
  /** The directory, absolute, that relative paths of the documents start from. */
  readonly folder?: string | undefined;
  /** The files that the documents come from, for diagnostics. */
  readonly files?: { readonly [name in DocumentName]?: string | undefined } | undefined;
  /** Answers questions about the filesystem and git. Default in Node: this machine. */
  readonly host?: Host | undefined;
}

/** Options for judging a call. */
export interface CallOptions {
  /** The context that the host gives with the call; an engine with a world judges addresses by it. */
  readonly context?: CallContext | undefined;
  /**
   * When the call is made, in milliseconds since 1970 or as RFC 3339 text; approvals end by it. Default: `Date.now()`.
   */
  readonly now?: number | string | undefined;
}

/** Options for gating a call. */
export interface GateOptions extends CallOptions {
  /**
   * The path of the sandbox inside the tool's container. Paths below it are moved onto `sandbox`, or onto the
   * first workspace root if those are the sandbox.
   */
  readonly containerWorkspaceDir?: string | undefined;
}

/** Options for explaining a verdict. */
export interface ExplainOptions {
  /** Who reads it. An explanation for an `agent` contains no host path and no recording. Default `operator`. */
  readonly audience?: "operator" | "agent" | undefined;
}

/** A policy decision point: it judges tool calls and does nothing else. */
export interface Engine extends Disposable {
  /**
   * Prepares and judges a call in one pass: what is judged is what `argsForTransport` holds. Relative paths are
   * relative to `sandbox`, or to the first workspace root if those are the sandbox.
   *
   * The input is never changed. `argsForTransport` holds arguments without a role unchanged, as the same objects.
   */
  gate(call: ToolCall, options?: GateOptions): Gated;
  /**
   * Judges a call whose arguments are already prepared. Relative paths are relative to the host's current directory.
   */
  evaluate(call: ToolCall, options?: CallOptions): Verdict;
  /**
   * The same for a call as JSON text, in which no name may occur twice.
   *
   * @throws {@link CallgateError} `invalid-call` if the text is not a call.
   */
  evaluateText(call: string, options?: CallOptions): Verdict;
  /** The verdict of `evaluate`, with everything that led to it. */
  explain(call: ToolCall, options?: CallOptions & ExplainOptions): Explanation;
  /** The verdict of `gate`, with everything that led to it. */
  explainGate(call: ToolCall, options?: GateOptions & ExplainOptions): Explanation;
  /**
   * The two views of a call's arguments, without judging them.
   *
   * @throws {@link CallgateError} `unprepared` if the arguments are not an object or do not have the shape that the
   * annotation describes, or if the host fails. A value is never an error.
   */
  prepare(call: ToolCall, options?: GateOptions): PreparedToolArgs;
  /**
   * Resolves an address of the world in the context's mode.
   *
   * @throws {@link CallgateError} `invalid-argument` if the engine has no world.
   */
  resolve(address: string, context: CallContext, options?: ResolveOptions): Resolution;
  /** The host path that a reference stands for; `undefined` if it was revoked or belongs to another engine. */
  hostPath(ref: VisibilityRef): string | undefined;
  /**
   * Revokes a reference, or every reference of this engine if none is given. Returns `true` if the reference was valid.
   */
  revoke(ref?: VisibilityRef): boolean;
  /**
   * The reply that allows or refuses an operation at a place of the world.
   *
   * @throws {@link CallgateError} `invalid-argument` if the engine has no world.
   */
  enforce(operation: Enforcement): Reply;
  /**
   * Approvals by people. `gate`, `evaluate` and `explain` allow an escalated call that an approval covers, and name it
   * in the verdict.
   */
  readonly approvals: EngineApprovals;
  /** The semantics of an annotated tool, for schedulers and telemetry; `undefined` for any other tool. */
  semantics(serverName: string, toolName: string): DescribedTool | undefined;
  /** Returns `true` if calls of the tool may run at the same time. Calls of a tool without an annotation may not. */
  isReadOnly(serverName: string, toolName: string): boolean;
  /** The capability ceiling. Its `recursion_limit` is for the host to enforce. */
  readonly ceiling: Ceiling | undefined;
  /** Returns `true` if calls of the server are allowed without being judged. */
  isTrustedServer(serverName: string): boolean;
  /**
   * Returns `true` if every call of the tool is denied, whatever its arguments: nobody annotated it, the ceiling forbids it,
   * or no rule that allows or escalates can hold before one that denies it by server, tool and roles alone, or at all. An
   * agent need not be told of it. `false` says nothing: values are not looked at.
   */
  deniesEveryCall(serverName: string, toolName: string): boolean;
  /** Resolves the directories of allow rules again, and with `options.directories: "pinned"` all others. */
  refresh(): void;
  /** Frees the engine's memory now instead of when it is collected. Using the engine afterwards is an error. */
  dispose(): void;
  /** Warnings about the documents. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Every key of {@link EngineConfig}. */
const CONFIG_KEYS: Readonly<Record<keyof EngineConfig, true>> = {
  policy: true,
  annotations: true,
  lists: true,
  programs: true,
  sandbox: true,
  protectedPaths: true,
  domainAllowlists: true,
  trustedServers: true,
  ceiling: true,
  options: true,
  roles: true,
  world: true,
  invariants: true,
  folder: true,
  files: true,
  host: true,
};

/** Those that are documents. */
const PARTS = (Object.keys(CONFIG_KEYS) as (keyof EngineConfig)[]).filter((key) => key !== "host" && key !== "files");

/**
 * Builds an engine.
 *
 * @throws {@link CallgateError} `invalid-document` with every fault of every document in `diagnostics`. A key that is not
 * one of {@link EngineConfig} is a fault: what it was to configure would be missing. Null means absent for `sandbox` and
 * `lists` only. A member may be inherited from a class; what `Object.prototype` has counts for nothing.
 */
export function createEngine<Role extends string = never, Found extends string = never>(
  config: EngineConfig<Role, Found>,
): Engine {
  const { documents, answers, located } = configured(config, faultOfKey);
  const handle = created(documents, answers, located);
  const sandbox = ask(handle, "invalid-argument", ({ engine }) => engine.sandbox());
  const semantics = (serverName: string, toolName: string): DescribedTool | undefined => {
    const server = checkedText(serverName, "serverName");
    const tool = checkedText(toolName, "toolName");
    return ask(handle, "invalid-argument", ({ engine }) => engine.semantics(server, tool) ?? undefined);
  };
  const engine: Omit<Engine, typeof Symbol.dispose> = {
    gate: (call, options) => gate(handle, call, options),
    evaluate: (call, options) => evaluate(handle, call, options),
    evaluateText: (call, options) => evaluateText(handle, checkedText(call, "call"), options),
    explain: (call, options) => explain(handle, call, "evaluate", options),
    explainGate: (call, options) => explain(handle, call, "gate", options),
    prepare: (call, options) => prepareGiven(handle, call, sandbox, options),
    resolve: (address, context, options = NOTHING) => resolve(handle, address, requiresExists(options), context),
    hostPath: (ref) => hostPath(handle, ref),
    revoke: (ref) => revoke(handle, ref),
    enforce: (operation) => enforce(handle, operation),
    approvals: approvalsOf(handle),
    semantics,
    isReadOnly: (serverName, toolName) => semantics(serverName, toolName)?.isReadOnly ?? false,
    ceiling: ask(handle, "invalid-argument", (built) => (built.engine.ceiling() as Ceiling | null) ?? undefined),
    isTrustedServer: (serverName) => {
      const server = checkedText(serverName, "serverName");
      return ask(handle, "invalid-argument", (built) => built.engine.isTrustedServer(server));
    },
    deniesEveryCall: (serverName, toolName) => {
      const server = checkedText(serverName, "serverName");
      const tool = checkedText(toolName, "toolName");
      return ask(handle, "invalid-argument", (built) => built.engine.deniesEveryCall(server, tool));
    },
    refresh: () => ask(handle, "host-failed", (built) => built.engine.refresh()),
    dispose: () => dispose(handle),
    diagnostics: ask(handle, "invalid-argument", (built) =>
      Object.freeze((built.engine.warnings() as readonly Diagnostic[]).map(located)),
    ),
  };
  // A runtime without the symbol has no `using` either.
  return Object.freeze(
    Symbol.dispose === undefined ? engine : { ...engine, [Symbol.dispose]: engine.dispose },
  ) as Engine;
}

/** @throws {@link CallgateError} `invalid-argument` if the options are not such. */
function requiresExists(options: ResolveOptions): boolean {
  const found = reading("options", () => member(checkedOptions(options), "requireExists"));
  if (found !== undefined && typeof found !== "boolean") {
    throw new CallgateError("invalid-argument", "`requireExists` is not `true` or `false`");
  }
  return found ?? true;
}

function faultOfKey(key: string, known: string[]): Diagnostic {
  return within("invalid-argument", () => unknownKey(key, key, known) as Diagnostic);
}

/**
 * The configuration of an engine, as a module takes it.
 *
 * @internal
 */
interface Configured {
  readonly documents: Documents;
  readonly answers: Answers;
  /** A diagnostic with the file of its document. */
  readonly located: <Found extends Diagnostic>(diagnostic: Found) => Found;
}

/**
 * Reads a configuration.
 *
 * @throws {@link CallgateError} `invalid-document` for a key that is unknown, or a document that JSON cannot represent;
 * `not-ready` if there is no host.
 * @internal
 */
export function configured<Role extends string, Found extends string>(
  config: EngineConfig<Role, Found>,
  faultOf: FaultOfKey,
): Configured {
  return reading("configuration", () => {
    const keys = Object.keys(CONFIG_KEYS) as (keyof EngineConfig)[];
    refuseUnknownKeys(config, keys, faultOf);
    const read = members(config as EngineConfig, keys);
    const { host = hostByDefault(), files } = read;
    const parts = members(read, PARTS);
    return {
      documents: documentsOf(parts),
      answers: answersOf(host, parts.roles),
      located: (diagnostic) => withFile(diagnostic, parts, files ?? {}),
    };
  });
}

/** Creates the handle. If that fails, the diagnostics have the names of the documents' files. */
function created(documents: Documents, answers: Answers, located: (diagnostic: Diagnostic) => Diagnostic): WasmHandle {
  try {
    return createHandle(documents, answers);
  } catch (thrown) {
    throw thrown instanceof CallgateError && thrown.diagnostics.length > 0
      ? new CallgateError(thrown.code, thrown.message, thrown.diagnostics.map(located))
      : thrown;
  }
}
