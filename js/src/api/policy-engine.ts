import { withoutComments } from "../../wasm/callgate.js";
import { CallgateError } from "../errors.js";
import { type Host, hostByDefault } from "../host.js";
import { members, namesIn, reading } from "../members.js";
import type {
  ArgumentRole,
  Ceiling,
  CompiledPolicyFile,
  DynamicListsFile,
  EngineOptions,
  HarnAnnotations,
  HostRole,
  StoredToolAnnotation,
  StoredToolAnnotationsFile,
  ToolAnnotation,
  ToolCallRequest,
  Verdict,
} from "../types.js";
import { annotationOf, evaluate } from "../wasm/calls.js";
import { ask, createHandle, type WasmHandle } from "../wasm/handle.js";
import { within } from "../wasm/module.js";
import { argsInFull, isConditional, resolvedWith } from "./annotations.js";
import { answersOf, documentsOf } from "./configuration.js";
import { registerAnnotation } from "./prepare-tool-args.js";
import { checkedText } from "./text.js";

/** The last argument of {@link PolicyEngine}: what the existing runtime's engine does not have. */
export interface PolicyEngineOptions extends EngineOptions {
  /** The most that calls may use. It can only deny. */
  readonly ceiling?: Ceiling | string | undefined;
  /** Answers questions about the filesystem and git. Default in Node: this machine. */
  readonly host?: Host | undefined;
  /** Further roles, with callbacks where no built-in step fits. */
  readonly roles?: readonly HostRole[] | undefined;
}

/** The engine under the name, and with the constructor and the methods, that the existing runtime uses. */
export class PolicyEngine {
  readonly #handle: WasmHandle;
  readonly #annotationsText: string;
  readonly #harnServer: string;
  readonly #context: { readonly host: Host | undefined; readonly roles: readonly HostRole[] | undefined };
  #stored: Map<string, Map<string, Known>> | undefined;

  /**
   * Builds an engine. A document is a value or its JSON text.
   *
   * @throws {@link CallgateError} `invalid-document` with every fault of every document in `diagnostics`.
   */
  constructor(
    compiledPolicy: CompiledPolicyFile | string,
    toolAnnotations: StoredToolAnnotationsFile | HarnAnnotations | string,
    protectedPaths: readonly string[],
    allowedDirectory?: string,
    serverDomainAllowlists?: ReadonlyMap<string, readonly string[]>,
    dynamicLists?: DynamicListsFile | string,
    trustedServers?: ReadonlySet<string>,
    given: PolicyEngineOptions = {},
  ) {
    if (typeof given !== "object" || given === null) {
      throw new CallgateError("invalid-argument", "the options are not an object");
    }
    const read = reading("options", () => members(given, namesIn(given) as (keyof PolicyEngineOptions)[]));
    const { host = hostByDefault(), roles, ceiling, ...options } = read;
    const parts = {
      policy: compiledPolicy,
      annotations: toolAnnotations,
      protectedPaths,
      sandbox: allowedDirectory,
      domainAllowlists: serverDomainAllowlists,
      lists: dynamicLists,
      trustedServers,
      ceiling,
      options: { compatibility: "runtime", ...options },
      roles,
    };
    const documents = reading("configuration", () => documentsOf(parts));
    this.#harnServer = read.harnServer ?? "harn";
    this.#handle = createHandle(
      documents,
      reading("configuration", () => answersOf(host, roles)),
    );
    this.#annotationsText = documents.get("annotations") ?? "{}";
    this.#context = { host, roles };
  }

  /** Judges a call whose arguments are already prepared. Members that are not part of a call are ignored. */
  evaluate(request: ToolCallRequest): Verdict {
    return evaluate(this.#handle, request);
  }

  /** The tool's annotation for a call with these arguments; `undefined` for an unknown tool. */
  getAnnotation(
    serverName: string,
    toolName: string,
    args: Readonly<Record<string, unknown>>,
  ): ToolAnnotation | undefined {
    const known = this.#known(serverName, toolName);
    if (known === undefined) {
      return undefined;
    }
    if (!known.isConditional) {
      return known.stored as ToolAnnotation;
    }
    const pairs = annotationOf(this.#handle, { serverName, toolName, arguments: args }) ?? [];
    const signature = JSON.stringify(pairs);
    let resolved = known.resolved.get(signature);
    if (resolved === undefined) {
      resolved = deepFrozen(resolvedWith(known.stored, pairs as [string, ArgumentRole[]][])) as ToolAnnotation;
      registerAnnotation(resolved, this.#context);
      known.resolved.set(signature, resolved);
    }
    return resolved;
  }

  /** The tool's annotation as it is stored; `undefined` for an unknown tool. */
  getStoredAnnotation(serverName: string, toolName: string): StoredToolAnnotation | undefined {
    return this.#known(serverName, toolName)?.stored;
  }

  /** Returns `true` if calls of the server are allowed without being judged. */
  isTrustedServer(serverName: string): boolean {
    const server = checkedText(serverName, "serverName");
    return ask(this.#handle, "invalid-argument", ({ engine }) => engine.isTrustedServer(server));
  }

  #known(serverName: string, toolName: string): Known | undefined {
    this.#stored ??= index(asFile(parsed(this.#annotationsText), this.#harnServer));
    const known = this.#stored.get(serverName)?.get(toolName);
    if (known !== undefined && !known.isFrozen) {
      known.isFrozen = true;
      registerAnnotation(deepFrozen(known.stored), this.#context);
    }
    return known;
  }
}

interface Known {
  readonly stored: StoredToolAnnotation;
  readonly isConditional: boolean;
  /** The annotations of earlier calls, by their roles as JSON text. */
  readonly resolved: Map<string, ToolAnnotation>;
  isFrozen: boolean;
}

/** The document of a text that an engine has taken, which may have comments. */
function parsed(text: string): StoredToolAnnotationsFile | HarnAnnotations {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(within("invalid-document", () => withoutComments(text)));
  }
}

/** The file; one of Harn annotations, which names no server, becomes a file with one server. */
function asFile(document: StoredToolAnnotationsFile | HarnAnnotations, serverName: string): StoredToolAnnotationsFile {
  if (Object.hasOwn(document, "servers")) {
    return document as StoredToolAnnotationsFile;
  }
  const tools = Object.entries(document as HarnAnnotations).map(([toolName, semantics]) => ({
    ...semantics,
    toolName,
    serverName,
    comment: "",
    args: {},
  }));
  return { generatedAt: "", servers: { [serverName]: { inputHash: "", tools } } };
}

function index(file: StoredToolAnnotationsFile): Map<string, Map<string, Known>> {
  const servers = new Map<string, Map<string, Known>>();
  for (const [name, server] of Object.entries(file.servers)) {
    const tools = new Map<string, Known>();
    for (const tool of server?.tools ?? []) {
      const stored = { serverName: name, comment: "", ...tool, args: argsInFull(tool.args) } as StoredToolAnnotation;
      // The kind of a tool implies roles of paths that `args` does not name.
      const isResolved = (stored.arg_schema?.path_params?.length ?? 0) > 0 || isConditional(stored);
      tools.set(stored.toolName, {
        stored,
        isConditional: isResolved,
        resolved: new Map(),
        isFrozen: false,
      });
    }
    servers.set(name, tools);
  }
  return servers;
}

function deepFrozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFrozen);
  }
  return value;
}
