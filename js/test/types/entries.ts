// The types of each entry do not need those of Node. A project of its own checks the browser's entry with the DOM's types.
import { createEngine, createNodeHost, type Engine, init } from "callgate";
import { loadBundle } from "callgate/bundle";
import data from "callgate/package.json" with { type: "json" };

export const ready: Promise<void> = init();
export const host = createNodeHost({ homeDir: "/home/u" });
export const name: string = data.name;
export const engine: Engine = createEngine({ ...loadBundle("callgate.json"), host });
