import type { Verdict } from "./documents.js";

/** A verdict with everything that led to it. The same call, engine and host answers give the same explanation. */
export interface Explanation {
  readonly verdict: Verdict;
  readonly serverName: string;
  readonly toolName: string;
  /** Every string that bears a role. */
  readonly values: readonly ValueStep[];
  /** The structural checks, in order, up to the one that decided. */
  readonly checks: readonly CheckStep[];
  /** The judgement of each role by the rules. */
  readonly roles: readonly RoleStep[];
  /** How many steps were left out because the explanation reached its limit. */
  readonly stepsLeftOut: number;
  /** What the host was asked and what it answered. */
  readonly recording: Recording;
}

/** One string under one role. */
export interface ValueStep {
  /** The argument that holds the string, as a JSON Pointer; empty for what the engine filled in. */
  readonly argument: string;
  readonly role: string;
  /** The string as given; a placeholder under a role that redacts. */
  readonly raw: string;
  /** Its canonical form under the role; `null` where it has none. */
  readonly canonical: string | null;
}

/** One structural check. */
export interface CheckStep {
  readonly check: string;
  /** Whether the call came through, or was let through. */
  readonly passed: boolean;
  readonly detail: string;
}

/** The judgement of one role. */
export interface RoleStep {
  /** The role; `null` where the tool has no resource role. */
  readonly role: string | null;
  /** All values together, then each alone where that matters. */
  readonly walks: readonly WalkStep[];
}

/** Going through the rules once. */
export interface WalkStep {
  /** The value that was judged alone; absent where all were judged together. */
  readonly alone?: string;
  /** The rules that were looked at, in order. Rules for other servers, tools and roles are not. */
  readonly rules: readonly RuleStep[];
  readonly decision: string;
  /** The rule that decided. */
  readonly rule: string;
}

/** One rule that was looked at. */
export interface RuleStep {
  readonly rule: string;
  /** What it says when it holds. */
  readonly effect: string;
  readonly holds: boolean;
  /** The first condition that failed; absent where the rule held. */
  readonly condition?: string;
  /** Why it failed, or how it held. */
  readonly detail: string;
}

/** The host's answers during one evaluation. As a host they give the same verdict again. */
export interface Recording {
  readonly homeDir: string;
  readonly currentDir: string;
  readonly exchanges: readonly Exchange[];
}

/** A question with its answer. */
export interface Exchange {
  /** The callback that was asked. */
  readonly ask: string;
  readonly answer: unknown;
  /** The question's arguments. */
  readonly [argument: string]: unknown;
}
