import type { Diagnostic } from "../errors.js";
import type { PolicyDecision, ToolCall } from "./documents.js";

/** One argument in a region. */
export interface RegionArgument {
  /** Its name, or the JSON Pointer to its values. */
  readonly argument: string;
  readonly roles: readonly string[];
  /** Its values, for a person: one of these. `under /srv/app but not /srv/app/secrets`. */
  readonly is: readonly string[];
}

/** Calls of one tool about which the verdict is the same. */
export interface MapRow {
  /** The arguments that conditions look at; absent if they do not matter. */
  readonly when?: readonly RegionArgument[];
  /** The other arguments; empty if every call of the tool is judged alike. */
  readonly places: readonly RegionArgument[];
  readonly decision: PolicyDecision;
  /** The rule that decides. */
  readonly rule: string;
  /** The arguments of a call in the row, which was judged so. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The context that a host gives with that call; absent if the verdict does not depend on one. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** The calls of one tool and their verdicts. */
export interface ToolMap {
  readonly serverName: string;
  readonly toolName: string;
  readonly rows: readonly MapRow[];
  /**
   * The arguments that name directories of which everything below is read, protected paths too; absent if there is none, or
   * nothing is protected.
   */
  readonly readsBelow?: readonly string[];
  /** Where the regions are not exact, and why, each a sentence; empty if they are. */
  readonly inexact: readonly string[];
}

/** One argument in one region. */
export interface RegionPlace {
  /** Its name, or the JSON Pointer to its values. */
  readonly argument: string;
  readonly roles: readonly string[];
  /** Its values, for a person. */
  readonly is: string;
  /** The directory, absolute, of which `is` says something; absent if the value is not a path. */
  readonly within?: string;
}

/** Calls of a tool in which no verdict can differ, as far as one part of their arguments goes. */
export interface Region {
  readonly places: readonly RegionPlace[];
  readonly decision: PolicyDecision;
  /** The rule that decides. */
  readonly rule: string;
  /** The arguments of a call in the region, which was judged so. Its other arguments are as harmless as they can be. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The context that a host gives with that call; absent if the verdict does not depend on one. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** The regions of one tool's calls. */
export interface ToolRegions {
  readonly serverName: string;
  readonly toolName: string;
  /**
   * The arguments that rules look at together, one part for each. The verdict of a call is the strictest of the regions that it
   * lies in, one of each part whose `when` holds.
   */
  readonly parts: readonly { readonly when: readonly RegionPlace[]; readonly regions: readonly Region[] }[];
  /**
   * The arguments that name directories of which everything below is read, protected paths too; absent if there is none, or
   * nothing is protected.
   */
  readonly readsBelow?: readonly string[];
  /** Where the regions are not exact, and why, each a sentence; empty if they are. */
  readonly inexact: readonly string[];
  /** How many calls were judged. */
  readonly calls: number;
}

/** A doubt about documents that are valid. */
export interface PolicyFinding extends Diagnostic {
  /** A call that shows it. */
  readonly call?: ToolCall;
}

/** A decision and the rule that made it. */
export interface DecidedBy {
  readonly decision: PolicyDecision;
  readonly rule: string;
}

/** Calls of one tool that are judged otherwise than before. */
export interface VerdictChange {
  /** The arguments that conditions look at; absent if they do not matter. */
  readonly when?: readonly RegionArgument[];
  /** The other arguments; empty if every call of the tool is judged alike. */
  readonly places: readonly RegionArgument[];
  readonly before: DecidedBy;
  readonly after: DecidedBy;
  /** The arguments of such a call. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The context that a host gives with that call; absent if the verdict does not depend on one. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** How the verdicts about calls of one tool differ. */
export interface ToolChanges {
  readonly serverName: string;
  readonly toolName: string;
  /** Calls that are judged less strictly. */
  readonly looser: readonly VerdictChange[];
  /** Calls that are judged more strictly. */
  readonly stricter: readonly VerdictChange[];
  /** Calls about which another rule decides the same. */
  readonly otherRule: readonly VerdictChange[];
  /** The facts that are not known, because regions are not exact there, each a sentence. */
  readonly unknown: readonly string[];
}

/** How two configurations differ. */
export interface PolicyDiff {
  /** The tools about whose calls there is something to say. */
  readonly tools: readonly ToolChanges[];
  /** `true` if both judge every call alike, and by the same rule. */
  readonly equal: boolean;
  /** How many changes there are of each kind, over all tools. */
  readonly looser: number;
  readonly stricter: number;
  readonly otherRule: number;
  readonly unknown: number;
}

/** The result for a statement of a configuration's `invariants`. */
export type Statement = {
  /** Its name, or its place: `invariants[0]`. */
  readonly name: string;
} & (
  | {
      readonly result: "proven";
      /** How many regions of calls it is about. */
      readonly regions: number;
      /** The disk that the proof assumes, if links could change it: `a disk without links`. */
      readonly on?: string;
      /** The statement says what is never allowed, and calls that it is about escalate: a person may approve them. */
      readonly butForApprovals?: true;
    }
  | {
      readonly result: "refuted";
      /** A call that shows it. */
      readonly call: ToolCall;
      readonly decision: PolicyDecision;
      readonly rule: string;
    }
  | {
      readonly result: "unknown";
      /** Where regions are not exact, each a sentence. */
      readonly because: readonly string[];
    }
  /** It is about no call. */
  | { readonly result: "empty" }
);
