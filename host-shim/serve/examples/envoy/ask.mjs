// Shows what becomes of four requests: node ask.mjs [URL]
const url = process.argv[2] ?? "http://127.0.0.1:8640/mcp";
let session;

async function ask(method, params, id) {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  if (session !== undefined) headers["mcp-session-id"] = session;
  const body = JSON.stringify({ jsonrpc: "2.0", ...(id !== undefined && { id }), method, params });
  const response = await fetch(url, { method: "POST", headers, body });
  session ??= response.headers.get("mcp-session-id") ?? undefined;
  const text = await response.text();
  if (id === undefined) return undefined;
  const messages = text.startsWith("{") ? [text] : text.split("\n").filter((line) => line.startsWith("data: {"));
  const found = messages.map((line) => JSON.parse(line.replace("data: ", ""))).find((message) => message.id === id);
  if (found === undefined) throw new Error(`${method}: HTTP ${response.status} ${text}`);
  return found.result ?? found.error;
}

const call = async (id, name, args) => {
  const { content, message } = await ask("tools/call", { name, arguments: args }, id);
  console.log(`${name} ${JSON.stringify(args)}\n  ${content?.[0]?.text ?? message}`);
};

const clientInfo = { name: "ask", version: "1" };
await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }, 1);
await ask("notifications/initialized");
const { tools } = await ask("tools/list", {}, 2);
console.log(`tools: ${tools.map(({ name }) => name).join(", ")}`);
await call(3, "get-sum", { a: 2, b: 3 });
await call(4, "echo", { message: "HTTPS://Handbook.example:443/drafts/../start" });
await call(5, "echo", { message: "https://evil.example/" });
await call(6, "trigger-long-running-operation", { duration: 1, steps: 1 });
await call(7, "get-env", {});
