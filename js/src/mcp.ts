export type { GatedTool, McpDecision, McpEndpoint, McpGateOptions, McpQuestion, ToolsFilter } from "./mcp/options.js";
export { filterTools } from "./mcp/tools.js";
export { gateClient, gateServer } from "./mcp/transport.js";
