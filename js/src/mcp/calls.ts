// Calls: judged, asked about, and sent or answered.

import { member } from "../members.js";
import type { ApprovalOffer, CallContext, Gated, ToolCall, Verdict } from "../types.js";
import { denial, denied } from "./answers.js";
import { isObject, type Members } from "./message.js";
import { engineOf, type McpDecision, type McpGateOptions, MODERN } from "./options.js";
import type { Pins } from "./pins.js";
import { judgedAs } from "./rewritten.js";
import type { Approved, UnfinishedCalls } from "./unfinished.js";

/** How many calls may wait for a person. */
const ASKED = 64;

/** The longest time that a timer keeps, in milliseconds. One that is asked for more ends at once. */
const LONGEST_PATIENCE = 0x7fff_ffff;

const NO_LONGER =
  "The approval no longer applies: the call or the policy has changed, it was already answered, or it has expired";

/** A request that calls a tool, read once: what is judged is what is sent. */
export interface CallRequest {
  readonly message: Members;
  readonly id: string | number;
  readonly name: string;
  readonly given: object | undefined;
  /** The params apart from what is judged. */
  readonly rest: Members;
}

/** The outcome for a call: the request to send, with the person's approval of it, or the answer to the client. */
export type Outcome =
  | { readonly to: "server"; readonly message: Members; readonly approved?: Approved | undefined }
  | { readonly to: "client"; readonly message: Members };

/** A call and its verdict. */
interface Judged {
  readonly call: ToolCall;
  readonly context: CallContext | undefined;
  readonly gated: Gated;
  readonly offer: ApprovalOffer | undefined;
}

interface Decided {
  readonly decision: McpDecision;
  readonly advice?: string;
  readonly approved?: Approved | undefined;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

export class Calls {
  readonly #options: McpGateOptions;
  readonly #pins: Pins | undefined;
  readonly #unfinished: UnfinishedCalls;
  readonly #listed: (request: CallRequest) => Promise<void> | undefined;
  #asked = 0;

  /** `listed` has the server list its tools, where it has to before it is known what the tool of a call is. */
  constructor(
    options: McpGateOptions,
    pins: Pins | undefined,
    unfinished: UnfinishedCalls,
    listed: (request: CallRequest) => Promise<void> | undefined,
  ) {
    this.#options = options;
    this.#pins = pins;
    this.#unfinished = unfinished;
    this.#listed = listed;
  }

  /** Judges a call, and has a person decide where that is needed. */
  called(request: CallRequest): Outcome | Promise<Outcome> {
    const { name, given, rest } = request;
    const judged = this.#judge({ serverName: this.#options.serverName, toolName: name, arguments: given });
    const { call, gated } = judged;
    const { verdict, argsForTransport } = gated;
    const state = member(rest, "requestState");
    if (this.#unfinished.isOwn(state)) {
      return this.#goesOn(request, judged, state);
    }
    if (verdict.decision === "allow") {
      return this.#decide(request, judged, { decision: { call, verdict, sent: argsForTransport } });
    }
    if (verdict.decision === "deny" || this.#options.ask === undefined || this.#asked >= ASKED) {
      return this.#decide(request, judged, { decision: { call, verdict, sent: undefined } });
    }
    this.#asked += 1;
    return this.#answerTo(judged)
      .finally(() => {
        this.#asked -= 1;
      })
      .then(async (answer) => {
        // The server may have said meanwhile that its tools have changed.
        await (answer === "deny" ? undefined : this.#listed(request));
        return this.#decide(request, judged, this.#answered(judged, answer));
      });
  }

  /** Continues an approved call that the server asked its client about, and that comes again with the client's answer. */
  #goesOn(request: CallRequest, judged: Judged, state: string): Outcome | Promise<Outcome> {
    const { call, gated } = judged;
    const { verdict, argsForTransport } = gated;
    const found = this.#unfinished.take(state);
    const now = this.#approval(judged);
    const isSame =
      found !== undefined &&
      found.approved.toolName === now.toolName &&
      found.approved.args === now.args &&
      found.approved.engine === now.engine &&
      (verdict.decision === "allow" || (verdict.decision === "escalate" && found.approved.rule === now.rule));
    if (!isSame) {
      const refused = verdict.decision === "deny" ? verdict : denied("structural-approval", NO_LONGER);
      return this.#decide(request, judged, { decision: { call, verdict: refused, sent: undefined } });
    }
    const { requestState: _, ...rest } = request.rest;
    const { serverState } = found;
    const restored = serverState === undefined ? rest : { ...rest, requestState: serverState };
    const decision: McpDecision = { call, verdict, sent: argsForTransport, answer: "once" };
    return this.#decide({ ...request, rest: restored }, judged, { decision, approved: now });
  }

