// Calls that a person approved once, and for which the server then asked its client for more, as revision 2026-07-28 has it.
// The client sends the same call again with what the server wanted: nobody is asked a second time.
import { member } from "../members.js";
import { isObject, type Members } from "./message.js";

/** How many such calls are remembered; the oldest goes first. */
const REMEMBERED = 64;

const PREFIX = "callgate-1.";

/** The call that a person approved, as it was judged. */
export interface Approved {
  readonly toolName: string;
  /** The arguments that were judged, as JSON text. */
  readonly args: string;
  readonly rule: string;
  /** The engine that judged it: another engine may have another policy. */
  readonly engine: unknown;
}

interface Unfinished {
  readonly approved: Approved;
  readonly serverState: unknown;
  readonly until: number;
}

export class UnfinishedCalls {
  readonly #calls = new Map<string, Unfinished>();
  readonly #patience: number;

  constructor(patience: number) {
    this.#patience = patience;
  }

  /** The answer to an approved call with a state of the gate's in place of the server's, if the server wants more. */
  remember(approved: Approved, answer: Members): Members {
    const result = member(answer, "result");
    if (!isObject(result) || member(result, "resultType") !== "input_required") {
      return answer;
    }
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined && this.#calls.size >= REMEMBERED) {
      this.#calls.delete(oldest);
    }
    const state = `${PREFIX}${crypto.randomUUID()}`;
    const until = Date.now() + this.#patience;
    this.#calls.set(state, { approved, serverState: member(result, "requestState"), until });
    return { ...answer, result: { ...result, requestState: state } };
  }

  /** Returns `true` if a state is one of the gate's. */
  isOwn(state: unknown): state is string {
    return typeof state === "string" && state.startsWith(PREFIX);
  }

  /** The call that a state was given out for: once, and while there is time. */
  take(state: string): Unfinished | undefined {
    const found = this.#calls.get(state);
    this.#calls.delete(state);
    return found !== undefined && Date.now() < found.until ? found : undefined;
  }
}
