// The types of each entry do not need those of Node. A project of its own checks the browser's entry with the DOM's types.
import { createEngine, createNodeHost, type Engine, init } from "callgate";
import { loadBundle } from "callgate/bundle";
import data from "callgate/package.json" with { type: "json" };
import { type AnnotationsProposal, proposeAnnotations } from "callgate/tools";

export const ready: Promise<void> = init();
export const host = createNodeHost({ homeDir: "/home/u" });
export const name: string = data.name;
export const engine: Engine = createEngine({ ...loadBundle("callgate.json"), host });
export const proposal: AnnotationsProposal = proposeAnnotations([{ name: "t" }], "s", '{"servers": {}}');
export const roles: readonly string[] | undefined = proposal.unsure[0]?.roles;
