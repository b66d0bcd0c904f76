// What becomes of each message between a client and a server. The guard of the command does the same.
import type { ApprovalOffer, Gated, ToolCall, Verdict } from "../types.js";
import {
  errorFor,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  idOf,
  isObject,
  kindOf,
  type Members,
} from "./message.js";
import { engineOf, type McpDecision, type McpGateOptions } from "./options.js";
import { pinsOf } from "./pins.js";
import { filteredAnswer } from "./tools.js";

/** Where a message goes; `undefined`: nowhere. */
export type Step = { readonly to: "server" | "client"; readonly message: unknown } | undefined;

/** One client and its server. */
interface Relay {
  clientSent(message: unknown): Step | Promise<Step>;
  serverSent(message: unknown): Step;
}

/** How many requests of a client may wait for their answers, and how many of them for a person. */
const IN_FLIGHT = 65_536;
const ASKED = 64;

const MODERN = "io.modelcontextprotocol/protocolVersion";

interface Waiting {
  readonly kind: "call" | "list" | "other";
  /** Whether the server has seen it. */
  isSent: boolean;
  isCancelled: boolean;
}

/** A call, its params apart from what is judged, and its verdict. */
interface Judged {
  readonly call: ToolCall;
  readonly gated: Gated;
  readonly offer: ApprovalOffer | undefined;
}

