import { ROLES, SANDBOX_SAFE } from "../../wasm/roles.js";
import { CallgateError } from "../errors.js";
import { reading } from "../members.js";
import type { ArgumentRole, RoleCategory } from "../types.js";
import { resolveRealPath } from "./paths.js";
import { normalizeGitUrl, normalizeUrl } from "./urls.js";

/** A role: what it means and how its values become canonical. */
export interface RoleDefinition {
  /** The meaning of an argument with this role for security. */
  readonly description: string;
  /** `true` if the values name an external resource, and so are judged. */
  readonly isResourceIdentifier: boolean;
  /** The kind of thing that the values name. */
  readonly category: RoleCategory;
  /** Returns the canonical form, which is sent to the tool's server. A path without one takes its lexical form. */
  readonly canonicalize: (value: string) => string;
  /** Returns what policy sees of the canonical form; absent if that is the canonical form itself. */
  readonly extractPolicyValue?: (value: string) => string;
  /** When an argument should be given this role. */
  readonly annotationGuidance: string;
  /** The servers whose tools may have this role; empty for any. */
  readonly serverNames: readonly string[];
}

type Step = (typeof ROLES)[ArgumentRole]["canonicalize"];

// `Step` is the union of the steps in the module's table of roles, so the compiler wants exactly one function for each.
const STEPS: { readonly [step in Step]: (value: string) => string } = {
  identity: (value) => value,
  lowercase: (value) => value.toLowerCase(),
  path: resolveRealPath,
  url: normalizeUrl,
  "git-url": normalizeGitUrl,
};

function define(role: ArgumentRole): RoleDefinition {
  const row = ROLES[role];
  return Object.freeze({ ...row, canonicalize: STEPS[row.canonicalize] });
}

const roles = Object.freeze(Object.keys(ROLES)) as readonly ArgumentRole[];

/** Every built-in role with its definition. */
export const ARGUMENT_ROLE_REGISTRY: ReadonlyMap<ArgumentRole, RoleDefinition> = new Map(
  roles.map((role) => [role, define(role)]),
);

/**
 * The definition of a role.
 *
 * @throws {@link CallgateError} `invalid-argument` if the role is not built in.
 */
export function getRoleDefinition(role: ArgumentRole): RoleDefinition {
  return reading("role", () => {
    const definition = ARGUMENT_ROLE_REGISTRY.get(role);
    if (definition === undefined) {
      throw new CallgateError("invalid-argument", `unknown role \`${String(role)}\``);
    }
    return definition;
  });
}

function select(keep: (definition: RoleDefinition) => boolean): ArgumentRole[] {
  return roles.filter((role) => keep(getRoleDefinition(role)));
}

/** The roles whose values name an external resource. */
export function getResourceRoles(): ArgumentRole[] {
  return select((definition) => definition.isResourceIdentifier);
}

/** Returns `true` if the value is the name of a built-in role. */
export function isArgumentRole(value: unknown): value is ArgumentRole {
  return typeof value === "string" && ARGUMENT_ROLE_REGISTRY.has(value as ArgumentRole);
}

/** Every built-in role, as a non-empty tuple. */
export function getArgumentRoleValues(): [ArgumentRole, ...ArgumentRole[]] {
  return [...roles] as [ArgumentRole, ...ArgumentRole[]];
}

/** The roles that the tools of a server may have, with their definitions: those of this server and those of any server. */
export function getRolesForServer(serverName: string): [role: ArgumentRole, definition: RoleDefinition][] {
  return [...ARGUMENT_ROLE_REGISTRY].filter(
    ([, { serverNames }]) => serverNames.length === 0 || serverNames.includes(serverName),
  );
}

/** The roles of one category. */
export function getRolesByCategory(category: RoleCategory): ArgumentRole[] {
  return select((definition) => definition.category === category);
}

/** The roles whose values are paths. */
export function getPathRoles(): ArgumentRole[] {
  return getRolesByCategory("path");
}

/** The roles whose values are URLs or git remotes. */
export function getUrlRoles(): ArgumentRole[] {
  return getRolesByCategory("url");
}

/** The roles whose values are identifiers, which are compared as a whole. */
export function getIdentifierRoles(): ArgumentRole[] {
  return getRolesByCategory("identifier");
}

/** The roles whose paths the sandbox decides about. */
export const SANDBOX_SAFE_PATH_ROLES: ReadonlySet<ArgumentRole> = new Set(SANDBOX_SAFE);
