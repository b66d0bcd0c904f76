// What the entries return fits where each framework takes it.
import { type Options, query } from "@anthropic-ai/claude-agent-sdk";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { Agent, tool as openaiTool } from "@openai/agents-core";
import { generateText, type LanguageModel, streamText, ToolLoopAgent, tool } from "ai";
import { createEngine } from "callgate";
import { gateTools as gateAiTools } from "callgate/ai";
import { gateCanUseTool, gateHooks } from "callgate/claude";
import { gateMiddleware } from "callgate/langchain";
import { gateTools as gateMastraTools } from "callgate/mastra";
import { gateAgent, gateTool } from "callgate/openai-agents";
import { createAgent } from "langchain";
import { z } from "zod";

const options = {
  engine: createEngine({ policy: { rules: [] }, annotations: { servers: {} } }),
  serverName: "files",
};
const inputSchema = z.object({ path: z.string() });
const execute = async ({ path }: { path: string }) => path;

declare const model: LanguageModel;
const tools = { read: tool({ inputSchema, execute }) };
export const generated = generateText({ model, prompt: "", ...gateAiTools(tools, options) });
export const streamed = streamText({ model, prompt: "", ...gateAiTools(tools, { ...options, secret: "s" }) });
export const loop = new ToolLoopAgent({ model, ...gateAiTools(tools, options) });
export const output: Promise<string | undefined> = generated.then(({ toolResults }) =>
  toolResults[0]?.dynamic ? undefined : toolResults[0]?.output,
);

export const agent = createAgent({ model: "m", tools: [], middleware: [gateMiddleware(options)] });

const ask: NonNullable<Options["canUseTool"]> = async (_, updatedInput) => ({ behavior: "allow", updatedInput });
export const asked = query({
  prompt: "",
  options: { hooks: gateHooks(options), canUseTool: gateCanUseTool(options, ask) },
});

const read = openaiTool({ name: "read", description: "", parameters: inputSchema, execute });
export const openai: Agent = gateAgent(new Agent({ name: "a", tools: [gateTool(read, options)] }), options);

const mastra = createTool({ id: "read", description: "", inputSchema, execute });
export const assistant = new MastraAgent({
  id: "a",
  name: "a",
  instructions: "",
  model: "openai/m",
  tools: gateMastraTools({ read: mastra }, options),
});

// @ts-expect-error There is no engine.
gateMiddleware({ serverName: "files" });
// @ts-expect-error The option has another name.
gateHooks({ ...options, patience: 1 });
