import type { Verdict } from "./documents.js";

/** A verdict with everything that led to it. The same call, engine and host answers give the same explanation. */
export interface Explanation {
  readonly verdict: Verdict;
  readonly serverName: string;
  readonly toolName: string;
  /** Every string that has a role. */
  readonly values: readonly ValueStep[];
  /** The structural checks, in order, up to the one that decided. */
  readonly checks: readonly CheckStep[];
  /** How the rules judged each role. */
  readonly roles: readonly RoleStep[];
  /** The parts of a shell command; absent if the call has none. */
  readonly commands?: readonly CommandStep[];
  /** The counters of the policy; absent if it has none. */
  readonly counters?: readonly CounterStep[];
  /** How many steps were left out because the explanation reached its limit. */
  readonly stepsLeftOut: number;
  /** How many of them are values; absent if none are. */
  readonly valuesLeftOut?: number;
  /** The questions to the host, and its answers. */
  readonly recording: Recording;
}

/** A counter of the policy. Who counts calls adds `adds` to it once the call is made. */
export interface CounterStep {
  readonly counter: string;
  /** How many calls it has counted, as the context of the call says; `null` if it does not say so. */
  readonly count: number | null;
  /** How often this call counts. */
  readonly adds: number;
}

/** A part of a shell command: a program that it runs, or what was not understood of it. */
export interface CommandStep {
  /** The argument that holds the command, as a JSON Pointer. */
  readonly argument: string;
  /** Where the part begins in the command, in bytes of UTF-8. */
  readonly start: number;
  /** The byte after its last. */
  readonly end: number;
  /** The construct that was not understood. */
  readonly notUnderstood?: string;
  /** How the program was judged, as a call of the server `shell`. */
  readonly judged?: PartStep;
}

/** How a program that a shell command runs was judged. */
export interface PartStep {
  /** The program, which is the tool that was judged. */
  readonly toolName: string;
  /** The verdict on this part alone, before what the annotation says of parts that no rule decides about. */
  readonly verdict: Verdict;
  readonly values: readonly ValueStep[];
  readonly checks: readonly CheckStep[];
  readonly roles: readonly RoleStep[];
}

/** One string under one role. */
export interface ValueStep {
  /** The argument that holds the string, as a JSON Pointer; empty for a value that the engine filled in. */
  readonly argument: string;
  readonly role: string;
  /** The string as given; a placeholder if the role redacts it. */
  readonly raw: string;
  /** Its canonical form under the role; `null` if it has none. */
  readonly canonical: string | null;
  /** The argument that it is relative to, if the annotation names one. */
  readonly relativeTo?: string;
  /** `true` if the call does not give the argument, and the server takes this value; not there otherwise. */
  readonly absent?: boolean;
}

/** One structural check. */
export interface CheckStep {
  readonly check: string;
  /** `true` if the check did not stop the call, or allowed it. */
  readonly passed: boolean;
  readonly detail: string;
}

/** How the rules judged one role. */
export interface RoleStep {
  /** The role; `null` if the tool has no resource role. */
  readonly role: string | null;
  /** All values together, then each by itself where that matters. */
  readonly walks: readonly WalkStep[];
}

/** One pass through the rules. */
export interface WalkStep {
  /** The value that was judged by itself; absent if all were judged together. */
  readonly alone?: string;
  /** The rules that were tried, in order. Those for other servers, tools and roles are left out. */
  readonly rules: readonly RuleStep[];
  readonly decision: string;
  /** The rule that decided. */
  readonly rule: string;
}

/** One rule that was tried. */
export interface RuleStep {
  readonly rule: string;
  /** The decision that it makes if it holds. */
  readonly effect: string;
  readonly holds: boolean;
  /** The first condition that failed; absent if the rule held. */
  readonly condition?: string;
  /** Why it failed, or how it held. */
  readonly detail: string;
}

/** The host's answers during one evaluation. With `createRecordedHost`, they give the same verdict again. */
export interface Recording {
  readonly homeDir: string;
  readonly currentDir: string;
  /** Present where the host's names may differ only in case or Unicode composition and be one file. */
  readonly ignoresPathCase?: true;
  readonly exchanges: readonly Exchange[];
}

/** A question and its answer. */
export interface Exchange {
  /** The callback that was called. */
  readonly ask: string;
  readonly answer: unknown;
  /** The question's arguments. */
  readonly [argument: string]: unknown;
}
