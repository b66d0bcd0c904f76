import * as wasm from "../../wasm/callgate.js";
import type {
  ArgumentRole,
  ConditionalRoles,
  StoredToolAnnotation,
  StoredToolAnnotationsFile,
  ToolAnnotation,
  ToolAnnotationsFile,
} from "../types.js";
import { define, type Purpose, writeArguments } from "../wasm/arguments.js";
import { within } from "../wasm/module.js";
import { ownWriter } from "../wasm/writer.js";
import { jsonText } from "./plain.js";
import { getRoleDefinition, isArgumentRole } from "./roles.js";

/** The part of a stored annotation that the functions here read. */
type StoredArgs = Pick<StoredToolAnnotation, "args">;
/** The same part of an annotation without conditional roles. */
export type PlainArgs = Pick<ToolAnnotation, "args">;

/** Returns `true` if an argument's roles depend on the call. */
export function isConditionalRoles(roles: readonly ArgumentRole[] | ConditionalRoles): roles is ConditionalRoles {
  return !Array.isArray(roles);
}

/** The roles that an argument has if no condition holds. */
export function extractDefaultRoles(roles: readonly ArgumentRole[] | ConditionalRoles): readonly ArgumentRole[] {
  return isConditionalRoles(roles) ? roles.default : roles;
}

function mapArgs<Stored extends StoredArgs>(
  stored: Stored,
  roles: (name: string, roles: readonly ArgumentRole[] | ConditionalRoles) => readonly ArgumentRole[],
): Omit<Stored, "args"> & PlainArgs {
  const args: Record<string, readonly ArgumentRole[]> = {};
  for (const [name, given] of Object.entries(stored.args)) {
    define(args, name, roles(name, given));
  }
  return { ...stored, args };
}

/** Returns `true` if the roles of any argument depend on the call. */
export function isConditional(stored: StoredArgs): boolean {
  return Object.values(stored.args).some(isConditionalRoles);
}

/** The annotation for a call with these arguments; the same object if nothing in it is conditional. */
export function resolveStoredAnnotation<Stored extends StoredArgs>(
  stored: Stored,
  args: Readonly<Record<string, unknown>>,
): Omit<Stored, "args"> & PlainArgs {
  if (!isConditional(stored)) {
    return stored as Omit<Stored, "args"> & PlainArgs;
  }
  const bytes = writeMembersOf(args, conditionsOf(stored), "prepare");
  const text = jsonText({ args: stored.args }, "stored");
  const pairs = within(
    "invalid-document",
    () => wasm.resolveStoredAnnotation(text, bytes) as [string, ArgumentRole[]][],
  );
  return resolvedWith(stored, pairs);
}

/** The annotation with these roles instead of its own, including those that its kind implies. */
export function resolvedWith<Stored extends StoredArgs>(
  stored: Stored,
  pairs: readonly (readonly [string, readonly ArgumentRole[]])[],
): Omit<Stored, "args"> & PlainArgs {
  const resolved = new Map(pairs);
  const mapped = mapArgs(stored, (name) => resolved.get(name) ?? []);
  for (const [name, roles] of pairs) {
    if (!Object.hasOwn(stored.args, name)) {
      define(mapped.args, name, roles);
    }
  }
  return mapped;
}

/** The arguments that the conditions read. */
function conditionsOf(stored: StoredArgs): string[] {
  return Object.values(stored.args)
    .filter(isConditionalRoles)
    .flatMap(({ when }) => when.map(({ condition }) => firstOf(condition.arg)));
}

/** The top-level member that a name or a JSON Pointer begins at. */
function firstOf(name: string): string {
  return name.startsWith("/") ? (segmentsOf(name)[0] ?? "") : name;
}

/** The segments of a JSON Pointer (RFC 6901). */
function segmentsOf(pointer: string): string[] {
  return pointer
    .slice(1)
    .split("/")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Writes the members with these names in full, and no others. */
export function writeMembersOf(
  args: Readonly<Record<string, unknown>>,
  names: readonly string[],
  purpose: Purpose,
): Uint8Array {
  const shown: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(args)) {
    if (names.includes(name)) {
      shown[name] = args[name];
    }
  }
  const writer = ownWriter();
  writeArguments(writer, shown, { members: new Map(), others: true, pathLike: false }, purpose);
  return writer.written;
}

/** A file of annotations with every conditional role replaced by its default. */
export function resolveStoredAnnotationsFile(file: StoredToolAnnotationsFile): ToolAnnotationsFile {
  const servers: Record<string, ToolAnnotationsFile["servers"][string]> = {};
  for (const [name, server] of Object.entries(file.servers)) {
    const tools = server.tools.map((tool) =>
      isConditional(tool) ? mapArgs(tool, (_, roles) => extractDefaultRoles(roles)) : (tool as ToolAnnotation),
    );
    define(servers, name, { ...server, tools });
  }
  return { ...file, servers };
}

/**
 * The strings, alone or in arrays, among the arguments that have one of the roles, in the annotation's order.
 */
export function extractAnnotatedPaths(
  args: Readonly<Record<string, unknown>>,
  annotation: PlainArgs,
  roles: readonly ArgumentRole[],
): string[] {
  return Object.entries(annotation.args)
    .filter(([, borne]) => borne.some((role) => roles.includes(role)))
    .flatMap(([name]) => stringsAt(args, name));
}

function stringsAt(args: Readonly<Record<string, unknown>>, name: string): string[] {
  const found = name.startsWith("/")
    ? segmentsOf(name).reduce<unknown[]>((values, key) => values.flatMap((value) => children(value, key)), [args])
    : children(args, name);
  return found
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter((value) => typeof value === "string");
}

function children(value: unknown, key: string): unknown[] {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  if (key === "*") {
    return Object.values(value);
  }
  return Object.hasOwn(value, key) ? [(value as Record<string, unknown>)[key]] : [];
}

/** The resource roles that any argument has, each once, in order. */
export function collectDistinctRoles(annotation: PlainArgs): ArgumentRole[] {
  const roles = Object.values(annotation.args).flat();
  return [...new Set(roles)].filter((role) => isArgumentRole(role) && getRoleDefinition(role).isResourceIdentifier);
}
