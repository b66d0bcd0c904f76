// Messages of JSON-RPC, as far as the gate has to know them.

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

/** The id of a request, and the text by which a lenient peer compares it; `undefined` if it is not a request. */
export function idOf(id: unknown): { readonly id: string | number; readonly text: string } | undefined {
  if (typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id))) {
    return { id, text: String(id) };
  }
  return undefined;
}

/** An answer that is an error. */
export function errorFor(id: unknown, code: number, message: string): Members {
  return { jsonrpc: "2.0", id: idOf(id)?.id ?? null, error: { code, message } };
}
