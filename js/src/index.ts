export {
  type CallOptions,
  createEngine,
  type Engine,
  type EngineConfig,
  type ExplainOptions,
  type GateOptions,
} from "./api/create-engine.js";
export * from "./api/define.js";
export { type BundleSource, parseBundle } from "./api/parse-bundle.js";
export { parseCall, type ReadCall } from "./api/parse-call.js";
export * from "./api/policy-engine.js";
export { prepareToolArgs } from "./api/prepare-tool-args.js";
export * from "./errors.js";
export * from "./functions.js";
export { createRecordedHost } from "./host/recorded.js";
export {
  createVirtualHost,
  type Machine,
  type MachineRepository,
} from "./host/virtual.js";
export { type GitIgnore, type Host, HostError, type RealpathFailure, setDefaultHost } from "./host.js";
export type * from "./types.js";