export function createRelay(options: McpGateOptions): Relay {
  const { serverName, ask, onDecision, patience = 60_000 } = options;
  const pins = pinsOf(options.lock, serverName);
  const waiting = new Map<string, Waiting>();
  let asked = 0;

  const toClient = (message: Members): Step => ({ to: "client", message });
  const toServer = (message: unknown): Step => ({ to: "server", message });
  const refused = (id: unknown, code: number, reason: string): Step =>
    toClient(errorFor(id, code, `Callgate does not pass this message on: ${reason}`));

  function clientSent(message: unknown): Step | Promise<Step> {
    if (!isObject(message)) {
      return refused(undefined, INVALID_REQUEST, "expected one message: batches are not accepted");
    }
    const { method, id } = message;
    if (method === undefined) {
      return toServer(message);
    }
    if (typeof method !== "string") {
      return refused(id, INVALID_REQUEST, "the member `method` is not a string");
    }
    const kind = kindOf(method);
    if (id === undefined) {
      return kind === "other" && !isCancelled(method, message.params) ? toServer(message) : undefined;
    }
    if (typeof kind === "object") {
      return refused(id, INVALID_REQUEST, kind.reason);
    }
    const named = idOf(id);
    if (named === undefined) {
      return refused(id, INVALID_REQUEST, "the member `id` is not a string or a safe integer");
    }
    if (waiting.has(named.text)) {
      return refused(id, INVALID_REQUEST, `the id ${named.text} is that of a request without an answer yet`);
    }
    if (waiting.size >= IN_FLIGHT) {
      return refused(id, INTERNAL_ERROR, `${IN_FLIGHT} requests wait for their answers, expected fewer`);
    }
    const entry = { kind, isSent: kind !== "call", isCancelled: false };
    waiting.set(named.text, entry);
    if (kind !== "call") {
      return toServer(message);
    }
    const done = (step: Step): Step => {
      if (step?.to === "server" && !entry.isCancelled) {
        entry.isSent = true;
        return step;
      }
      waiting.delete(named.text);
      return entry.isCancelled ? undefined : step;
    };
    const failed = (thrown: unknown): Step => done(refused(id, INTERNAL_ERROR, reasonOf(thrown)));
    try {
      const step = called(message, named.id);
      return step instanceof Promise ? step.then(done, failed) : done(step);
    } catch (thrown) {
      return failed(thrown);
    }
  }

  /** Whether the notification takes back a call that the server has not seen. */
  function isCancelled(method: string, params: unknown): boolean {
    if (method !== "notifications/cancelled" || !isObject(params)) {
      return false;
    }
    const entry = waiting.get(String(params.requestId));
    if (entry === undefined) {
      return false;
    }
    if (entry.isSent) {
      // Its answer may never come. That of a list is filtered if it does.
      if (entry.kind !== "list") {
        waiting.delete(String(params.requestId));
      }
      return false;
    }
    entry.isCancelled = true;
    return true;
  }

  function called(message: Members, id: string | number): Step | Promise<Step> {
    const { params } = message;
    if (!isObject(params)) {
      return refused(id, INVALID_PARAMS, "`params` are absent, expected an object");
    }
    // Read once: what is judged is what is sent.
    const { name, arguments: given, ...rest } = params;
    if (typeof name !== "string") {
      return refused(id, INVALID_PARAMS, "`params.name` is not a string");
    }
    if (isDressed(params) || isDressed(given)) {
      return refused(id, INVALID_PARAMS, "the call has a `toJSON`, expected data");
    }
    const call: ToolCall = { serverName, toolName: name, arguments: given as object | undefined };
    const isModern = isObject(rest._meta) && rest._meta[MODERN] !== undefined;
    const judged = judge(call);
    const send = (argsForTransport: Members): Step => {
      const isBare = given === undefined && Object.keys(argsForTransport).length === 0;
      const sent = isBare ? { name, ...rest } : { name, arguments: argsForTransport, ...rest };
      return toServer({ ...message, params: sent });
    };
    const deny = (verdict: Verdict, advice = ""): Step => toClient(denial(id, isModern, verdict, advice));
    const decide = (decision: McpDecision, advice?: string): Step | Promise<Step> => {
      const step = (): Step => (decision.sent === undefined ? deny(decision.verdict, advice) : send(decision.sent));
      const unnoted = (): Step =>
        deny(denied("structural-audit", "The decision cannot be noted, so nothing is allowed"));
      try {
        const noted = onDecision?.(decision);
        return noted instanceof Promise ? noted.then(step, unnoted) : step();
      } catch {
        return unnoted();
      }
    };
    const { verdict, argsForTransport } = judged.gated;
    if (verdict.decision === "allow") {
      return decide({ call: judged.call, verdict, sent: argsForTransport });
    }
    if (verdict.decision === "deny" || ask === undefined || asked >= ASKED) {
      return decide({ call: judged.call, verdict, sent: undefined });
    }
    asked += 1;
    return answerTo(judged)
      .finally(() => {
        asked -= 1;
      })
      .then((answer) => approved(judged, answer))
      .then(({ decision, advice }) => decide(decision, advice));
  }

  function judge(call: ToolCall): Judged {
    const engine = engineOf(options);
    const context = typeof options.context === "function" ? options.context(call) : options.context;
    const { containerWorkspaceDir } = options;
    const gated = engine.gate(call, { context, containerWorkspaceDir });
    const heldBack = gated.verdict.decision === "deny" ? undefined : pins?.heldBack(call.toolName);
    if (heldBack !== undefined) {
      const verdict = denied("structural-unpinned-tool", heldBack);
      return { call, gated: { verdict, argsForTransport: gated.argsForTransport }, offer: undefined };
    }
    const escalates = gated.verdict.decision === "escalate" && ask !== undefined;
    const offer = escalates
      ? engine.approvals.offer(call, gated.verdict, { context, containerWorkspaceDir })
      : undefined;
    return { call, gated, offer };
  }

  /** What the person says, who has so much time and no more. */
  async function answerTo({ call, gated, offer }: Judged): Promise<"once" | "always" | "deny"> {
    const { verdict, argsForTransport } = gated;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<"deny">((resolve) => {
      timer = setTimeout(() => resolve("deny"), patience);
    });
    try {
      const answer = await Promise.race([ask?.({ call, verdict, argsForTransport, offer }), late]);
      return answer === "once" || answer === "always" ? answer : "deny";
    } catch {
      return "deny";
    } finally {
      clearTimeout(timer);
    }
  }

  /** Judges a call again that a person has decided about. What it names may have changed meanwhile. */
  function approved(
    before: Judged,
    answer: "once" | "always" | "deny",
  ): { readonly decision: McpDecision; readonly advice?: string } {
    const { call } = before;
    if (answer === "deny") {
      const { verdict } = before.gated;
      return { decision: { call, verdict, sent: undefined, answer }, advice: " (nobody has allowed it)" };
    }
    if (answer === "always" && before.offer !== undefined) {
      engineOf(options).approvals.add(before.offer);
    }
    const { verdict, argsForTransport } = judge(call).gated;
    const isSame =
      verdict.decision === "escalate" &&
      verdict.rule === before.gated.verdict.rule &&
      JSON.stringify(argsForTransport) === JSON.stringify(before.gated.argsForTransport);
    const sent = verdict.decision === "allow" || isSame ? argsForTransport : undefined;
    return { decision: { call, verdict, sent, answer } };
  }

  function serverSent(message: unknown): Step {
    if (!isObject(message) || message.method !== undefined) {
      return { to: "client", message };
    }
    const named = idOf(message.id);
    const entry = named === undefined ? undefined : waiting.get(named.text);
    if (named === undefined || entry === undefined) {
      return { to: "client", message };
    }
    if (!entry.isSent) {
      // An answer to a call that the server has not seen.
      return undefined;
    }
    waiting.delete(named.text);
    return toClient(entry.kind === "list" ? filteredAnswer(message, engineOf(options), serverName, pins) : message);
  }

  return { clientSent, serverSent };
}

/** Whether the value would be written as something else than it is. */
function isDressed(value: unknown): boolean {
  return isObject(value) && typeof value.toJSON === "function";
}

function denied(rule: string, reason: string): Verdict {
  return { decision: "deny", rule, reason };
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The answer to a call that is not allowed: a result, so that the model reads it and can do otherwise. */
function denial(id: string | number, isModern: boolean, { decision, rule, reason }: Verdict, advice: string): Members {
  const text = `Callgate did not let this call through (${decision} by rule \`${rule}\`): ${reason}${advice}`;
  const result = {
    ...(isModern ? { resultType: "complete" } : {}),
    content: [{ type: "text", text }],
    isError: true,
    _meta: { "callgate/decision": decision, "callgate/rule": rule },
  };
  return { jsonrpc: "2.0", id, result };
}
