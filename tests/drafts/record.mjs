// Records what a server of MCP answers to `tools/list`: node record.mjs NAME COMMAND [ARGUMENT…] writes tools/NAME.json.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [name, command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
});
const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = (id, method, params) =>
  new Promise((resolve) => {
    waiting.set(id, resolve);
    send({ id, method, params });
  });

const clientInfo = { name: "record", version: "0" };
await ask(0, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
send({ method: "notifications/initialized" });
const tools = [];
let cursor;
do {
  const { result, error } = await ask(tools.length + 1, "tools/list", cursor === undefined ? {} : { cursor });
  if (error !== undefined) {
    throw new Error(error.message);
  }
  tools.push(...result.tools);
  cursor = result.nextCursor;
} while (cursor !== undefined);
server.kill();
const kept = tools.map(({ name, description, inputSchema, annotations }) => ({
  name,
  description,
  inputSchema,
  annotations,
}));
writeFileSync(new URL(`tools/${name}.json`, import.meta.url), `${JSON.stringify({ tools: kept }, null, 1)}\n`);
