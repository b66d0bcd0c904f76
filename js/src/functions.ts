export {
  collectDistinctRoles,
  extractAnnotatedPaths,
  extractDefaultRoles,
  isConditionalRoles,
  resolveStoredAnnotation,
  resolveStoredAnnotationsFile,
} from "./api/annotations.js";
export * from "./api/approvals.js";
export * from "./api/ceilings.js";
export * from "./api/paths.js";
export * from "./api/policy.js";
export * from "./api/roles.js";
export * from "./api/urls.js";
