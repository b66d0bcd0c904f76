import * as wasm from "../../wasm/tools.js";
import { CallgateError } from "../errors.js";
import { reading } from "../members.js";
import { within } from "../tools/module.js";
import type { ArgumentRole } from "../types.js";
import { type PlainArgs, writeMembersOf } from "./annotations.js";
import { jsonText } from "./json.js";
import { withHost } from "./plain.js";
import { checkedText } from "./text.js";

declare const isEntryId: unique symbol;
/** The id of an approved pattern. */
export type WhitelistEntryId = string & { readonly [isEntryId]: true };

/** A condition that every value of one role must meet. */
export type WhitelistConstraint =
  | { readonly kind: "directory"; readonly role: ArgumentRole; readonly directory: string }
  | { readonly kind: "domain"; readonly role: ArgumentRole; readonly domain: string }
  | { readonly kind: "exact"; readonly role: ArgumentRole; readonly value: string };

/** Calls that a person approved together: one tool, and constraints on its arguments. */
export interface WhitelistPattern {
  readonly id: WhitelistEntryId;
  readonly serverName: string;
  readonly toolName: string;
  /** All of these must hold. */
  readonly constraints: WhitelistConstraint[];
  /** When the escalation was offered for approval, as ISO 8601. Nothing is decided by it. */
  readonly createdAt: string;
  /** The escalation that was approved. */
  readonly sourceEscalationId: string;
  /** The reason that the escalation gave. */
  readonly originalReason: string;
  /** The pattern for people to read: `Allow <server>/<tool> <constraints>`. */
  readonly description: string;
}

/** A pattern that is not approved yet. */
export type WhitelistCandidate = Omit<WhitelistPattern, "id">;
/** The same as the caller may have it. */
type GivenCandidate = Omit<WhitelistCandidate, "constraints"> & {
  readonly constraints: readonly WhitelistConstraint[];
};

/** A candidate as a person is shown it. */
export interface WhitelistCandidateIpc {
  readonly description: string;
}

/** The later calls that approving an escalated call may cover. */
export interface WhitelistCandidates {
  patterns: WhitelistCandidate[];
  /** One for each pattern. */
  ipcs: WhitelistCandidateIpc[];
}

/** The approval that covers a call, if there is one. */
export type WhitelistMatchResult =
  | { readonly matched: true; readonly patternId: WhitelistEntryId; readonly pattern: WhitelistPattern }
  | { readonly matched: false };

/** A person's choice from candidates by default: the first. */
export const DEFAULT_WHITELIST_OPTIONS: { readonly whitelistSelection: number } = Object.freeze({
  whitelistSelection: 0,
});

/** Approved patterns, in the order in which they were added. They only ever turn `escalate` into `allow`. */
export interface ApprovalWhitelist {
  /**
   * Adds a pattern and returns its id.
   *
   * @throws {@link CallgateError} `invalid-argument` if this is not a pattern or has no constraints.
   */
  add(pattern: GivenCandidate): WhitelistEntryId;
  /**
   * The first pattern that covers the call. It has the same server and tool, and every constraint is met by all values
   * of its role, of which there must be at least one. If `escalatedRoles` is given, each of them must be constrained.
   *
   * A value that no constraint can hold (a number, another scheme, a remote that is not known) meets none. A link that is
   * removed must lie in the directory, and so must its target.
   */
  match(
    serverName: string,
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    annotation: PlainArgs,
    escalatedRoles?: readonly ArgumentRole[],
  ): WhitelistMatchResult;
  /** The patterns with their ids. */
  entries(): WhitelistPattern[];
  /** How many patterns there are. */
  readonly size: number;
}

/** A call for the module: the arguments that have a role or name a repository, their roles, and those that escalated. */
function written(
  args: Readonly<Record<string, unknown>>,
  annotation: PlainArgs,
  escalatedRoles: readonly ArgumentRole[] | undefined,
): [Uint8Array, string, ArgumentRole[] | undefined] {
  // `path` may say which repository a remote is of.
  const bytes = writeMembersOf(args, [...Object.keys(annotation.args), "path"], "gate");
  return [
    bytes,
    jsonText({ args: annotation.args }, "annotation"),
    escalatedRoles?.map((role) => checkedText(role, "escalatedRoles") as ArgumentRole),
  ];
}

/**
 * The patterns that approving an escalated call may stand for; none if no value can be constrained.
 *
 * Without `escalatedRoles`, every resource role of the annotation is constrained.
 */
export function extractWhitelistCandidates(
  serverName: string,
  toolName: string,
  args: Readonly<Record<string, unknown>>,
  annotation: PlainArgs,
  escalatedRoles: readonly ArgumentRole[] | undefined,
  escalationId: string,
  reason: string,
): WhitelistCandidates {
  return reading("arguments", () => {
    const [server, tool] = [checkedText(serverName, "serverName"), checkedText(toolName, "toolName")];
    const [id, why] = [checkedText(escalationId, "escalationId"), checkedText(reason, "reason")];
    const [bytes, document, roles] = written(args, annotation, escalatedRoles);
    const found = withHost(
      (host) =>
        wasm.extractWhitelistCandidates(host, server, tool, bytes, document, roles, id, why) as Omit<
          WhitelistCandidate,
          "createdAt"
        >[],
    );
    const createdAt = new Date().toISOString();
    return {
      patterns: found.map((pattern) => ({ ...pattern, createdAt })),
      ipcs: found.map(({ description }) => ({ description })),
    };
  });
}

/** An empty list of approvals. */
export function createApprovalWhitelist(): ApprovalWhitelist {
  const entries: WhitelistPattern[] = [];
  return {
    add(pattern) {
      checkPattern(pattern);
      const id = `approval-${entries.length}` as WhitelistEntryId;
      const { constraints, ...rest } = reading("pattern", () => ({
        ...pattern,
        constraints: [...pattern.constraints],
      }));
      entries.push(Object.freeze({ ...rest, constraints, id }));
      return id;
    },
    match(serverName, toolName, args, annotation, escalatedRoles) {
      return reading("call", () => matched(entries, serverName, toolName, args, annotation, escalatedRoles));
    },
    entries: () => entries.slice(),
    get size() {
      return entries.length;
    },
  };
}

/** The first of the entries that covers a call. */
function matched(
  entries: readonly WhitelistPattern[],
  serverName: string,
  toolName: string,
  args: Readonly<Record<string, unknown>>,
  annotation: PlainArgs,
  escalatedRoles: readonly ArgumentRole[] | undefined,
): WhitelistMatchResult {
  const [server, tool] = [checkedText(serverName, "serverName"), checkedText(toolName, "toolName")];
  const candidates = entries.filter((entry) => entry.serverName === server && entry.toolName === tool);
  if (candidates.length === 0) {
    return { matched: false };
  }
  const [bytes, document, roles] = written(args, annotation, escalatedRoles);
  const patterns = jsonText(candidates, "patterns");
  const found = withHost((host) => wasm.findApproval(host, patterns, server, tool, bytes, document, roles));
  const pattern = found === undefined ? undefined : candidates[found];
  return pattern === undefined ? { matched: false } : { matched: true, patternId: pattern.id, pattern };
}

function checkPattern(pattern: GivenCandidate): void {
  const text = jsonText(pattern, "pattern");
  try {
    within("invalid-argument", () => wasm.checkApproval(text));
  } catch (thrown) {
    throw thrown instanceof CallgateError
      ? new CallgateError(thrown.code, `the pattern is invalid: ${thrown.message}`)
      : thrown;
  }
}
