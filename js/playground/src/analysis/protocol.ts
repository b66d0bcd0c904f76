import type { PolicyDiff, PolicyFinding, ToolRegions } from "callgate/tools";
import type { State } from "../state.js";

/** The questions about the documents. */
export type Asked =
  | { readonly kind: "regions"; readonly tools?: readonly string[]; readonly to?: string }
  | { readonly kind: "lint" }
  | { readonly kind: "diff"; readonly before: State["files"] };

/** A message from the page to its worker. */
export interface Question {
  readonly asked: Asked;
  readonly files: State["files"];
  readonly machine: string;
}

/** A message from the worker: tools as they are found, then one of the others. */
export type Told =
  | { readonly kind: "tool"; readonly tool: ToolRegions }
  | { readonly kind: "mapped" }
  | { readonly kind: "findings"; readonly findings: readonly PolicyFinding[] }
  | { readonly kind: "diff"; readonly diff: PolicyDiff }
  | { readonly kind: "failed"; readonly message: string };
