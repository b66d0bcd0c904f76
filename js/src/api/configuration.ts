import { CallgateError } from "../errors.js";
import type { Host } from "../host.js";
import type { EngineOptions, HostRole } from "../types.js";
import type { Answers, RoleCallbacks } from "../wasm/bridge.js";
import type { Documents } from "../wasm/handle.js";
import { jsonText } from "./plain.js";

/** What every engine is built from, by the names of the module's parts. */
export interface Parts {
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

/** The parts that are given, as JSON texts. */
export function documentsOf(parts: Parts): Documents {
  const documents = new Map<string, string>();
  const put = (name: keyof Parts, text: string): void => {
    documents.set(name, text);
  };
  const { allowedDirectory, serverDomainAllowlists: allowlists, trustedServers, roles } = parts;
  const asTheyAre = [
    "compiledPolicy",
    "toolAnnotations",
    "dynamicLists",
    "protectedPaths",
    "ceiling",
    "options",
    "world",
  ] as const;
  for (const name of asTheyAre) {
    if (parts[name] !== undefined) {
      put(name, jsonText(parts[name], name));
    }
  }
  if (allowedDirectory !== undefined) {
    // A string is the value here, not the text of a document.
    put("allowedDirectory", JSON.stringify(allowedDirectory));
  }
  if (allowlists !== undefined) {
    put(
      "serverDomainAllowlists",
      allowlists instanceof Map ? jsonOfMap(allowlists) : jsonText(allowlists, "serverDomainAllowlists"),
    );
  }
  if (trustedServers !== undefined) {
    put(
      "trustedServers",
      jsonText(trustedServers instanceof Set ? [...trustedServers] : trustedServers, "trustedServers"),
    );
  }
  if (roles !== undefined) {
    put("roles", jsonText(roles.map(roleDocument), "roles"));
  }
  return documents;
}

/** A map as a JSON object, whatever its keys are called. */
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

/** What answers the engine's questions. */
export function answersOf(host: Host | undefined, roles: readonly HostRole[] | undefined): Answers {
  if (host === undefined) {
    throw new CallgateError("not-ready", "there is no default host here, give one as `host`");
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
