import type { ROLES } from "../../wasm/roles.js";

/** What an argument of a tool means. */
export type ArgumentRole = keyof typeof ROLES;

/** What kind of thing the values of a role name. */
export type RoleCategory = "path" | "url" | "identifier" | "opaque";

/** A call of MCP's `tools/call`, with the server that offers the tool. */
export interface ToolCall {
  readonly serverName: string;
  readonly toolName: string;
  /** A plain object; absent is as good as empty. */
  readonly arguments?: object;
}

/** A call as the existing runtime makes it; what is not in {@link ToolCall} is ignored. */
export interface ToolCallRequest extends ToolCall {
  readonly requestId?: string;
  readonly timestamp?: string;
}

/** What is decided. */
export type PolicyDecision = "allow" | "escalate" | "deny";

/** A decision with the rule that made it and the reason it gives. Frozen, and shared between calls. */
export interface Verdict {
  readonly decision: PolicyDecision;
  /** The rule's name; names that begin with `structural-`, `trusted-server` and `default-deny` are the engine's. */
  readonly rule: string;
  /** Why, for a person. */
  readonly reason: string;
  /** The roles that escalated, in order; absent unless a role did. */
  readonly escalatedRoles?: readonly ArgumentRole[];
}

/** A call's arguments, made of what was read of them. */
export type PreparedArgs = Record<string, unknown>;

/** The two views of a call's arguments. */
export interface PreparedToolArgs {
  /** What the tool's server gets. */
  readonly argsForTransport: PreparedArgs;
  /** What policy sees. */
  readonly argsForPolicy: PreparedArgs;
}

/** What a gate answers. */
export interface Gated {
  readonly verdict: Verdict;
  /** What was judged, and what the tool's server may get. */
  readonly argsForTransport: PreparedArgs;
}

/** The name that the existing runtime has for a {@link Verdict}. */
export type EvaluationResult = Verdict;

/** What a condition asks of a sibling argument. */
export type RoleCondition =
  | { readonly arg: string; readonly equals: unknown }
  | { readonly arg: string; readonly in: readonly unknown[] }
  | { readonly arg: string; readonly is: "present" | "absent" | "truthy" | "falsy" };

/** Roles that depend on the call: those of the first clause whose condition holds, else the default. */
export interface ConditionalRoles<Role extends string = ArgumentRole> {
  readonly default: readonly Role[];
  readonly when: readonly { readonly condition: RoleCondition; readonly roles: readonly Role[] }[];
}

/** The kind of a tool, as in the Agent Client Protocol. */
export type ToolKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";

/** How far the effects of a tool reach, from the least invasive; `"none"` is unknown. */
export type SideEffectLevel = "none" | "read_only" | "workspace_write" | "process_exec" | "network";

/** The kind of change that a tool makes. */
export type MutationClass = "read_only" | "workspace_write" | "destructive" | "ambient_side_effect" | "other";

/** What a tool does beyond its arguments; everything has a default. */
export interface ToolSemantics {
  /** Default `"other"`, which is never taken for read-only. */
  readonly kind?: ToolKind;
  /** Default `"none"`; an unknown word is taken for that, with a warning. */
  readonly side_effect_level?: SideEffectLevel | (string & {});
  readonly arg_schema?: {
    /** Arguments that hold paths; those that `args` does not name bear the role that the kind implies. */
    readonly path_params?: readonly string[];
    /** From an alias to the key that it is renamed to before anything is judged. */
    readonly arg_aliases?: Readonly<Record<string, string>>;
    /** Arguments that must be there and not null. */
    readonly required?: readonly string[];
  };
  /** The operations that the tool needs, by capability. */
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  /** Whether it may answer with a reference to its output. */
  readonly emits_artifacts?: boolean;
  /** The tools that read such references. */
  readonly result_readers?: readonly string[];
  /** Whether its output is always complete. */
  readonly inline_result?: boolean;
}

/** What an annotated tool does, every field written, with what follows from its kind. */
export interface DescribedTool {
  readonly kind: ToolKind;
  readonly side_effect_level: SideEffectLevel;
  readonly arg_schema: {
    readonly path_params: readonly string[];
    readonly arg_aliases: Readonly<Record<string, string>>;
    readonly required: readonly string[];
  };
  readonly capabilities: Readonly<Record<string, readonly string[]>>;
  readonly emits_artifacts: boolean;
  readonly result_readers: readonly string[];
  readonly inline_result: boolean;
  /** Whether calls of the tool may run side by side. */
  readonly isReadOnly: boolean;
  readonly mutationClass: MutationClass;
}

/** A file of annotations as the Harn VM has them, by the names of the tools; `harnServer` says whose they are. */
export type HarnAnnotations = Readonly<Record<string, ToolSemantics>>;

/** What one argument of some tools must look like. */
export interface ToolArgConstraint {
  /** The tools: a glob over `tool` and over `server/tool`. */
  readonly tool: string;
  /** Globs, one of which the value must match: `*` stops at a `/`, `**` does not. */
  readonly arg_patterns: readonly string[];
  /** The argument, or a JSON Pointer; default: the first of the tool's `path_params` that holds a string. */
  readonly arg_key?: string | null;
}

/** What calls may use at most. A tool is named by its name, or as `server/tool`. */
export interface Ceiling {
  /** The tools that may be called; none: every tool. */
  readonly tools?: readonly string[];
  /** The operations that tools may need, by capability; none: every one. */
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  /** The directories that paths must lie within; none: anywhere. */
  readonly workspace_roots?: readonly string[];
  readonly side_effect_level?: SideEffectLevel | (string & {}) | null;
  /** How deep agents may start agents. Carried for the host, which counts them. */
  readonly recursion_limit?: number | null;
  readonly tool_arg_constraints?: readonly ToolArgConstraint[];
  /** The tools whose side-effect level may be unknown; default: those of `tools`. */
  readonly unclassified_tools?: readonly string[];
  /** Further sets of directories, of each of which one must hold a path. */
  readonly outer_workspace_roots?: readonly (readonly string[])[];
}

