import * as wasm from "../../wasm/tools.js";
import { reading } from "../members.js";
import { within } from "../tools/module.js";
import type { ArgumentRole, ArgumentRoles, ConditionalRoles, RoleSpec, RolesOf } from "../types.js";
import { writeArguments } from "../wasm/arguments.js";
import { define, type Purpose } from "../wasm/plain-data.js";
import { ownWriter } from "../wasm/writer.js";
import { jsonText } from "./json.js";
import { firstOf, tokensOf } from "./pointer.js";
import { getRoleDefinition, isArgumentRole } from "./roles.js";

/** The roles of one argument, as an annotation may hold them. */
type StoredRoles<Role extends string = ArgumentRole> = string | readonly Role[] | ConditionalRoles<Role>;
/** The part of a stored annotation that the functions here read. */
interface StoredArgs {
  readonly args: Readonly<Record<string, StoredRoles | RoleSpec | undefined>>;
}
/** The same part of an annotation without conditional roles. */
export interface PlainArgs {
  readonly args: Readonly<Record<string, readonly ArgumentRole[]>>;
}
/** The caller's annotation, with roles that do not depend on the call. Every other field is kept. */
type Resolved<Stored> = Omit<Stored, "args"> & { args: Record<string, ArgumentRole[]> };
/** The caller's file of annotations, resolved in the same way. */
type ResolvedFile<File extends FileOf<StoredArgs>> = Omit<File, "servers"> & {
  servers: Record<string, Omit<ServerOf<File>, "tools"> & { tools: Resolved<ServerOf<File>["tools"][number]>[] }>;
};
interface FileOf<Tool> {
  readonly servers: Readonly<Record<string, { readonly tools: readonly Tool[] } | undefined>>;
}
type ServerOf<File extends FileOf<StoredArgs>> = NonNullable<File["servers"][string]>;

/** Returns `true` if an argument's roles depend on the call. */
export function isConditionalRoles<Spec extends StoredRoles<string>>(
  roles: Spec,
): roles is Exclude<Spec, string | readonly unknown[]> {
  return reading("roles", () => {
    return typeof roles !== "string" && !Array.isArray(roles);
  });
}

/** The roles that an argument has if no condition holds, as an array of the caller's own. */
export function extractDefaultRoles<Role extends string>(
  roles: Role | readonly Role[] | ConditionalRoles<Role>,
): Role[] {
  return reading("roles", () => {
    return several(isDefaulted(roles) ? roles.default : roles);
  });
}

function isDefaulted<Role extends string>(
  roles: Role | readonly Role[] | ConditionalRoles<Role>,
): roles is ConditionalRoles<Role> {
  return typeof roles === "object" && !Array.isArray(roles) && Object.hasOwn(roles, "default");
}

/** The roles as an array of the caller's own. */
function several<Role extends string>(roles: RolesOf<Role, never>): Role[] {
  return typeof roles === "string" ? [roles] : [...roles];
}

function isSpec(spec: ArgumentRoles): spec is Extract<ArgumentRoles, RoleSpec> {
  return typeof spec === "object" && Object.hasOwn(spec, "roles");
}

/** The roles alone, without what more is said of the values. */
function rolesIn(spec: ArgumentRoles): RolesOf<ArgumentRole, never> | ConditionalRoles {
  return isSpec(spec) ? spec.roles : (spec as RolesOf<ArgumentRole, never>);
}

/** The arguments with an array in place of every word. */
export function argsInFull(args: Readonly<Record<string, ArgumentRoles | undefined>>): Record<string, ArgumentRoles> {
  const full: Record<string, ArgumentRoles> = {};
  for (const [name, spec] of Object.entries(args)) {
    if (spec !== undefined) {
      const roles = inFull(rolesIn(spec));
      define(full, name, isSpec(spec) ? { ...spec, roles } : roles);
    }
  }
  return full;
}

