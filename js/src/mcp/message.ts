// Messages of JSON-RPC, as far as the gate has to know them.
import { members } from "../members.js";
import { isWellFormed } from "../wasm/text.js";
import { ambiguity, misnamed, unclearName } from "./strict.js";

/** An object whose members are not known. */
export type Members = Readonly<Record<string, unknown>>;

export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export type Kind = "call" | "list" | "other";

/** The kind of request that a method makes; a reason if a server may take it for another one. */
export function kindOf(method: string): Kind | { readonly reason: string } {
  if (method === "tools/call") {
    return "call";
  }
  if (method === "tools/list") {
    return "list";
  }
  if (method.length > 1024) {
    return { reason: `a method of ${method.length} characters, expected at most 1024` };
  }
  const found = plain(method);
  const meant = ["tools/call", "tools/list"].find((known) => plain(known) === found);
  return meant === undefined ? "other" : { reason: `the method \`${method}\`, expected \`${meant}\`` };
}

/** Methods of messages by whose params a gate goes. Those of a call are read as a call. */
const READ = ["initialize", "notifications/cancelled", "server/discover", "subscriptions/listen", "tools/list"];

/** Why programs may read the params of a message differently, where a gate goes by them. */
export function unclearParams(method: string, params: unknown): string | undefined {
  return READ.includes(method) ? ambiguity(params, "plain") : undefined;
}

/** The letters of a method without their case, escapes and everything between them. */
function plain(method: string): string {
  let text = method;
  for (let before = ""; text !== before; ) {
    before = text;
    text = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  }
  return text
    .toUpperCase()
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");
}

/** Members that say what a message is. */
const NAMES = ["jsonrpc", "id", "method", "params", "result", "error"];

/** The longest id. Ids are kept for as long as their requests wait. */
const LONGEST_ID = 1024;

/** An id, and the text by which a lenient peer compares it. */
export interface Named {
  readonly id: string | number;
  readonly text: string;
}

/** The kind of a message, or why it is not one that every reader takes for the same. */
export type Read =
  | { readonly is: "request"; readonly method: string; readonly named: Named }
  | { readonly is: "notification"; readonly method: string }
  | { readonly is: "response"; readonly named: Named | undefined }
  | { readonly is: "refused"; readonly id?: unknown; readonly reason: string };

export function readMessage(message: unknown): Read {
  if (!isObject(message)) {
    return { is: "refused", reason: "expected one message: batches are not accepted" };
  }
  const { jsonrpc, id, method, result, error } = members(message, NAMES);
  const unlike = misnamed(message, NAMES);
  if (unlike !== undefined) {
    return { is: "refused", reason: unlike };
  }
  const isAnswer = result !== undefined || error !== undefined;
  // The id of an answer is its reader's own: an error with it would be taken for the answer to another request.
  const refused = (reason: string): Read => ({ is: "refused", id: isAnswer ? undefined : id, reason });
  if (jsonrpc !== "2.0") {
    return refused('the member `jsonrpc` is not "2.0"');
  }
  if (method === undefined) {
    return (result === undefined) === (error === undefined)
      ? refused("neither a method nor exactly one of `result` and `error`")
      : { is: "response", named: idOf(id) };
  }
  if (typeof method !== "string") {
    return refused("the member `method` is not a string");
  }
  if (isAnswer) {
    return refused("a message with a method and an answer");
  }
  if (unclearName(method) !== undefined) {
    return refused("the member `method` has a control character");
  }
  if (id === undefined) {
    return { is: "notification", method };
  }
  const named = idOf(id);
  return named === undefined
    ? refused(`the member \`id\` is not a well-formed string of at most ${LONGEST_ID} characters or a safe integer`)
    : { is: "request", method, named };
}

/** The id of a request, and the text by which a lenient peer compares it; `undefined` if it is not an id. */
export function idOf(id: unknown): Named | undefined {
  // Half of a surrogate pair is one and the same letter to many readers, and so would be two ids.
  const isText = typeof id === "string" && id.length <= LONGEST_ID && isWellFormed(id);
  if (isText || (typeof id === "number" && Number.isSafeInteger(id))) {
    return { id, text: String(id) };
  }
  return undefined;
}

/** An answer that is an error. */
export function errorFor(id: unknown, code: number, message: string): Members {
  return { jsonrpc: "2.0", id: idOf(id)?.id ?? null, error: { code, message } };
}
