import { type Host, hostByDefault } from "../host.js";
import { members, reading } from "../members.js";
import type { HostRole, PreparedToolArgs, ToolAnnotation, ToolSemantics } from "../types.js";
import { prepare } from "../wasm/calls.js";
import { createHandle, type WasmHandle } from "../wasm/handle.js";
import { define } from "../wasm/plain-data.js";
import { answersOf, documentsOf } from "./configuration.js";

/** The part of an annotation that preparing needs. */
type PreparedBy = Pick<ToolAnnotation, "args"> & Pick<ToolSemantics, "arg_schema" | "kind">;

/** The settings of the engine that an annotation comes from. */
interface Context {
  readonly host: Host | undefined;
  readonly roles: readonly HostRole[] | undefined;
}

/** An engine with one tool, which only prepares calls. */
interface Preparer {
  readonly handle: WasmHandle;
  readonly homeDir: string;
  readonly currentDir: string;
}

// The tool of every such engine has the same name. Any other name stands for a tool without an annotation.
const NAME = "tool";
const UNKNOWN = "unknown";

const contexts = new WeakMap<object, Context>();
const preparers = new WeakMap<object, Preparer>();
const NOTHING: PreparedBy = Object.freeze({ args: Object.freeze({}) });
contexts.set(NOTHING, { host: undefined, roles: undefined });

/** Notes that an annotation is deeply frozen, and where it comes from. */
export function registerAnnotation(annotation: object, context: Context): void {
  contexts.set(annotation, context);
}

/**
 * The two views of a call's arguments: in canonical form for the tool's server, and as policy sees them.
 *
 * With `allowedDirectory`, relative paths are relative to it and are sent as they are. With `containerWorkspaceDir`,
 * paths below that are moved onto `allowedDirectory`. Without an annotation, strings that look like paths take their
 * lexical form. The input is never changed, and a value is never an error.
 *
 * @throws {@link CallgateError} `unprepared` if an alias occurs beside its key, or a required argument is missing.
 */
export function prepareToolArgs(
  args: Readonly<Record<string, unknown>>,
  annotation: PreparedBy | undefined,
  allowedDirectory?: string,
  containerWorkspaceDir?: string,
): PreparedToolArgs {
  return reading("annotation", () => {
    const { handle } = preparerOf(annotation ?? NOTHING);
    const toolName = annotation === undefined ? UNKNOWN : NAME;
    const call = { serverName: NAME, toolName, arguments: args };
    return prepare(handle, call, allowedDirectory, containerWorkspaceDir);
  });
}

function preparerOf(annotation: PreparedBy): Preparer {
  const context = contexts.get(annotation);
  const host = context?.host ?? hostByDefault();
  const known = preparers.get(annotation);
  if (known !== undefined && known.homeDir === host?.homeDir && known.currentDir === host.currentDir) {
    return known;
  }
  const { args = {}, arg_schema, kind } = members(annotation, ["args", "arg_schema", "kind"]);
  const tool = { toolName: NAME, args: written(args), arg_schema, kind };
  const documents = documentsOf({
    policy: { rules: [] },
    annotations: { servers: { [NAME]: { tools: [tool] } } },
    options: { compatibility: "runtime" },
    roles: context?.roles,
  });
  const answers = answersOf(host, context?.roles);
  const handle = createHandle(documents, answers);
  const preparer = { handle, homeDir: answers.host.homeDir, currentDir: answers.host.currentDir };
  if (context !== undefined) {
    // An annotation that is not known to be frozen may have changed by the next call.
    preparers.set(annotation, preparer);
  }
  return preparer;
}

/** The roles as a document has them: `none` in place of an empty list, which a condition may leave. */
function written(args: PreparedBy["args"]): PreparedBy["args"] {
  const document: Record<string, PreparedBy["args"][string]> = {};
  for (const [name, roles] of Object.entries(args)) {
    define(document, name, roles.length === 0 ? ["none"] : roles);
  }
  return document;
}
