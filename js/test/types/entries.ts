// Each entry has types without those of Node; the browser's are checked with the DOM's in a project of their own.
import { createNodeHost, init } from "callgate";
import data from "callgate/package.json" with { type: "json" };

export const ready: Promise<void> = init();
export const host = createNodeHost({ homeDir: "/home/u" });
export const name: string = data.name;
