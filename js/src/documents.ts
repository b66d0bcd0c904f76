import type { ArgumentRole } from "./roles.js";

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

/** What a tool does beyond its arguments. */
export interface ToolSemantics {
  readonly kind?: "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";
  readonly side_effect_level?: string;
  readonly arg_schema?: {
    readonly path_params?: readonly string[];
    readonly arg_aliases?: Readonly<Record<string, string>>;
    readonly required?: readonly string[];
  };
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  readonly emits_artifacts?: boolean;
  readonly result_readers?: readonly string[];
  readonly inline_result?: boolean;
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
