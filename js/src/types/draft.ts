import type { ArgumentRole, StoredToolAnnotationsFile } from "./documents.js";

/** A tool, as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: object | undefined;
  /** The server's hints, such as `readOnlyHint`. They may make a draft stricter, never looser. */
  readonly annotations?: object | undefined;
}

/** The answer to MCP's `tools/list`: the reply, its `result`, or the array of tools. */
export type ToolsList =
  | readonly ListedTool[]
  | { readonly tools: readonly ListedTool[] }
  | { readonly result: { readonly tools: readonly ListedTool[] } };

/** Drafted annotations of one server's tools, and what a person should look at. */
export interface AnnotationsProposal {
  /** The annotations: what was there already, with what was drafted. */
  readonly annotations: StoredToolAnnotationsFile;
  /** The same as text. What was there already is unchanged in it, its spaces and its comments too. */
  readonly text: string;
  /** The arguments that were drafted on good evidence. */
  readonly drafted: readonly DraftedArgument[];
  /** The arguments that a person should decide. Where the evidence allows several roles, they have all of them. */
  readonly unsure: readonly DraftedArgument[];
  /** The arguments that were drafted to name no resource, though nothing says what they are. */
  readonly unnamed: readonly DraftedArgument[];
  /** The arguments whose values are sent in another form than they come in: a relative path becomes absolute. */
  readonly rewritten: readonly DraftedArgument[];
  /** How the server differs from the annotations that were there; empty if there were none. */
  readonly drift: readonly AnnotationsDrift[];
}

/** One difference between what a server has and what is annotated. */
export interface AnnotationsDrift {
  readonly change: "new-tool" | "gone-tool" | "new-argument" | "gone-argument" | "changed-schema";
  readonly tool: string;
  /** Absent if the whole tool is meant. */
  readonly argument?: string;
  /** The difference, in a sentence. */
  readonly message: string;
}

/** The roles that were drafted for one argument. */
export interface DraftedArgument {
  readonly tool: string;
  /** Its name, or a JSON Pointer into the arguments. */
  readonly argument: string;
  readonly roles: readonly ArgumentRole[];
  /** The argument that its relative paths start from. */
  readonly relativeTo?: string;
  /** Why: the evidence, in a sentence. */
  readonly why: string;
}
