// A client of MCP whose calls are judged before they are sent: the real file server, in the directory that this runs in.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createEngine } from "callgate";
import { gateClient } from "callgate/mcp";

writeFileSync("notes.txt", "hello\n");
writeFileSync(".env", "KEY=secret\n");

const engine = createEngine({
  sandbox: process.cwd(),
  protectedPaths: ["**/.env", "**/.git"],
  policy: { rules: [] },
  annotations: { servers: { filesystem: { tools: [{ toolName: "read_text_file", args: { path: "read-path" } }] } } },
});
const client = gateClient(new Client({ name: "example", version: "1.0.0" }), { engine, serverName: "filesystem" });
const server = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));
await client.connect(new StdioClientTransport({ command: process.execPath, args: [server, "."], stderr: "ignore" }));

const { tools } = await client.listTools();
console.log("tools:", tools.map(({ name }) => name).join(" "));
for (const path of ["notes.txt", ".env"]) {
  const { content, isError = false } = await client.callTool({ name: "read_text_file", arguments: { path } });
  console.log(path, isError, JSON.stringify(content[0].text).replaceAll(process.cwd(), "…"));
}
await client.close();

// Prints:
// tools: read_text_file
// notes.txt false "hello\n"
// .env true "Callgate did not let this call through (deny by rule `structural-protected-path`): Access to protected path is forbidden: …/.env (argument \"path\") (judged: /path \".env\" as \"…/.env\")"
