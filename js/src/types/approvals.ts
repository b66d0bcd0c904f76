import type { ToolCall, Verdict } from "./documents.js";
import type { CallContext } from "./world.js";

/** A condition on the values of one role. */
export type ApprovalConstraint =
  | { readonly kind: "directory"; readonly role: string; readonly directory: string }
  | { readonly kind: "domain"; readonly role: string; readonly domain: string }
  | { readonly kind: "exact"; readonly role: string; readonly value: string };

/** An argument, or a value in one, that calls must have as it was approved. */
export interface ArgumentConstraint {
  /** The name of the argument, or a JSON Pointer from the arguments on, in which `*` stands for each item of an array. */
  readonly arg: string;
  /** The value; `null` where there is none. */
  readonly equals: unknown;
}

/**
 * The constraints of an approval of an escalated call: it covers later calls of the same tool whose values meet them.
 */
export interface ApprovalOffer {
  readonly serverName: string;
  readonly toolName: string;
  /** Each value of each role that is named here must meet one of that role's constraints. */
  readonly constraints: readonly ApprovalConstraint[];
  /**
   * The flags of the call (truth values, words for them, options), and the arguments that a rule which asks looks at: a
   * call is covered if these are the same of it. Without them: there are none.
   */
  readonly args?: readonly ArgumentConstraint[] | undefined;
  /** The constraints for people to read. Default: `Allow <server>/<tool> <constraints>`. */
  readonly description?: string | undefined;
  /** The rules whose escalation is approved. Without them: any. */
  readonly rules?: readonly string[] | undefined;
  /** When it was approved, as RFC 3339 text (`2026-03-01T12:00:00Z`). Nothing is decided by it. */
  readonly createdAt?: string | undefined;
  /** When it ends, as RFC 3339 text. */
  readonly expiresAt?: string | undefined;
  /** The escalation that was approved. */
  readonly sourceEscalationId?: string | undefined;
  /** The reason that the escalation gave. */
  readonly originalReason?: string | undefined;
  /** The layer whose escalation was approved, by its name: it holds there alone. Without it: in a policy without layers. */
  readonly layer?: string | undefined;
}

/** An offer that a person approved. */
export interface Approval extends ApprovalOffer {
  /** Its name, which the verdict on a call that it covers gives. */
  readonly id: string;
  readonly description: string;
}

/** Approvals to be kept. */
export interface ApprovalsDocument {
  readonly format: "approvals/1";
  readonly entries: readonly Approval[];
}

/** Options for an offer: those that the call was gated with. */
export interface OfferOptions {
  /** The context that the host gives with the call. */
  readonly context?: CallContext | undefined;
  /** The path of the sandbox inside the tool's container. */
  readonly containerWorkspaceDir?: string | undefined;
}

/**
 * The approvals by people, in the order in which they were added. A call that escalates is allowed by rule
 * `structural-approval` if one of them covers it; no other verdict changes. They are kept with the engine; nobody saves
 * them.
 */
export interface EngineApprovals {
  /**
   * The constraints of an approval that would cover an escalated call, to be shown to a person and then added.
   *
   * `undefined` if the verdict does not escalate or is not the one that `gate` gives now; if something that escalates
   * cannot be constrained (a branch, an address of a world, a remote whose URL is not known, a file directly below
   * `/`); and if a rule that the domain allowlist left unasked would deny the call.
   */
  offer(call: ToolCall, verdict: Verdict, options?: OfferOptions): ApprovalOffer | undefined;
  /**
   * Adds what was approved, and returns its id: the `id` given, or `approval-` with a number above those in use. Without
   * `createdAt` the time is now.
   *
   * @throws `CallgateError` `invalid-document` with every fault, such as an approval without a constraint, a
   * directory that is not canonical, or an id that is in use.
   */
  add(approved: ApprovalOffer & { readonly id?: string | undefined }): string;
  /** Removes an approval. Returns `true` if there was one with this id. */
  remove(id: string): boolean;
  /** All of them, those that have ended included. */
  list(): readonly Approval[];
  /** All of them as a document, so that `JSON.stringify(engine.approvals)` is what to keep. */
  toJSON(): ApprovalsDocument;
  /**
   * Replaces all of them by those of a document, given as a value or its JSON text.
   *
   * @throws `CallgateError` `invalid-document` with every fault; all stay as they were then.
   */
  fromJSON(document: ApprovalsDocument | string): void;
}
