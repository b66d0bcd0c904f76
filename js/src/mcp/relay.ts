// The way of each message between a client and a server. The guard of the command does the same.
import { bare, member } from "../members.js";
import { type CallRequest, Calls, type Outcome } from "./calls.js";
import { Listing } from "./listing.js";
import {
  errorFor,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  idOf,
  isObject,
  type Kind,
  kindOf,
  type Members,
  type Named,
  readMessage,
  unclearParams,
} from "./message.js";
import { engineOf, type McpGateOptions, MODERN } from "./options.js";
import { type Pins, pinsOf } from "./pins.js";
import { ambiguity, misnamed, unclearName } from "./strict.js";
import { filteredAnswer } from "./tools.js";
import { type Approved, UnfinishedCalls } from "./unfinished.js";

/** Where a message goes; `undefined`: nowhere. */
export type Step = { readonly to: "server" | "client"; readonly message: unknown } | undefined;

/** How many requests of a client may wait for their answers. */
const IN_FLIGHT = 65_536;

/** How many requests that were taken back are remembered, so that their ids are not used again before an answer that comes late. */
const TAKEN_BACK = 4_096;

interface Waiting {
  readonly id: string | number;
  readonly kind: Kind;
  /** That of the server's tools when it came. */
  readonly edition: number;
  /** `true` if the server has seen it. */
  isSent: boolean;
  isCancelled: boolean;
  /** The person's approval, if that was for this call alone. */
  approved?: Approved | undefined;
}

/** Members that say what is called. */
const CALL = ["name", "arguments", "_meta", "task", "requestState", "inputResponses"];

const toClient = (message: Members): Step => ({ to: "client", message });
const toServer = (message: unknown): Step => ({ to: "server", message });
const refused = (id: unknown, code: number, reason: string): Step =>
  toClient(errorFor(id, code, `Callgate does not pass this message on: ${reason}`));

/** One client and its server. */
export class Relay {
  readonly #options: McpGateOptions;
  readonly #pins: Pins | undefined;
  readonly #listing: Listing | undefined;
  readonly #unfinished: UnfinishedCalls;
  readonly #calls: Calls;
  readonly #waiting = new Map<string, Waiting>();
  /** The ids of requests that the client took back. The server need not answer them, and may all the same. */
  readonly #takenBack = new Set<string>();

  /** `send` sends the server a request of the gate's own. */
  constructor(options: McpGateOptions, send: (message: Members) => Promise<void>) {
    this.#options = options;
    this.#pins = pinsOf(options.lock, options.serverName);
    this.#listing = this.#pins && new Listing(this.#pins, send);
    this.#unfinished = new UnfinishedCalls(options.patience ?? 60_000);
    this.#calls = new Calls(options, this.#pins, this.#unfinished, (request) => this.#listed(request));
  }

  clientSent(message: unknown): Step | Promise<Step> {
    const read = readMessage(message);
    if (read.is === "refused") {
      return refused(read.id, INVALID_REQUEST, read.reason);
    }
    if (read.is === "response") {
      return read.named === undefined ? undefined : toServer(message);
    }
    const kind = kindOf(read.method);
    const params = member(message as Members, "params");
    const unclear = unclearParams(read.method, params);
    if (read.is === "notification") {
      if (unclear !== undefined) {
        return undefined;
      }
      return kind === "other" && !this.#isCancelled(read.method, params) ? toServer(message) : undefined;
    }
    const { named } = read;
    if (typeof kind === "object") {
      return refused(named.id, INVALID_REQUEST, kind.reason);
    }
    if (unclear !== undefined) {
      return refused(named.id, INVALID_PARAMS, `\`params\`: ${unclear}`);
    }
    if (this.#waiting.has(named.text) || this.#listing?.owns(named.id)) {
      const reason = `the id ${named.text} is that of a request without an answer yet`;
      return refused(named.id, INVALID_REQUEST, reason);
    }
    if (this.#takenBack.has(named.text)) {
      return refused(named.id, INVALID_REQUEST, `the id ${named.text} is that of a request that was cancelled`);
    }
    if (this.#waiting.size >= IN_FLIGHT) {
      return refused(named.id, INTERNAL_ERROR, `${IN_FLIGHT} requests wait for their answers, expected fewer`);
    }
    const edition = this.#pins?.edition ?? 0;
    const entry: Waiting = { id: named.id, kind, edition, isSent: kind !== "call", isCancelled: false };
    this.#waiting.set(named.text, entry);
    return kind === "call" ? this.#request(message as Members, named, entry) : toServer(message);
  }

  serverSent(message: unknown): Step {
    const read = readMessage(message);
    if (read.is === "refused") {
      return undefined;
    }
    if (read.is === "notification" && read.method === "notifications/tools/list_changed") {
      this.#pins?.outdate();
    }
    if (read.is === "request" && this.#listing?.owns(read.named.id)) {
      return undefined;
    }
    if (read.is !== "response") {
      return { to: "client", message };
    }
    // Whoever takes an answer without an id for the answer to a request takes it for the wrong one.
    return read.named === undefined ? undefined : this.#answered(message as Members, read.named);
  }

