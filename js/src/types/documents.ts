import type { ROLES } from "../../wasm/roles.js";

/** The role of a tool's argument. */
export type ArgumentRole = keyof typeof ROLES;

/** The kind of thing that the values of a role name. */
export type RoleCategory = "path" | "url" | "identifier" | "command" | "opaque";

/** A call of MCP's `tools/call`, with the server that offers the tool. */
export interface ToolCall {
  readonly serverName: string;
  readonly toolName: string;
  /** A plain object. Absent or `undefined` means empty. */
  readonly arguments?: object | undefined;
}

/** A call as the existing runtime makes it. Members that are not in {@link ToolCall} are ignored. */
export interface ToolCallRequest extends ToolCall {
  readonly requestId?: string;
  readonly timestamp?: string;
}

/** The effect of a verdict. */
export type PolicyDecision = "allow" | "escalate" | "deny";

/** The common part of all verdicts. */
interface Decided<Decision extends PolicyDecision> {
  readonly decision: Decision;
  /** The rule's name. `trusted-server`, `default-deny` and names that begin with `structural-` are the engine's own. */
  readonly rule: string;
  /** Why, for people to read. */
  readonly reason: string;
}

/** The call may be made. */
export interface Allowed extends Decided<"allow"> {
  /** The id of the approval that covers the call; absent unless the rule is `structural-approval`. */
  readonly approval?: string;
  readonly escalatedRoles?: never;
}

/** A person decides. */
export interface Escalated extends Decided<"escalate"> {
  /** The roles that escalated, in order; absent if the call as a whole did. */
  readonly escalatedRoles?: readonly ArgumentRole[];
  readonly approval?: never;
}

/** The call may not be made. */
export interface Denied extends Decided<"deny"> {
  readonly escalatedRoles?: never;
  readonly approval?: never;
}

/** A decision, with the rule that made it and the reason. Verdicts are frozen, and shared between calls. */
export type Verdict = Allowed | Escalated | Denied;

/** A call's arguments, as they were read. */
export type PreparedArgs = Record<string, unknown>;

/** The two views of a call's arguments. */
export interface PreparedToolArgs {
  /** The arguments to send to the tool's server. */
  readonly argsForTransport: PreparedArgs;
  /** The arguments as policy sees them. */
  readonly argsForPolicy: PreparedArgs;
}

/** The answer of a gate. */
export interface Gated {
  readonly verdict: Verdict;
  /** The arguments that were judged, to send to the tool's server if the call is allowed. */
  readonly argsForTransport: PreparedArgs;
}

/** A {@link Verdict} by the name and the members that the existing runtime has for it. */
export interface EvaluationResult extends Decided<PolicyDecision> {
  readonly escalatedRoles?: readonly ArgumentRole[];
  readonly approval?: string;
}

/**
 * A word of a document. What TypeScript infers for an imported JSON file has `string` in place of every word; `Found` is
 * then `string`, and the engine alone checks the words. In every other document they are checked here as well.
 */
export type Word<Known extends string, Found extends string> = (Known | Found) &
  (string extends Found ? string : Known);

/** Roles of a document: several, or the word of one. */
export type RolesOf<Role extends string, Found extends string> = Word<Role, Found> | readonly Word<Role, Found>[];

/** Names of servers or tools in a rule, or the only one. */
type NamesOf = string | readonly string[];

/** A condition on an argument of the call. */
export interface RoleCondition<Found extends string = never> {
  /** Its name, or a JSON Pointer into the arguments, which begins with `/`. */
  readonly arg: string;
  /** One of the following must be given; `undefined` is the same as absent. */
  readonly equals?: unknown;
  readonly in?: readonly unknown[] | undefined;
  readonly is?: Word<"present" | "absent" | "truthy" | "falsy", Found> | undefined;
}

/** Roles that depend on the call: those of the first clause whose condition holds, otherwise the default. */
export interface ConditionalRoles<Role extends string = ArgumentRole, Found extends string = never> {
  readonly default: RolesOf<Role, Found>;
  readonly when: readonly { readonly condition: RoleCondition<Found>; readonly roles: RolesOf<Role, Found> }[];
}

/** Roles of an argument, with what more is said of its values. */
export interface RoleSpec<Role extends string = ArgumentRole, Found extends string = never> {
  readonly roles: RolesOf<Role, Found> | ConditionalRoles<Role, Found>;
  /** The name of the argument from whose path its relative paths start. */
  readonly relativeTo?: string | undefined;
  /** How far the tool changes what its paths name: the entry alone, or everything below it as well. */
  readonly reach?: Word<"entry" | "tree", Found> | undefined;
  /** The scheme of a URL that is given without one, under `fetch-url`, as browsers take it. */
  readonly scheme?: Word<"http", Found> | undefined;
  /** The separator of the values in one text; `"json"`: the text is a JSON array of strings. */
  readonly separator?: Word<"," | ";" | "\n" | "json", Found> | undefined;
  /** The meaning of a call without it: `"nothing"`, or the value that the server takes, which is judged and not sent. */
  readonly absent?: string | undefined;
}

