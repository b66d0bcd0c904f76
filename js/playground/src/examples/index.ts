import type { State } from "../state.js";

export interface Example {
  readonly id: string;
  readonly title: string;
  readonly load: () => Promise<State>;
}

/** The examples. Each is loaded when it is chosen. */
export const EXAMPLES: readonly Example[] = [
  { id: "coding", title: "A coding agent in a project", load: () => import("./coding.js").then((one) => one.default) },
  {
    id: "bypasses",
    title: "Six bypasses of naive engines",
    load: () => import("./bypasses.js").then((one) => one.default),
  },
  { id: "first", title: "To begin with: one file", load: () => import("./first.js").then((one) => one.default) },
  { id: "mail", title: "Mail and shared documents", load: () => import("./mail.js").then((one) => one.default) },
  { id: "world", title: "A world of addresses", load: () => import("./world.js").then((one) => one.world) },
  {
    id: "sub-agent",
    title: "The same world under a sub-agent's ceiling",
    load: () => import("./world.js").then((one) => one.subAgent),
  },
];
