import type { CompiledPolicyFile, StoredToolAnnotationsFile, WorldRole } from "../types.js";

/**
 * Returns the policy as it is: for editors and the compiler, which then know what it holds. `Role` names the roles that the
 * host defines. The words of an imported JSON file are checked by the engine.
 */
export function definePolicy<Role extends string = never, Found extends string = never>(
  policy: CompiledPolicyFile<WorldRole | NoInfer<Role>, Found>,
): CompiledPolicyFile<WorldRole | NoInfer<Role>> {
  return policy as unknown as CompiledPolicyFile<WorldRole | NoInfer<Role>>;
}

/** Returns the annotations as they are, for the same reason. */
export function defineAnnotations<Role extends string = never, Found extends string = never>(
  annotations: StoredToolAnnotationsFile<WorldRole | NoInfer<Role>, Found>,
): StoredToolAnnotationsFile<WorldRole | NoInfer<Role>> {
  return annotations as unknown as StoredToolAnnotationsFile<WorldRole | NoInfer<Role>>;
}
