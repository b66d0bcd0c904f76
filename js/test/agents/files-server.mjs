// A server of MCP whose one tool says what it got.
import { appendFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const [log] = process.argv.slice(2);
const server = new McpServer({ name: "files", version: "1.0.0" });
server.registerTool("read", { inputSchema: { path: z.string() } }, ({ path }) => {
  appendFileSync(log, `${path}\n`);
  return { content: [{ type: "text", text: `the server got ${path}` }] };
});
await server.connect(new StdioServerTransport());