/** The roles of one argument: the word of one, several, or roles that depend on the call. */
export type ArgumentRoles<Role extends string = ArgumentRole, Found extends string = never> =
  | RolesOf<Role, Found>
  | ConditionalRoles<Role, Found>
  | RoleSpec<Role, Found>;

/** The kind of a tool, as in the Agent Client Protocol. */
export type ToolKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";

/** How far the effects of a tool reach, from the least invasive up. `"none"` means unknown. */
export type SideEffectLevel = "none" | "read_only" | "workspace_write" | "process_exec" | "network";

/** The fate of a call whose arguments name no resource, where no rule is about it. */
export type Unjudged = "ask" | "allow" | "deny";

/** The kind of change that a tool makes. */
export type MutationClass = "read_only" | "workspace_write" | "destructive" | "ambient_side_effect" | "other";

/** The semantics of a tool. Everything has a default. */
export interface ToolSemantics<Found extends string = never> {
  /** Default `"other"`, which never counts as read-only. */
  readonly kind?: Word<ToolKind, Found> | undefined;
  /** Default `"none"`. An unknown word counts as that, with a warning. */
  readonly side_effect_level?: SideEffectLevel | (string & {});
  readonly arg_schema?:
    | {
        /** Arguments that hold paths. Those that `args` does not name have the role that the kind implies. */
        readonly path_params?: readonly string[] | undefined;
        /** The key that replaces each alias before the call is judged, by alias. */
        readonly arg_aliases?: Readonly<Record<string, string | undefined>> | undefined;
        /** Arguments that must be present and not null. */
        readonly required?: readonly string[] | undefined;
      }
    | undefined;
  /** The operations that the tool needs, by capability. */
  readonly capabilities?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
  /** `true` if it may answer with a reference to its output. */
  readonly emits_artifacts?: boolean | undefined;
  /** The tools that read such references. */
  readonly result_readers?: readonly string[] | undefined;
  /** `true` if its output is always complete. */
  readonly inline_result?: boolean | undefined;
}

/** The semantics of an annotated tool, with every default filled in, and what follows from its kind. */
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
  /** `true` if calls of the tool may run at the same time. */
  readonly isReadOnly: boolean;
  readonly mutationClass: MutationClass;
}

/** A file of the Harn VM's annotations, by the name of the tool. The option `harnServer` names their server. */
export type HarnAnnotations<Found extends string = never> = Readonly<Record<string, ToolSemantics<Found> | undefined>>;

/** A constraint on one argument of some tools. */
export interface ToolArgConstraint {
  /** The tools: a glob, which must match `tool` or `server/tool`. */
  readonly tool: string;
  /** Globs, at least one of which the value must match. `*` does not match a `/`, `**` does. */
  readonly arg_patterns: readonly string[];
  /** The argument, or a JSON Pointer. Default: the first of the tool's `path_params` that holds a string. */
  readonly arg_key?: string | null | undefined;
  /**
   * The workspace root that relative patterns start from where `options.workspaceRoots` is `"sandbox"`. Default: the
   * ceiling's first. `intersectCeilings` writes it, since the first root of an intersection may be another one.
   */
  readonly workspace_root?: string | null | undefined;
}

/** The most that calls may use. A tool is given by its name, or as `server/tool`. */
export interface Ceiling {
  /** The tools that may be called. Absent or empty: every tool. */
  readonly tools?: readonly string[] | undefined;
  /** The operations that tools may need, by capability. Absent or empty: every operation. */
  readonly capabilities?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The directories that paths must lie in. Absent or empty: anywhere. */
  readonly workspace_roots?: readonly string[] | undefined;
  readonly side_effect_level?: SideEffectLevel | (string & {}) | null;
  /** How deeply agents may start other agents. The host enforces it. */
  readonly recursion_limit?: number | null | undefined;
  readonly tool_arg_constraints?: readonly ToolArgConstraint[] | undefined;
  /** The tools whose side-effect level may be unknown. Default: those of `tools`. */
  readonly unclassified_tools?: readonly string[] | undefined;
  /** Further sets of directories. A path must lie in a directory of each set. */
  readonly outer_workspace_roots?: readonly (readonly string[])[] | undefined;
}

