// The way of each message between a client and a server. The guard of the command does the same.
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
} from "./message.js";
import { engineOf, type McpGateOptions, MODERN } from "./options.js";
import { type Pins, pinsOf } from "./pins.js";
import { filteredAnswer } from "./tools.js";
import { type Approved, UnfinishedCalls } from "./unfinished.js";

/** Where a message goes; `undefined`: nowhere. */
export type Step = { readonly to: "server" | "client"; readonly message: unknown } | undefined;

/** How many requests of a client may wait for their answers. */
const IN_FLIGHT = 65_536;

interface Waiting {
  readonly kind: Kind;
  /** `true` if the server has seen it. */
  isSent: boolean;
  isCancelled: boolean;
  /** The person's approval, if that was for this call alone. */
  approved?: Approved | undefined;
}

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

  /** `send` sends the server a request of the gate's own. */
  constructor(options: McpGateOptions, send: (message: Members) => Promise<void>) {
    this.#options = options;
    this.#pins = pinsOf(options.lock, options.serverName);
    this.#listing = this.#pins && new Listing(this.#pins, send);
    this.#unfinished = new UnfinishedCalls(options.patience ?? 60_000);
    this.#calls = new Calls(options, this.#pins, this.#unfinished);
  }

  clientSent(message: unknown): Step | Promise<Step> {
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
      return kind === "other" && !this.#isCancelled(method, message.params) ? toServer(message) : undefined;
    }
    if (typeof kind === "object") {
      return refused(id, INVALID_REQUEST, kind.reason);
    }
    const named = idOf(id);
    if (named === undefined) {
      return refused(id, INVALID_REQUEST, "the member `id` is not a string or a safe integer");
    }
    if (this.#waiting.has(named.text) || this.#listing?.owns(id)) {
      return refused(id, INVALID_REQUEST, `the id ${named.text} is that of a request without an answer yet`);
    }
    if (this.#waiting.size >= IN_FLIGHT) {
      return refused(id, INTERNAL_ERROR, `${IN_FLIGHT} requests wait for their answers, expected fewer`);
    }
    const entry: Waiting = { kind, isSent: kind !== "call", isCancelled: false };
    this.#waiting.set(named.text, entry);
    return kind === "call" ? this.#request(message, named, entry) : toServer(message);
  }

  serverSent(message: unknown): Step {
    if (isObject(message) && message.method === "notifications/tools/list_changed") {
      this.#pins?.outdate();
    }
    if (!isObject(message) || message.method !== undefined) {
      return { to: "client", message };
    }
    if (this.#listing?.owns(message.id)) {
      this.#listing.take(message);
      return undefined;
    }
    const named = idOf(message.id);
    const entry = named === undefined ? undefined : this.#waiting.get(named.text);
    if (named === undefined || entry === undefined) {
      return { to: "client", message };
    }
    if (!entry.isSent) {
      // An answer to a call that the server has not seen.
      return undefined;
    }
    this.#waiting.delete(named.text);
    if (entry.kind === "list") {
      const { serverName } = this.#options;
      return toClient(filteredAnswer(message, engineOf(this.#options), serverName, this.#pins));
    }
    return toClient(entry.approved === undefined ? message : this.#unfinished.remember(entry.approved, message));
  }

  /** A call, once it is known what tool it is of. */
  #request(message: Members, named: { readonly id: string | number; readonly text: string }, entry: Waiting) {
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
      if (this.#listing === undefined || !this.#pins?.isUnknown(call.name)) {
        const outcome = this.#calls.called(call);
        return outcome instanceof Promise ? outcome.then(done, failed) : done(outcome);
      }
      const { _meta: meta } = call.rest;
      const listed = this.#listing.run(isObject(meta) ? meta[MODERN] : undefined);
      // A call that was taken back meanwhile is judged no more.
      return listed.then(() => (entry.isCancelled ? undefined : this.#calls.called(call))).then(done, failed);
    } catch (thrown) {
      return failed(thrown);
    }
  }

  /** Returns `true` if the server need not hear of a notification, which takes back what it has not seen. */
  #isCancelled(method: string, params: unknown): boolean {
    if (method !== "notifications/cancelled" || !isObject(params)) {
      return false;
    }
    if (this.#listing?.owns(params.requestId)) {
      return true;
    }
    const entry = this.#waiting.get(String(params.requestId));
    if (entry === undefined) {
      return false;
    }
    if (entry.isSent) {
      // Its answer may never come. That of a list is filtered if it does.
      if (entry.kind !== "list") {
        this.#waiting.delete(String(params.requestId));
      }
      return false;
    }
    entry.isCancelled = true;
    return true;
  }
}

/** The call of a request, or what is said of one that cannot be read. */
function readCall(message: Members, id: string | number): { readonly refused: Step } | { readonly call: CallRequest } {
  const { params } = message;
  if (!isObject(params)) {
    return { refused: refused(id, INVALID_PARAMS, "`params` are absent, expected an object") };
  }
  const { name, arguments: given, ...rest } = params;
  if (typeof name !== "string") {
    return { refused: refused(id, INVALID_PARAMS, "`params.name` is not a string") };
  }
  if (isDressed(params) || isDressed(given)) {
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