function inFull(roles: RolesOf<ArgumentRole, never> | ConditionalRoles): ArgumentRole[] | ConditionalRoles {
  return isConditionalRoles(roles)
    ? {
        default: several(roles.default),
        when: roles.when.map((clause) => ({ ...clause, roles: several(clause.roles) })),
      }
    : several(roles);
}

function mapArgs<Stored extends StoredArgs>(
  stored: Stored,
  roles: (name: string, roles: ArgumentRoles) => ArgumentRole[],
): Resolved<Stored> {
  const args: Record<string, ArgumentRole[]> = {};
  for (const [name, given] of Object.entries(stored.args)) {
    if (given !== undefined) {
      define(args, name, roles(name, given as ArgumentRoles));
    }
  }
  return { ...stored, args };
}

/** Returns `true` if the roles of any argument depend on the call, or are not written as an array. */
export function isConditional(stored: StoredArgs): boolean {
  return Object.values(stored.args).some((roles) => !Array.isArray(roles));
}

/** The annotation for a call with these arguments; the same object if nothing in it is conditional. */
export function resolveStoredAnnotation<Stored extends StoredArgs>(
  stored: Stored,
  args: Readonly<Record<string, unknown>>,
): Resolved<Stored> {
  return reading("annotation", () => {
    if (!isConditional(stored)) {
      return stored as unknown as Resolved<Stored>;
    }
    const bytes = writeMembersOf(args, conditionsOf(stored), "prepare");
    const text = jsonText({ args: stored.args }, "stored");
    const pairs = within(
      "invalid-document",
      () => wasm.resolveStoredAnnotation(text, bytes) as [string, ArgumentRole[]][],
    );
    return resolvedWith(stored, pairs);
  });
}

/** The annotation with these roles instead of its own, including those that its kind implies. */
export function resolvedWith<Stored extends StoredArgs>(
  stored: Stored,
  pairs: readonly (readonly [string, ArgumentRole[]])[],
): Resolved<Stored> {
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
    .filter((spec) => spec !== undefined)
    .map((spec) => rolesIn(spec as ArgumentRoles))
    .filter((roles) => isConditionalRoles(roles))
    .flatMap(({ when }) => when.map(({ condition }) => firstOf(condition.arg)));
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
  writeArguments(writer, shown, { members: new Map(), others: true, pathLike: false }, purpose, false);
  return writer.written;
}

/** A file of annotations with every conditional role replaced by its default. */
export function resolveStoredAnnotationsFile<File extends FileOf<StoredArgs>>(file: File): ResolvedFile<File> {
  return reading("file", () => {
    const servers: Record<string, unknown> = {};
    for (const [name, server] of Object.entries(file.servers)) {
      const tools = server?.tools.map((tool) =>
        isConditional(tool) ? mapArgs(tool, (_, spec) => extractDefaultRoles(rolesIn(spec))) : tool,
      );
      define(servers, name, { ...server, tools });
    }
    return { ...file, servers } as ResolvedFile<File>;
  });
}

/**
 * The strings, alone or in arrays, among the arguments that have one of the roles, in the annotation's order.
 */
export function extractAnnotatedPaths(
  args: Readonly<Record<string, unknown>>,
  annotation: PlainArgs,
  roles: readonly ArgumentRole[],
): string[] {
  return reading("arguments", () => {
    return Object.entries(annotation.args)
      .filter(([, borne]) => borne.some((role) => roles.includes(role)))
      .flatMap(([name]) => stringsAt(args, name));
  });
}

function stringsAt(args: Readonly<Record<string, unknown>>, name: string): string[] {
  const found = name.startsWith("/")
    ? tokensOf(name).reduce<unknown[]>((values, key) => values.flatMap((value) => children(value, key)), [args])
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
  return reading("annotation", () => {
    const roles = Object.values(annotation.args).flat();
    return [...new Set(roles)].filter((role) => isArgumentRole(role) && getRoleDefinition(role).isResourceIdentifier);
  });
}