  #approval({ call, gated }: Judged): Approved {
    const args = JSON.stringify(gated.argsForTransport);
    return { toolName: call.toolName, args, rule: gated.verdict.rule, engine: engineOf(this.#options) };
  }

  /** Tells of a decision, and does what it says. */
  #decide(request: CallRequest, judged: Judged, decided: Decided): Outcome | Promise<Outcome> {
    const { decision, advice, approved } = decided;
    const { message, id, name, given, rest } = request;
    const meta = member(rest, "_meta");
    const isModern = isObject(meta) && member(meta, MODERN) !== undefined;
    const deny = (verdict: Verdict, form: string, said?: string): Outcome => {
      return { to: "client", message: denial(id, isModern, verdict, form, said) };
    };
    const step = (): Outcome => {
      const args = decision.sent;
      if (args === undefined) {
        return deny(decision.verdict, this.#judgedAs(judged), advice);
      }
      const isBare = given === undefined && Object.keys(args).length === 0;
      const params = isBare ? { name, ...rest } : { name, arguments: args, ...rest };
      return { to: "server", message: { ...message, params }, approved };
    };
    const unnoted = (): Outcome =>
      deny(denied("structural-audit", "The decision cannot be noted, so nothing is allowed"), "");
    try {
      const noted: unknown = this.#options.onDecision?.(decision);
      // A promise of another realm or of a library is not an instance of this one's.
      return isPromise(noted) ? Promise.resolve(noted).then(step, unnoted) : step();
    } catch {
      return unnoted();
    }
  }

  /** What the texts of a call were judged as. Agents are not told where a world has its files. */
  #judgedAs({ call, context, gated }: Judged): string {
    if (context !== undefined) {
      return "";
    }
    const { containerWorkspaceDir } = this.#options;
    const explained = () => engineOf(this.#options).explainGate?.(call, { containerWorkspaceDir });
    return judgedAs(call.arguments, gated.argsForTransport, explained);
  }

  #judge(call: ToolCall): Judged {
    const { ask, containerWorkspaceDir, context: given } = this.#options;
    const engine = engineOf(this.#options);
    const context = typeof given === "function" ? given(call) : given;
    const gated = engine.gate(call, { context, containerWorkspaceDir });
    const heldBack = gated.verdict.decision === "deny" ? undefined : this.#pins?.heldBack(call.toolName);
    if (heldBack !== undefined) {
      const verdict = denied("structural-unpinned-tool", heldBack);
      return { call, context, gated: { verdict, argsForTransport: gated.argsForTransport }, offer: undefined };
    }
    const escalates = gated.verdict.decision === "escalate" && ask !== undefined;
    const offer = escalates
      ? engine.approvals.offer(call, gated.verdict, { context, containerWorkspaceDir })
      : undefined;
    return { call, context, gated, offer };
  }

  /** The person's answer, for which there is so much time and no more. */
  async #answerTo({ call, gated, offer }: Judged): Promise<"once" | "always" | "deny"> {
    const { ask, patience = 60_000 } = this.#options;
    const { verdict, argsForTransport } = gated;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<"deny">((resolve) => {
      timer = setTimeout(() => resolve("deny"), Math.min(patience, LONGEST_PATIENCE));
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
  #answered(before: Judged, answer: "once" | "always" | "deny"): Decided {
    const { call } = before;
    if (answer === "deny") {
      const { verdict } = before.gated;
      return { decision: { call, verdict, sent: undefined, answer }, advice: " (nobody has allowed it)" };
    }
    if (answer === "always" && before.offer !== undefined) {
      engineOf(this.#options).approvals.add(before.offer);
    }
    const again = this.#judge(call);
    const { verdict, argsForTransport } = again.gated;
    const isSame =
      verdict.decision === "escalate" &&
      verdict.rule === before.gated.verdict.rule &&
      JSON.stringify(argsForTransport) === JSON.stringify(before.gated.argsForTransport);
    const sent = verdict.decision === "allow" || isSame ? argsForTransport : undefined;
    return { decision: { call, verdict, sent, answer }, approved: isSame ? this.#approval(again) : undefined };
  }
}
