// Tools of the Vercel AI SDK, gated.
import { asSchema, jsonSchema } from "ai";
import {
  asGiven,
  denied,
  type FrameworkOptions,
  type Judged,
  judgeOf,
  message,
  question,
  remember,
} from "./frameworks/judging.js";
import { asWritten, givesBack, isPromise, made } from "./frameworks/schemas.js";

export type { FrameworkOptions, NamedTool } from "./frameworks/judging.js";

/** How the tools of the AI SDK are gated. */
export interface AiOptions extends FrameworkOptions {
  /**
   * Signs the questions to people, so that an approval counts for the very call that was asked about. Default: a secret of this
   * process, with which the approvals of another process are refused.
   */
  readonly secret?: string | Uint8Array | undefined;
}

/** A status that the SDK knows. */
export type ToolApproval = "not-applicable" | { readonly type: "denied" | "user-approval"; readonly reason: string };

/** A call as the SDK asks about it. */
export interface AiCall {
  readonly toolCall: { readonly toolName: string; readonly toolCallId: string; readonly input: unknown };
  readonly tools: object | undefined;
  readonly toolsContext: unknown;
  readonly messages: readonly unknown[];
}

/** Settings for `generateText`, `streamText` and `ToolLoopAgent`. */
export interface AiSettings<Tools extends object> {
  readonly tools: Tools;
  readonly toolApproval: (call: AiCall) => Promise<ToolApproval>;
  readonly experimental_refineToolInput: { readonly [Name in keyof Tools]: <Input>(input: Input) => Input };
  readonly experimental_toolApprovalSecret: string | Uint8Array;
}

interface AiTool {
  readonly inputSchema?: unknown;
  readonly needsApproval?: unknown;
  readonly execute?: (input: unknown, given: { readonly toolCallId?: string }) => unknown;
}

/** Approvals outlive a request, and there may be an engine for each. */
const SECRET = `${crypto.randomUUID()}${crypto.randomUUID()}`;

/**
 * The settings with which each call of these tools is judged, and so is each call of a tool that is added later. Tools that the
 * provider runs are none of these: it has run them before anybody is asked.
 *
 * @throws `CallgateError` `invalid-argument` for options that cannot be meant.
 */
export function gateTools<Tools extends object>(tools: Tools, options: AiOptions): AiSettings<Tools> {
  const judge = judgeOf(options, ["secret"]);
  const asked = new Set<string>();
  const schemas = new WeakSet<object>();
  // Programs that a model writes (`experimental_toolCallers`) run tools without `toolApproval`, so a tool judges its calls as well.
  const gated = ([name, tool]: [string, AiTool]): [string, AiTool] => {
    const { execute, inputSchema, needsApproval } = tool;
    if (execute === undefined) {
      return [name, tool];
    }
    const judged = (input: unknown, given: { readonly toolCallId?: string }): unknown => {
      const found = judge(name, input);
      const { decision } = found.verdict;
      if (decision === "allow" || (decision === "escalate" && asked.delete(`${given?.toolCallId} ${found.key}`))) {
        const sent = made(inputSchema, found.args);
        return isPromise(sent)
          ? sent.then((settled) => last(execute.call(tool, settled, given)))
          : execute.call(tool, sent, given);
      }
      throw new Error(message(found));
    };
    const needs = async (input: object, given: unknown): Promise<unknown> =>
      (needsApproval as (input: unknown, given: unknown) => unknown)(await made(inputSchema, input), given);
    const kept = written(inputSchema);
    schemas.add(kept);
    const own = Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool));
    return [
      name,
      Object.assign(own, {
        execute: judged,
        ...(inputSchema === undefined ? {} : { inputSchema: kept }),
        ...(typeof needsApproval === "function" ? { needsApproval: needs } : {}),
      }),
    ];
  };
  const refined = (name: string) => {
    return <Input>(input: Input): Input => {
      const { verdict, args } = judge(name, input);
      return verdict.decision === "deny" ? input : (args as Input);
    };
  };
  const refiners = Object.fromEntries(Object.keys(tools).map((name) => [name, refined(name)]));
  return {
    tools: Object.fromEntries(Object.entries(tools).map(gated)) as Tools,
    toolApproval: async (call) => {
      const { toolName, toolCallId, input } = call.toolCall;
      const schema = own(call.tools, toolName)?.inputSchema;
      const exact = asGiven(judge(toolName, input), input);
      const judged = schemas.has(schema as object) ? exact : await asWritten(exact, schema);
      if (judged.verdict.decision === "escalate") {
        remember(asked, `${toolCallId} ${judged.key}`);
      }
      return statusOf(judged, judged.verdict.decision === "allow" && (await asksItself(call)));
    },
    experimental_refineToolInput: refiners as AiSettings<Tools>["experimental_refineToolInput"],
    experimental_toolApprovalSecret: options.secret ?? SECRET,
  };
}

/**
 * The same schema, which leaves arguments as the model wrote them where it would make others of them: they are judged by the names
 * that the model knows, and the tool is given what the schema makes of those that were judged.
 */
function written(schema: unknown): object {
  const validate = async (value: unknown) => {
    const found = (await asSchema(schema).validate?.(value)) ?? { success: true, value };
    return !found.success || (await givesBack(schema, found.value)) ? found : { success: true as const, value };
  };
  return jsonSchema(() => asSchema(schema).jsonSchema, { validate });
}

function statusOf(judged: Judged, isAsked: boolean | Judged): ToolApproval {
  if (typeof isAsked === "object" || judged.verdict.decision === "deny") {
    return { type: "denied", reason: message(typeof isAsked === "object" ? isAsked : judged) };
  }
  const reason = isAsked ? "The tool needs approval" : question(judged);
  return isAsked || judged.verdict.decision === "escalate" ? { type: "user-approval", reason } : "not-applicable";
}

/** Asks the tool whether it needs approval, which the SDK leaves out where there is a `toolApproval`. */
async function asksItself({ toolCall, tools, toolsContext, messages }: AiCall): Promise<boolean | Judged> {
  const { toolName, toolCallId, input } = toolCall;
  const needsApproval = own(tools, toolName)?.needsApproval;
  try {
    return typeof needsApproval === "function"
      ? (await needsApproval(input, { toolCallId, messages, context: own(toolsContext, toolName) })) !== false
      : needsApproval === true;
  } catch {
    return denied("structural-hook-fault", "The tool's own `needsApproval` failed, so nothing is allowed");
  }
}

function own(object: unknown, name: string): Record<string, unknown> | undefined {
  const has = typeof object === "object" && object !== null && Object.hasOwn(object, name);
  return has ? (object as Record<string, Record<string, unknown>>)[name] : undefined;
}

/** The last of the results that a tool streams, where it is known too late that it does. */
async function last(result: unknown): Promise<unknown> {
  if (typeof result !== "object" || result === null || !(Symbol.asyncIterator in result)) {
    return result;
  }
  let found: unknown;
  for await (const one of result as AsyncIterable<unknown>) {
    found = one;
  }
  return found;
}
