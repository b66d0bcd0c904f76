export * from "./errors.js";
export * from "./functions.js";
export { type GitIgnore, type Host, HostError, type RealpathFailure, setDefaultHost } from "./host.js";
export {
  check,
  type DiffOptions,
  diff,
  type LookOptions,
  lint,
  type MapOptions,
  map,
  type RegionsOptions,
  regions,
} from "./tools/policy.js";
export { proposeAnnotations } from "./tools/propose.js";
export type * from "./types.js";
