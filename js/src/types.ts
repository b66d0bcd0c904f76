export type * from "./types/analysis.js";
export type * from "./types/approvals.js";
export type * from "./types/documents.js";
export type * from "./types/draft.js";
export type * from "./types/explanation.js";
export type * from "./types/options.js";
export type * from "./types/programs.js";
export type * from "./types/world.js";
