import { type Host, hostByDefault } from "../host.js";
import type { HostRole, PreparedToolArgs, ToolAnnotation, ToolSemantics } from "../types.js";
import { define } from "../wasm/arguments.js";
import { prepare } from "../wasm/calls.js";
import { createHandle, type WasmHandle } from "../wasm/handle.js";
import { answersOf, documentsOf } from "./configuration.js";

/** An annotation as preparing needs it. */
type PreparedBy = Pick<ToolAnnotation, "args"> & Pick<ToolSemantics, "arg_schema" | "kind">;

/** Where an annotation comes from. */
interface Context {
  readonly host: Host | undefined;
  readonly roles: readonly HostRole[] | undefined;
}

/** An engine of one tool, which only prepares. */
interface Preparer {
  readonly handle: WasmHandle;
  readonly homeDir: string;
  readonly currentDir: string;
}

// One name for the tool of every such engine; a tool that is not annotated has any other.
const NAME = "tool";
const UNKNOWN = "unknown";

const contexts = new WeakMap<object, Context>();
const preparers = new WeakMap<object, Preparer>();
const NOTHING: PreparedBy = Object.freeze({ args: Object.freeze({}) });
contexts.set(NOTHING, { host: undefined, roles: undefined });

/** Notes that an annotation is frozen through and through, and where it comes from. */
export function registerAnnotation(annotation: object, context: Context): void {
  contexts.set(annotation, context);
}

/**
 * The two views of a call's arguments: canonical for the tool's server, and as policy sees them.
 *
 * With `allowedDirectory`, relative paths are relative to it, and travel as they are; with `containerWorkspaceDir`, paths
 * below that are moved onto it. Without an annotation, what looks like a path takes its lexical form. The input is
 * never changed, and a value is never an error.
 *
 * @throws {@link CallgateError} `unprepared` when an alias stands beside its key, or a required argument is missing.
 */
export function prepareToolArgs(
  args: Readonly<Record<string, unknown>>,
  annotation: PreparedBy | undefined,
  allowedDirectory?: string,
  containerWorkspaceDir?: string,
): PreparedToolArgs {
  const { handle } = preparerOf(annotation ?? NOTHING);
  const toolName = annotation === undefined ? UNKNOWN : NAME;
  const call = { serverName: NAME, toolName, arguments: args };
  return prepare(handle, call, allowedDirectory, containerWorkspaceDir);
}

function preparerOf(annotation: PreparedBy): Preparer {
  const context = contexts.get(annotation);
  const host = context?.host ?? hostByDefault();
  const known = preparers.get(annotation);
  if (known !== undefined && known.homeDir === host?.homeDir && known.currentDir === host.currentDir) {
    return known;
  }
  const { args, arg_schema, kind } = annotation;
  const tool = { toolName: NAME, serverName: NAME, comment: "", args: written(args), arg_schema, kind };
  const documents = documentsOf({
    compiledPolicy: { generatedAt: "", constitutionHash: "", inputHash: "", rules: [] },
    toolAnnotations: { generatedAt: "", servers: { [NAME]: { inputHash: "", tools: [tool] } } },
    roles: context?.roles,
  });
  const answers = answersOf(host, context?.roles);
  const handle = createHandle(documents, answers);
  const preparer = { handle, homeDir: answers.host.homeDir, currentDir: answers.host.currentDir };
  if (context !== undefined) {
    // What is not known to be frozen may say something else the next time.
    preparers.set(annotation, preparer);
  }
  return preparer;
}

/** The roles as documents have them: where a condition left none, they say so. */
function written(args: PreparedBy["args"]): PreparedBy["args"] {
  const document: Record<string, PreparedBy["args"][string]> = {};
  for (const [name, roles] of Object.entries(args)) {
    define(document, name, roles.length === 0 ? ["none"] : roles);
  }
  return document;
}