  /** An answer of the server. What does not wait for one, or not any more, gets none. */
  #answered(message: Members, named: Named): Step {
    if (this.#listing?.owns(named.id)) {
      this.#listing.take(message);
      return undefined;
    }
    const entry = this.#waiting.get(named.text);
    if (entry === undefined) {
      this.#takenBack.delete(named.text);
      return undefined;
    }
    if (!entry.isSent) {
      // An answer to a call that the server has not seen.
      return undefined;
    }
    this.#waiting.delete(named.text);
    if (entry.kind === "list") {
      const { serverName } = this.#options;
      try {
        return toClient(filteredAnswer(message, engineOf(this.#options), serverName, this.#pins, entry.edition));
      } catch (thrown) {
        const reason = `the server's answer to \`tools/list\` cannot be filtered: ${reasonOf(thrown)}`;
        return toClient(errorFor(entry.id, INTERNAL_ERROR, reason));
      }
    }
    return toClient(entry.approved === undefined ? message : this.#unfinished.remember(entry.approved, message));
  }

  /** A call, once it is known what tool it is of. */
  #request(message: Members, named: Named, entry: Waiting) {
    const done = (outcome: Outcome | Step): Step => {
      if (outcome?.to === "server" && !entry.isCancelled) {
        entry.isSent = true;
        entry.approved = "approved" in outcome ? outcome.approved : undefined;
        return toServer(outcome.message);
      }
      this.#waiting.delete(named.text);
      return entry.isCancelled ? undefined : outcome;
    };
    const failed = (thrown: unknown): Step => done(refused(named.id, INTERNAL_ERROR, reasonOf(thrown)));
    try {
      const request = readCall(message, named.id);
      if ("refused" in request) {
        return done(request.refused);
      }
      const { call } = request;
      const listed = this.#listed(call);
      if (listed === undefined) {
        const outcome = this.#calls.called(call);
        return outcome instanceof Promise ? outcome.then(done, failed) : done(outcome);
      }
      // A call that was taken back meanwhile is judged no more.
      return listed.then(() => (entry.isCancelled ? undefined : this.#calls.called(call))).then(done, failed);
    } catch (thrown) {
      return failed(thrown);
    }
  }

  /** Has the server list its tools, where it has to before it is known what the tool of a call is. */
  #listed({ name, rest }: CallRequest): Promise<void> | undefined {
    if (this.#listing === undefined || !this.#pins?.isUnknown(name)) {
      return undefined;
    }
    const meta = member(rest, "_meta");
    return this.#listing.run(isObject(meta) ? member(meta, MODERN) : undefined);
  }

  /** Returns `true` if the server need not hear of a notification, which takes back what it has not seen. */
  #isCancelled(method: string, params: unknown): boolean {
    if (method !== "notifications/cancelled" || !isObject(params)) {
      return false;
    }
    const named = idOf(member(params, "requestId"));
    if (named === undefined) {
      return false;
    }
    if (this.#listing?.owns(named.id)) {
      return true;
    }
    const entry = this.#waiting.get(named.text);
    if (entry === undefined) {
      return false;
    }
    if (!entry.isSent) {
      entry.isCancelled = true;
      return true;
    }
    // A server may tell `1` from `"1"`, and would answer.
    if (entry.id === named.id) {
      this.#waiting.delete(named.text);
      const [oldest] = this.#takenBack;
      if (oldest !== undefined && this.#takenBack.size >= TAKEN_BACK) {
        this.#takenBack.delete(oldest);
      }
      this.#takenBack.add(named.text);
    }
    return false;
  }
}

/** The call of a request, or what is said of one that cannot be read. */
function readCall(message: Members, id: string | number): { readonly refused: Step } | { readonly call: CallRequest } {
  const params = member(message, "params");
  if (!isObject(params)) {
    return { refused: refused(id, INVALID_PARAMS, "`params` are absent, expected an object") };
  }
  const unlike = ambiguity(params, "unlike") ?? misnamed(params, CALL);
  if (unlike !== undefined) {
    return { refused: refused(id, INVALID_PARAMS, `\`params\`: ${unlike}`) };
  }
  const { name, arguments: given, ...rest } = bare(params);
  // The engine says which names of arguments can be read.
  const unclear = ambiguity(rest, "plain");
  if (unclear !== undefined) {
    return { refused: refused(id, INVALID_PARAMS, `\`params\`: ${unclear}`) };
  }
  if (typeof name !== "string") {
    return { refused: refused(id, INVALID_PARAMS, "`params.name` is not a string") };
  }
  const misread = unclearName(name);
  if (misread !== undefined) {
    return { refused: refused(id, INVALID_PARAMS, `\`params.name\`: ${misread}`) };
  }
  if (isDressed(message) || isDressed(params) || isDressed(given)) {
    return { refused: refused(id, INVALID_PARAMS, "the call has a `toJSON`, expected data") };
  }
  return { call: { message, id, name, given: given as object | undefined, rest } };
}

/** Returns `true` if the value would be written as something else than it is. */
function isDressed(value: unknown): boolean {
  return isObject(value) && typeof value.toJSON === "function";
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
