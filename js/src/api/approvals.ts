import * as wasm from "../../wasm/callgate.js";
import { CallgateError } from "../errors.js";
import type { ArgumentRole } from "../types.js";
import { within } from "../wasm/module.js";
import { type PlainArgs, writeMembersOf } from "./annotations.js";
import { checkedText, jsonText, withHost } from "./plain.js";

/** A condition that every value of one role must meet. */
export type ApprovalConstraint =
  | { readonly kind: "directory"; readonly role: ArgumentRole; readonly directory: string }
  | { readonly kind: "domain"; readonly role: ArgumentRole; readonly domain: string }
  | { readonly kind: "exact"; readonly role: ArgumentRole; readonly value: string };

/** Calls that a person approved together: one tool, and constraints on its arguments. */
export interface ApprovalPattern {
  readonly serverName: string;
  readonly toolName: string;
  /** All of these must hold. */
  readonly constraints: readonly ApprovalConstraint[];
  /** The escalation that was approved. */
  readonly sourceEscalationId: string;
  /** The reason that the escalation gave. */
  readonly originalReason: string;
  /** The pattern for people to read: `Allow <server>/<tool> <constraints>`. */
  readonly description: string;
}

/** An approved pattern with its id. */
export interface ApprovalEntry extends ApprovalPattern {
  readonly id: string;
}

/** What approving an escalated call may mean for later calls. */
export interface WhitelistCandidates {
  readonly patterns: ApprovalPattern[];
  /** The description of each pattern. */
  readonly descriptions: string[];
}

/** The approval that covers a call, if there is one. */
export type WhitelistMatch =
  | { readonly matched: true; readonly patternId: string; readonly pattern: ApprovalEntry }
  | { readonly matched: false };

/** Approved patterns, in the order in which they were added. They only ever turn `escalate` into `allow`. */
export interface ApprovalWhitelist {
  /**
   * Adds a pattern and returns its id.
   *
   * @throws {@link CallgateError} `invalid-argument` if this is not a pattern or has no constraints.
   */
  add(pattern: ApprovalPattern): string;
  /**
   * The first pattern that covers the call. It has the same server and tool, and every constraint is met by all values
   * of its role, of which there must be at least one. If `escalatedRoles` is given, each of them must be constrained.
   */
  match(
    serverName: string,
    toolName: string,
    args: Readonly<Record<string, unknown>>,
    annotation: PlainArgs,
    escalatedRoles?: readonly ArgumentRole[],
  ): WhitelistMatch;
  /** The patterns with their ids. */
  entries(): readonly ApprovalEntry[];
  /** How many patterns there are. */
  readonly size: number;
}

/** A call for the module: the arguments that have a role or name a repository, their roles, and those that escalated. */
function written(
  args: Readonly<Record<string, unknown>>,
  annotation: PlainArgs,
  escalatedRoles: readonly ArgumentRole[] | undefined,
): [Uint8Array, string, ArgumentRole[] | undefined] {
  const bytes = writeMembersOf(args, [...Object.keys(annotation.args), "path"], "gate");
  return [bytes, jsonText({ args: annotation.args }, "annotation"), escalatedRoles && [...escalatedRoles]];
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
  const [server, tool] = [checkedText(serverName, "serverName"), checkedText(toolName, "toolName")];
  const [id, why] = [checkedText(escalationId, "escalationId"), checkedText(reason, "reason")];
  const [bytes, document, roles] = written(args, annotation, escalatedRoles);
  const patterns = withHost(
    (host) => host.extractWhitelistCandidates(server, tool, bytes, document, roles, id, why) as ApprovalPattern[],
  );
  return { patterns, descriptions: patterns.map(({ description }) => description) };
}

/** An empty list of approvals. */
export function createApprovalWhitelist(): ApprovalWhitelist {
  const entries: ApprovalEntry[] = [];
  return {
    add(pattern) {
      checkPattern(pattern);
      const id = `approval-${entries.length}`;
      entries.push(Object.freeze({ ...pattern, id }));
      return id;
    },
    match(serverName, toolName, args, annotation, escalatedRoles) {
      const [server, tool] = [checkedText(serverName, "serverName"), checkedText(toolName, "toolName")];
      const candidates = entries.filter((entry) => entry.serverName === server && entry.toolName === tool);
      if (candidates.length === 0) {
        return { matched: false };
      }
      const [bytes, document, roles] = written(args, annotation, escalatedRoles);
      const patterns = jsonText(candidates, "patterns");
      const found = withHost((host) => host.findApproval(patterns, server, tool, bytes, document, roles));
      const pattern = found === undefined ? undefined : candidates[found];
      return pattern === undefined ? { matched: false } : { matched: true, patternId: pattern.id, pattern };
    },
    entries: () => entries.slice(),
    get size() {
      return entries.length;
    },
  };
}

function checkPattern(pattern: ApprovalPattern): void {
  const text = jsonText(pattern, "pattern");
  try {
    within("invalid-argument", () => wasm.checkApproval(text));
  } catch (thrown) {
    throw thrown instanceof CallgateError
      ? new CallgateError(thrown.code, `the pattern is invalid: ${thrown.message}`)
      : thrown;
  }
}
