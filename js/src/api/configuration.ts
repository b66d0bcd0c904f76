import { CallgateError, type Diagnostic } from "../errors.js";
import { checkHost, type Host } from "../host.js";
import { bare, member, members, namesIn } from "../members.js";
import type { DocumentName, HostRole } from "../types.js";
import type { Answers, RoleCallbacks } from "../wasm/bridge.js";
import type { Documents } from "../wasm/handle.js";
import { jsonOf, jsonText } from "./json.js";
import { DocumentText } from "./text.js";

/** Everything that an engine is built from. */
interface Parts {
  readonly policy?: unknown;
  readonly annotations?: unknown;
  readonly lists?: unknown;
  readonly programs?: unknown;
  readonly sandbox?: string | DocumentText | null | undefined;
  readonly protectedPaths?: unknown;
  readonly domainAllowlists?: unknown;
  readonly trustedServers?: unknown;
  readonly ceiling?: unknown;
  readonly options?: unknown;
  readonly roles?: readonly HostRole[] | DocumentText | undefined;
  readonly world?: unknown;
  readonly invariants?: unknown;
  readonly folder?: string | undefined;
}

/** The parts that are present, as JSON text. */
export function documentsOf(given: Parts): Documents {
  const parts = bare(given);
  const { sandbox, domainAllowlists, trustedServers, roles, folder } = parts;
  const values: { readonly [name in keyof Required<Parts>]: unknown } = {
    policy: parts.policy,
    annotations: parts.annotations,
    lists: parts.lists,
    programs: parts.programs,
    // Here a string is the value, not the JSON text of one.
    sandbox: isDocument(sandbox) ? sandbox : jsonOf(sandbox, "sandbox", "a string"),
    protectedPaths: parts.protectedPaths,
    domainAllowlists: domainAllowlists instanceof Map ? jsonOfMap(domainAllowlists) : domainAllowlists,
    trustedServers: trustedServers instanceof Set ? [...trustedServers] : trustedServers,
    ceiling: parts.ceiling,
    options: parts.options,
    roles: Array.isArray(roles) ? roles.map(roleDocument) : roles,
    world: parts.world,
    invariants: parts.invariants,
    folder: isDocument(folder) ? folder : jsonOf(folder, "folder", "a string"),
  };
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return new Map(present.map(([name, value]) => [name, jsonText(value, name)]));
}

/** Returns `true` for what is the text of a document, or absent. */
function isDocument(value: unknown): value is DocumentText | undefined {
  return value === undefined || DocumentText.is(value);
}

/** The diagnostic with the file of its document, and without a position in a text that the caller has never seen. */
export function withFile<Found extends Diagnostic>(
  diagnostic: Found,
  parts: Parts,
  files: { readonly [name in DocumentName]?: string | undefined },
): Found {
  const { line: _, column: __, ...rest } = diagnostic;
  const [name = ""] = diagnostic.path.split(/[.[]/, 1);
  const file = member(files, name as DocumentName);
  const given = member(parts, name as DocumentName);
  const isText = DocumentText.is(given) || (name !== "sandbox" && typeof given === "string");
  if (given === undefined && file !== undefined) {
    // A file that lacks a document lacks it from its beginning. The order is that in which the command writes them.
    const { code, severity, path, ...others } = rest;
    return { file, code, severity, path, line: 1, column: 1, ...others } as unknown as Found;
  }
  return { ...(file !== undefined && { file }), ...(isText ? diagnostic : rest) } as Found;
}

/** The documents' names in the existing runtime, by which people may look for them. */
const RUNTIME_NAMES: ReadonlyMap<string, DocumentName> = new Map([
  ["compiledPolicy", "policy"],
  ["toolAnnotations", "annotations"],
  ["dynamicLists", "lists"],
  ["allowedDirectory", "sandbox"],
  ["serverDomainAllowlists", "domainAllowlists"],
]);

/** The module's diagnostic for a key that is not in `known`. */
export type FaultOfKey = (key: string, known: string[]) => Diagnostic;

/**
 * Refuses a configuration with other keys than these.
 *
 * @throws {@link CallgateError} `invalid-document` with a fault for each.
 */
export function refuseUnknownKeys(config: object, known: readonly string[], faultOf: FaultOfKey): void {
  if (typeof config !== "object" || config === null) {
    throw new CallgateError("invalid-argument", "the configuration is not an object");
  }
  const unknown = Object.keys(config).filter((key) => !known.includes(key));
  if (unknown.length > 0) {
    const faults = unknown.map((key) => {
      const fault = faultOf(key, [...known]);
      const name = RUNTIME_NAMES.get(key);
      return name === undefined ? fault : { ...fault, help: `did you mean \`${name}\`?` };
    });
    const found = faults.map(({ path, message }) => `${path}: ${message}`);
    throw new CallgateError("invalid-document", found.join("; "), faults);
  }
}

/** A map as a JSON object. Keys such as `__proto__` are safe, because no object is made. */
function jsonOfMap(map: ReadonlyMap<unknown, unknown>): string {
  const texts = [...map].map(([key, value]) => {
    const list = value instanceof Set ? [...(value as ReadonlySet<unknown>)] : value;
    const name = jsonOf(key, "domainAllowlists", "a map of strings");
    return `${typeof key === "string" ? name : JSON.stringify(name)}:${jsonOf(list, "domainAllowlists")}`;
  });
  return `{${texts.join(",")}}`;
}

function roleDocument(role: HostRole): unknown {
  if (typeof role !== "object" || role === null) {
    // The engine says what was expected.
    return role;
  }
  const step = (given: unknown): unknown => (typeof given === "function" ? "callback" : given);
  const document = members(role, namesIn(role) as (keyof HostRole)[]);
  return {
    ...document,
    canonicalize: step(document.canonicalize),
    extractPolicyValue: step(document.extractPolicyValue),
  };
}

/**
 * The host, and the callbacks of the roles.
 *
 * @throws {@link CallgateError} `not-ready` if there is no host; `invalid-argument` if it lacks a callback.
 */
export function answersOf(host: Host | undefined, roles: readonly HostRole[] | DocumentText | undefined): Answers {
  if (host === undefined) {
    throw new CallgateError("not-ready", "there is no default host here; pass one as `host`");
  }
  checkHost(host);
  const callbacks = new Map<string, RoleCallbacks>();
  const given = Array.isArray(roles) ? (roles as readonly (HostRole | null | undefined)[]) : [];
  for (const role of given.filter((role) => role != null)) {
    const {
      name = "",
      canonicalize,
      extractPolicyValue,
    } = members(role, ["name", "canonicalize", "extractPolicyValue"]);
    callbacks.set(name, {
      ...(typeof canonicalize === "function" && { canonicalize }),
      ...(typeof extractPolicyValue === "function" && { extractPolicyValue }),
    });
  }
  return { host, roles: callbacks };
}