interface Annotation<Args> extends ToolSemantics {
  readonly toolName: string;
  readonly serverName: string;
  readonly comment: string;
  /** The roles of each argument. A name that begins with `/` is a JSON Pointer into the arguments. */
  readonly args: Args;
}

/** An annotation as a document may hold it, which may leave out what decides nothing. */
export interface DocumentedTool<Role extends string = ArgumentRole, Found extends string = never>
  extends ToolSemantics<Found> {
  readonly toolName: string;
  readonly serverName?: string | undefined;
  readonly comment?: string | undefined;
  /** The roles of each argument. A name that begins with `/` is a JSON Pointer into the arguments. */
  readonly args: Readonly<Record<string, ArgumentRoles<Role, Found> | undefined>>;
  readonly inputSchema?: object | undefined;
  /** What happens where no argument tells what a call touches. Default: that of the server, else as rules decide. */
  readonly unjudged?: Word<Unjudged, Found> | undefined;
}

/** The roles of a tool's arguments in one call. */
export type ToolAnnotation<Role extends string = ArgumentRole> = Annotation<Record<string, Role[]>>;

/** Conditional roles as a result: the arrays are the caller's to use. */
interface StoredConditionalRoles<Role extends string> {
  default: Role[];
  when: { condition: RoleCondition & { in?: unknown[] | undefined }; roles: Role[] }[];
}

/** The roles of a tool's arguments, some of which may depend on the call. */
export interface StoredToolAnnotation<Role extends string = ArgumentRole>
  extends Annotation<Record<string, Role[] | StoredConditionalRoles<Role>>> {
  readonly inputSchema?: Record<string, unknown>;
}

interface ServerTools<Tool, Found extends string> {
  readonly inputHash?: string | undefined;
  /** What is said of its tools that say nothing themselves. */
  readonly unjudged?: Word<Unjudged, Found> | undefined;
  readonly tools: readonly Tool[];
}

interface AnnotationsFile<Tool, Found extends string = never> {
  readonly $schema?: string | undefined;
  readonly generatedAt?: string | undefined;
  readonly servers: Readonly<Record<string, ServerTools<Tool, Found> | undefined>>;
}

/** The annotations of every server's tools, without conditional roles. */
export type ToolAnnotationsFile<Role extends string = ArgumentRole> = AnnotationsFile<
  Omit<DocumentedTool<Role>, "args"> & { readonly args: Readonly<Record<string, readonly Role[]>> }
>;

/** The annotations of every server's tools. */
export type StoredToolAnnotationsFile<
  Role extends string = ArgumentRole,
  Found extends string = never,
> = AnnotationsFile<DocumentedTool<Role, Found>, Found>;

/** How the entries of a list are compared. */
export type ListType = "domains" | "emails" | "identifiers";

/** The conditions of a rule, all of which must hold. An absent condition holds. */
export interface RuleConditions<Role extends string = ArgumentRole, Found extends string = never> {
  readonly roles?: RolesOf<Role, Found> | undefined;
  /** Names, or patterns such as `"git*"`: `*` stands for any text without a `/`, every other character for itself. */
  readonly server?: NamesOf | undefined;
  /** The same for the tool. */
  readonly tool?: NamesOf | undefined;
  readonly paths?: { readonly roles: RolesOf<Role, Found>; readonly within: string } | undefined;
  readonly domains?: { readonly roles: RolesOf<Role, Found>; readonly allowed: readonly string[] } | undefined;
  readonly lists?:
    | readonly {
        readonly roles: RolesOf<Role, Found>;
        readonly allowed: readonly string[];
        readonly matchType: Word<ListType, Found>;
      }[]
    | undefined;
  /**
   * Conditions on arguments, whatever their roles; at least one. A value that names a resource is compared as it is given and
   * in its canonical form. A restriction also holds for a value that servers may convert to one that meets it, such as
   * `"true"` to `true`. What cannot be read meets every restriction and no grant.
   */
  readonly args?: readonly RoleCondition<Found>[] | undefined;
  /**
   * Who asks, as the context of the call says; at least one of the three. A name may hold `*`, which stands for any part of it. Where
   * the context does not say it, a grant does not hold, and a restriction counts.
   */
  readonly context?: { readonly [respect in Respect]?: string | readonly string[] | undefined } | undefined;
  /** How many calls counters have counted: at most, in a rule that allows, else at least. What nobody says is asked about. */
  readonly counts?: Readonly<Record<string, { readonly atLeast: number } | { readonly atMost: number }>> | undefined;
}

/** In what it is said who asks. */
export type Respect = "subject" | "agent" | "session";

