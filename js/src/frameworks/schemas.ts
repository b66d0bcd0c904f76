// The schemas of tools, which may make other arguments of those that a model wrote.
import { canonical } from "../mcp/canonical.js";
import { isObject } from "../mcp/message.js";
import { ambiguity } from "../mcp/strict.js";
import { denied, type Judged } from "./judging.js";

/**
 * The judgement where a framework gives arguments as a tool's schema has made them: a denial, unless the schema gives the judged
 * ones back as they are. Then a model could have written them, so the annotations name what they are.
 */
export function asWritten(judged: Judged, schema: unknown): Judged | Promise<Judged> {
  if (schema === undefined || schema === null || judged.verdict.decision === "deny") {
    return judged;
  }
  const settled = (found: unknown): Judged => (isSame(found, judged.args) ? judged : changed());
  try {
    const found = validated(schema, structuredClone(judged.args));
    return isPromise(found) ? Promise.resolve(found).then(settled, changed) : settled(found);
  } catch {
    return changed();
  }
}

/** Returns `true` if a schema gives arguments back as they are. */
export async function givesBack(schema: unknown, args: unknown): Promise<boolean> {
  try {
    return isObject(args) && isSame(await validated(schema as object, structuredClone(args)), args);
  } catch {
    return false;
  }
}

/** What a schema makes of the arguments that were judged. It throws where it refuses them. */
export function made(schema: unknown, args: object): unknown {
  if (schema === undefined || schema === null) {
    return args;
  }
  const value = (found: unknown): unknown => {
    if (!isObject(found) || found.issues !== undefined || found.success === false) {
      throw new Error("The tool's schema refuses the arguments in canonical form");
    }
    return found.value;
  };
  const found = validated(schema, structuredClone(args));
  return isPromise(found) ? found.then(value) : value(found);
}

/** What a schema says of arguments: one of the standard for schemas, or of the AI SDK, which may be a function that returns one. */
function validated(schema: object, args: object): unknown {
  if ("~standard" in schema) {
    return (schema["~standard"] as { validate(value: unknown): unknown }).validate(args);
  }
  if (typeof schema === "function") {
    return validated(schema(), args);
  }
  const { validate, parse } = schema as { readonly validate?: unknown; readonly parse?: unknown };
  if (typeof validate === "function") {
    return validate.call(schema, args);
  }
  return typeof parse === "function" ? undefined : { value: args };
}

function isSame(found: unknown, args: object): boolean {
  if (!isObject(found) || found.issues !== undefined || found.success === false || !isObject(found.value)) {
    return false;
  }
  return ambiguity(found.value, "exact") === undefined && canonical(found.value) === canonical(args);
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function changed(): Judged {
  return denied(
    "structural-unresolvable-value",
    "The tool's schema changes the arguments or refuses them in canonical form, so what was judged is not what would run",
  );
}
