import type { CheckStep, Diagnostic, Exchange, RuleStep, ValueStep, Verdict } from "callgate";
import type { Scenario, State } from "../state.js";
import type { Edit } from "./edit.js";

/** The parts of the state that the worker knows as they are. */
export type Known = Omit<State, "before" | "scenarios">;

/**
 * A message from the page to its worker: the parts of the state that changed. Long texts take long to hand over, so it
 * tells how a file was edited, and scenarios by their numbers.
 */
export interface Change extends Partial<Known> {
  readonly edits?: Readonly<Record<string, Edit>> | undefined;
  /** The numbers of all scenarios, in their order. */
  readonly scenarios?: readonly number[] | undefined;
  /** Those of them that the worker does not know yet. */
  readonly added?: ReadonlyMap<number, Scenario> | undefined;
}

/** A message from the worker, the verdict first; where another change came meanwhile, the rest is left out. */
export type Answer =
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "judged"; readonly judged: Judged }
  | Built
  | { readonly kind: "explained"; readonly explained: Explained | undefined }
  /** Scenarios that take long are being judged. */
  | { readonly kind: "trying"; readonly done: number; readonly of: number }
  | { readonly kind: "tried"; readonly results: Results };

/** The results of scenarios, by their numbers. */
export type Results = ReadonlyMap<number, Judged>;

/** The state of the documents and the machine. */
export interface Built {
  readonly kind: "built";
  /** Errors, or, if there are none, warnings. */
  readonly diagnostics: readonly Diagnostic[];
  /** The fault of the machine. */
  readonly machineFault: string | undefined;
  /** The annotated tools; absent if they are those of the last answer. */
  readonly tools?: readonly Tool[] | undefined;
}

/** An annotated tool, as a form needs it. */
export interface Tool {
  readonly server: string;
  readonly tool: string;
  readonly comment: string;
  readonly arguments: readonly Argument[];
}

export interface Argument {
  readonly name: string;
  readonly roles: readonly string[];
  /** The roles depend on other arguments. */
  readonly isConditional: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
}

/** The verdict about a call, or why there is none. */
export type Judged =
  | { readonly verdict: Verdict; readonly sent: string | undefined }
  | { readonly faults: readonly Diagnostic[] };

/** An explanation as the page draws it: long lists are cut. */
export interface Explained {
  readonly verdict: Verdict;
  readonly values: readonly (ValueStep & Walk)[];
  /** How many values there were. */
  readonly resolved: number;
  readonly checks: readonly CheckStep[];
  readonly roles: readonly ExplainedRole[];
  /** The parts of a shell command. */
  readonly commands: readonly ExplainedPart[];
  /** How many steps the engine left out. */
  readonly stepsLeftOut: number;
  readonly exchanges: readonly Exchange[];
  /** How many exchanges there were. */
  readonly asked: number;
}

/** A part of a shell command: a program with its verdict, or what was not understood. */
export interface ExplainedPart {
  readonly text: string;
  readonly notUnderstood?: string | undefined;
  readonly tool?: string | undefined;
  readonly verdict?: Verdict | undefined;
}

/** The links that were followed on the way to a canonical path. */
export interface Walk {
  readonly links: readonly { readonly link: string; readonly target: string }[];
}

export interface ExplainedRole {
  readonly role: string | null;
  /** How many walks there were. */
  readonly walked: number;
  readonly walks: readonly {
    readonly alone?: string | undefined;
    readonly decision: string;
    readonly rule: string;
    readonly rules: readonly RuleStep[];
    /** How many rules were considered. */
    readonly considered: number;
  }[];
}