/** Calls that the host counts. */
export interface Counter<Role extends string = ArgumentRole, Found extends string = never> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly if: Omit<RuleConditions<Role, Found>, "counts">;
  /** For how long a call counts. */
  readonly seconds: number;
  /** Whose calls count together; without it, everybody's. */
  readonly per?: Word<Respect, Found> | readonly Word<Respect, Found>[] | undefined;
}

/** One rule of a compiled policy. */
export interface CompiledRule<Role extends string = ArgumentRole, Found extends string = never> {
  readonly name: string;
  readonly description?: string | undefined;
  readonly principle?: string | undefined;
  readonly if: RuleConditions<Role, Found>;
  readonly then: Word<PolicyDecision, Found>;
  readonly reason: string;
}

/** The definition of a list, which rules name as `@name`. */
export interface ListDefinition<Found extends string = never> {
  readonly name: string;
  readonly type: Word<ListType, Found>;
  readonly principle?: string | undefined;
  readonly generationPrompt?: string | undefined;
  readonly requiresMcp?: boolean | undefined;
  readonly mcpServerHint?: string | undefined;
}

/** An ordered list of rules. */
export interface CompiledPolicyFile<Role extends string = ArgumentRole, Found extends string = never> {
  /** For editors. */
  readonly $schema?: string | undefined;
  readonly generatedAt?: string | undefined;
  readonly constitutionHash?: string | undefined;
  readonly inputHash?: string | undefined;
  readonly rules: readonly CompiledRule<Role, Found>[];
  readonly listDefinitions?: readonly ListDefinition<Found>[] | undefined;
  readonly counters?: readonly Counter<Role, Found>[] | undefined;
  readonly skippedServers?: readonly { readonly serverName: string; readonly reason: string }[] | undefined;
}

/** The contents of a policy's lists. */
export interface DynamicListsFile {
  /** For editors. */
  readonly $schema?: string | undefined;
  readonly generatedAt?: string | undefined;
  readonly lists: Readonly<Record<string, ResolvedList | undefined>>;
}

/** One list: its generated values, and those that people added and removed. */
export interface ResolvedList {
  readonly values: readonly string[];
  readonly manualAdditions: readonly string[];
  readonly manualRemovals: readonly string[];
  readonly resolvedAt?: string | undefined;
  readonly inputHash?: string | undefined;
}

/** Which calls a statement is about, and how they are decided. A missing member holds for every call. */
export interface InvariantCalls<Role extends string = never> {
  readonly decision: PolicyDecision | readonly PolicyDecision[];
  /** Servers and tools, or patterns of their names. */
  readonly server?: string | readonly string[] | undefined;
  readonly tool?: string | readonly string[] | undefined;
  /** Roles of the argument that the rest is about. */
  readonly roles?: ArgumentRole | Role | readonly (ArgumentRole | Role)[] | undefined;
  /** Calls with a path at or below this directory. */
  readonly within?: string | undefined;
  /** Calls with a URL that one of these patterns matches. */
  readonly domains?: string | readonly string[] | undefined;
  /** Calls with one of these values, or `@names` of lists. */
  readonly values?: string | readonly string[] | undefined;
}

/** A statement about all calls, which `callgate check` proves or refutes. Judging does not look at it. */
export type Invariant<Role extends string = never> = { readonly name?: string | undefined } & (
  | { readonly never: InvariantCalls<Role> }
  | { readonly always: InvariantCalls<Role> }
);

/** A protected path, or a pattern of them; one that is an object may be read, and not changed. */
export type ProtectedPath = string | { readonly path: string; readonly against: "write" };

/** A document that an engine is built from. */
export type DocumentName =
  | "policy"
  | "annotations"
  | "lists"
  | "programs"
  | "sandbox"
  | "protectedPaths"
  | "domainAllowlists"
  | "trustedServers"
  | "ceiling"
  | "options"
  | "roles"
  | "world"
  | "invariants";

/** A built-in step from a value to its canonical form, or from that to what policy sees. */
export type NamedStep = "identity" | "lowercase" | "path" | "url" | "git-url" | "domain" | "redact" | "strip-control";

/** A role that the host defines. */
export interface HostRole<Name extends string = string> {
  readonly name: Name;
  readonly description?: string;
  /** A command belongs to the built-in role alone. */
  readonly category: Exclude<RoleCategory, "command">;
  /** Default: as for the built-in roles of the category. If a callback fails, the call is denied. */
  readonly canonicalize?: NamedStep | ((value: string) => string);
  readonly extractPolicyValue?: NamedStep | ((value: string) => string);
  /** Which texts may be values of the category `identifier`: `"name"` (the default) or any, `"free"`. */
  readonly form?: "name" | "free";
}
