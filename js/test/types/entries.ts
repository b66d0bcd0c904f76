// The types of each entry do not need those of Node. A project of its own checks the browser's entry with the DOM's types.
import { createEngine, createNodeHost, type Engine, init } from "callgate";
import { type AiSettings, gateTools } from "callgate/ai";
import { loadBundle } from "callgate/bundle";
import { gateCanUseTool, gateHooks } from "callgate/claude";
import { gateTools as gateMastraTools } from "callgate/mastra";
import { filterTools, gateClient, gateServer, type McpDecision } from "callgate/mcp";
import { gateAgent, gateTool, type OpenAiTool } from "callgate/openai-agents";
import data from "callgate/package.json" with { type: "json" };
import {
  type AnnotationsProposal,
  check,
  diff,
  lint,
  map,
  type PolicyDiff,
  proposeAnnotations,
  regions,
  resolveRealPath,
  type Statement,
  type ToolMap,
} from "callgate/tools";

export const ready: Promise<void> = init();
export const host = createNodeHost({ homeDir: "/home/u" });
export const name: string = data.name;
export const path: string = resolveRealPath("~");
export const engine: Engine = createEngine({ ...loadBundle("callgate.json"), host });
export const proposal: AnnotationsProposal = proposeAnnotations([{ name: "t" }], "s", '{"servers": {}}');
export const maps: readonly ToolMap[] = map(loadBundle(), { tools: ["files/*"], only: ["allow"] });
export const difference: PolicyDiff = diff(loadBundle("old.json"), { ...loadBundle(), host }, { disk: true });
export const statements: readonly Statement[] = check({ policy: { rules: [] }, annotations: { servers: {} } });
export const witnesses = [
  ...lint(loadBundle()).map(({ call }) => call),
  regions(loadBundle())[0]?.parts[0]?.regions[0],
];
// @ts-expect-error A verdict has three words.
map(loadBundle(), { only: ["maybe"] });
export const roles: readonly string[] | undefined = proposal.unsure[0]?.roles;

// Whatever connects can be gated, and keeps its type.
class End {
  readonly kind = "end";
  connect(transport: { readonly send: (message: string) => void }, options?: { readonly mode: string }): Promise<void> {
    transport.send(options?.mode ?? "");
    return Promise.resolve();
  }
}
const decisions: McpDecision[] = [];
const gate = {
  engine: () => engine,
  serverName: "s",
  onDecision: (decision: McpDecision) => void decisions.push(decision),
};
export const kinds: readonly "end"[] = [gateClient(new End(), gate).kind, gateServer(new End(), gate).kind];
export const names: readonly string[] = filterTools([{ name: "t", title: "T" }], gate).map(({ title }) => title);
// @ts-expect-error What does not connect cannot be gated.
gateClient({}, gate);
// @ts-expect-error An answer has three words.
gateClient(new End(), { ...gate, ask: () => Promise.resolve("yes") });

// What an entry for a framework says of itself needs none of it. A project of its own has the frameworks.
export const settings: AiSettings<{ a: string }> = gateTools({ a: "tool" }, { engine, serverName: "s", secret: "" });
export const gatedTools: { a: object } = gateMastraTools({ a: {} }, { engine, serverName: () => undefined });
export const gatedTool: OpenAiTool = gateTool(
  { type: "function", name: "t" },
  { engine: () => engine, serverName: "s" },
);
export const claude = [gateHooks({ engine, serverName: "s" }), gateCanUseTool({ engine, serverName: "s" }), gateAgent];