interface Annotation<Roles> extends ToolSemantics {
  readonly toolName: string;
  readonly serverName: string;
  readonly comment: string;
  /** The roles of each argument; a name that starts with `/` is a JSON Pointer into the arguments. */
  readonly args: Readonly<Record<string, Roles>>;
  readonly inputSchema?: Readonly<Record<string, unknown>>;
}

/** The roles of a tool's arguments in one call. */
export type ToolAnnotation<Role extends string = ArgumentRole> = Annotation<readonly Role[]>;

/** The roles of a tool's arguments, some of which may depend on the call. */
export type StoredToolAnnotation<Role extends string = ArgumentRole> = Annotation<
  readonly Role[] | ConditionalRoles<Role>
>;

interface AnnotationsFile<Tool> {
  readonly generatedAt: string;
  readonly servers: Readonly<Record<string, { readonly inputHash: string; readonly tools: readonly Tool[] }>>;
}

/** The annotations of every server's tools, no role conditional. */
export type ToolAnnotationsFile<Role extends string = ArgumentRole> = AnnotationsFile<ToolAnnotation<Role>>;

/** The annotations of every server's tools. */
export type StoredToolAnnotationsFile<Role extends string = ArgumentRole> = AnnotationsFile<StoredToolAnnotation<Role>>;

/** How the entries of a list are compared. */
export type ListType = "domains" | "emails" | "identifiers";

/** What must hold for a rule to match; an absent condition holds. */
export interface RuleConditions<Role extends string = ArgumentRole> {
  readonly roles?: readonly Role[];
  readonly server?: readonly string[];
  readonly tool?: readonly string[];
  readonly paths?: { readonly roles: readonly Role[]; readonly within: string };
  readonly domains?: { readonly roles: readonly Role[]; readonly allowed: readonly string[] };
  readonly lists?: readonly {
    readonly roles: readonly Role[];
    readonly allowed: readonly string[];
    readonly matchType: ListType;
  }[];
}

/** One rule of a compiled policy. */
export interface CompiledRule<Role extends string = ArgumentRole> {
  readonly name: string;
  readonly description: string;
  readonly principle: string;
  readonly if: RuleConditions<Role>;
  readonly then: PolicyDecision;
  readonly reason: string;
}

/** A list that rules name as `@name`. */
export interface ListDefinition {
  readonly name: string;
  readonly type: ListType;
  readonly principle?: string;
  readonly generationPrompt?: string;
  readonly [more: string]: unknown;
}

/** An ordered list of rules. */
export interface CompiledPolicyFile<Role extends string = ArgumentRole> {
  readonly generatedAt: string;
  readonly constitutionHash: string;
  readonly inputHash: string;
  readonly rules: readonly CompiledRule<Role>[];
  readonly listDefinitions?: readonly ListDefinition[];
  readonly skippedServers?: readonly unknown[];
}

/** What the lists of a policy hold. */
export interface DynamicListsFile {
  readonly generatedAt: string;
  readonly lists: Readonly<Record<string, ResolvedList>>;
}

/** One list: its generated values, and what people added and removed. */
export interface ResolvedList {
  readonly values: readonly string[];
  readonly manualAdditions: readonly string[];
  readonly manualRemovals: readonly string[];
  readonly resolvedAt: string;
  readonly inputHash: string;
}

/** How an engine behaves where there is a choice; everything has a default. */
export interface EngineOptions {
  /** Whether every argument that looks like a path is held against the protected paths. Default `"on"`. */
  readonly heuristicPaths?: "on" | "off";
  /** What is done about an argument that the annotation does not name. Default `"schema"`: as the schema says. */
  readonly unknownArguments?: "schema" | "ignore" | "escalate" | "deny";
  /** Whether names that differ in case may be one file. Default: as the host says. */
  readonly pathCase?: "sensitive" | "insensitive";
  /** Whether rule directories are resolved in every evaluation, or when built and refreshed. Default `"fresh"`. */
  readonly directories?: "fresh" | "pinned";
  /** The server of the tools in a file of Harn annotations, which names none. Default `"harn"`. */
  readonly harnServer?: string;
  /**
   * Whether the workspace roots of the ceiling are the sandbox too: what lies within one of them lies within it, and
   * relative paths are relative to the first. Default `"bounds"`: roots grant nothing.
   */
  readonly workspaceRoots?: "bounds" | "sandbox";
  /** Whether a warning refuses a document. Default `false`. */
  readonly strict?: boolean;
  /** Bounds by name, for example `{ value_bytes: 4096 }`. */
  readonly limits?: Readonly<Record<string, number>>;
}

/** The built-in steps from a value to its canonical form, or from that to what policy sees. */
export type NamedStep = "identity" | "lowercase" | "path" | "url" | "git-url" | "domain" | "redact" | "strip-control";

/** A role that the host defines. */
export interface HostRole<Name extends string = string> {
  readonly name: Name;
  readonly description: string;
  readonly category: "path" | "url" | "identifier" | "opaque";
  /** Default: as the built-in roles of the category. A callback that fails denies the call. */
  readonly canonicalize?: NamedStep | ((value: string) => string);
  readonly extractPolicyValue?: NamedStep | ((value: string) => string);
}
