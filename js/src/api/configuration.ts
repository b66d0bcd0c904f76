import { unknownKey } from "../../wasm/callgate.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import { type Host, missingCallbacks } from "../host.js";
import type { EngineOptions, HostRole } from "../types.js";
import type { Answers, RoleCallbacks } from "../wasm/bridge.js";
import type { Documents } from "../wasm/handle.js";
import { within } from "../wasm/module.js";
import { jsonText } from "./text.js";

/** Everything that an engine is built from, by the names that the module has for it. */
interface Parts {
  readonly compiledPolicy: unknown;
  readonly toolAnnotations: unknown;
  readonly dynamicLists?: unknown;
  readonly protectedPaths?: unknown;
  readonly allowedDirectory?: string | undefined;
  readonly serverDomainAllowlists?: ReadonlyMap<string, readonly string[]> | object | undefined;
  readonly trustedServers?: ReadonlySet<string> | readonly string[] | undefined;
  readonly ceiling?: unknown;
  readonly options?: EngineOptions | undefined;
  readonly roles?: readonly HostRole[] | undefined;
  readonly world?: unknown;
}

/** The parts that are present, as JSON text. */
export function documentsOf(parts: Parts): Documents {
  const { compiledPolicy, toolAnnotations, dynamicLists, protectedPaths, ceiling, options, world } = parts;
  const { allowedDirectory, serverDomainAllowlists, trustedServers, roles } = parts;
  const values: { readonly [name in keyof Required<Parts>]: unknown } = {
    compiledPolicy,
    toolAnnotations,
    dynamicLists,
    protectedPaths,
    ceiling,
    options,
    world,
    // Here a string is the value, not the JSON text of one.
    allowedDirectory: JSON.stringify(allowedDirectory),
    serverDomainAllowlists:
      serverDomainAllowlists instanceof Map ? jsonOfMap(serverDomainAllowlists) : serverDomainAllowlists,
    trustedServers: trustedServers instanceof Set ? [...trustedServers] : trustedServers,
    roles: roles?.map(roleDocument),
  };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new Map(given.map(([name, value]) => [name, jsonText(value, name)]));
}

/**
 * Refuses a configuration with other keys than these.
 *
 * @throws {@link CallgateError} `invalid-document` with a fault for each.
 */
export function refuseUnknownKeys(config: object, known: readonly string[]): void {
  const unknown = Object.keys(config).filter((key) => !known.includes(key));
  if (unknown.length > 0) {
    const faults = unknown.map((key) =>
      within("invalid-argument", () => unknownKey(key, key, [...known]) as Diagnostic),
    );
    const found = faults.map(({ path, message }) => `${path}: ${message}`);
    throw new CallgateError("invalid-document", found.join("; "), faults);
  }
}

/** A map as a JSON object. Keys such as `__proto__` are safe, because no object is made. */
function jsonOfMap(map: ReadonlyMap<unknown, unknown>): string {
  const members = [...map].map(([key, value]) => {
    const list = value instanceof Set ? [...(value as ReadonlySet<unknown>)] : value;
    return `${JSON.stringify(String(key))}:${JSON.stringify(list) ?? "null"}`;
  });
  return `{${members.join(",")}}`;
}

function roleDocument(role: HostRole): object {
  const step = (given: HostRole["canonicalize"]): string | undefined =>
    typeof given === "function" ? "callback" : given;
  return { ...role, canonicalize: step(role.canonicalize), extractPolicyValue: step(role.extractPolicyValue) };
}

/**
 * The host, and the callbacks of the roles.
 *
 * @throws {@link CallgateError} `not-ready` if there is no host.
 */
export function answersOf(host: Host | undefined, roles: readonly HostRole[] | undefined): Answers {
  if (host === undefined) {
    throw new CallgateError("not-ready", "there is no default host here; pass one as `host`");
  }
  const missing = missingCallbacks(host);
  if (missing.length > 0) {
    throw new CallgateError("invalid-argument", `the host lacks ${missing.map((name) => `\`${name}\``).join(", ")}`);
  }
  const callbacks = new Map<string, RoleCallbacks>();
  for (const { name, canonicalize, extractPolicyValue } of roles ?? []) {
    callbacks.set(name, {
      ...(typeof canonicalize === "function" && { canonicalize }),
      ...(typeof extractPolicyValue === "function" && { extractPolicyValue }),
    });
  }
  return { host, roles: callbacks };
}
