// The official clients, each doing the same: it connects to a command or an address, does one thing after the other, and says
// which revision was spoken and what came of each.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as v1 from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { PYTHON } from "../programs.mjs";
import { INSPECTOR, load } from "./install.mjs";

const INFO = { name: "callgate-tests", version: "1" };
const CAPABILITIES = { sampling: {}, roots: { listChanged: true }, elicitation: {} };
const SAMPLED = { model: "m", role: "assistant", content: { type: "text", text: "sampled" } };
const FORM = { action: "accept", content: { name: "Ada" } };

const answerOf = ({ content, isError, _meta }) => ({
  text: content.map(({ text }) => text ?? "").join(""),
  isError: isError === true,
  rule: _meta?.["callgate/rule"] ?? null,
});

/** The steps with either major version of the SDK: `call` calls a tool with options. */
const steps = (client, call, changes) => ({
  tools: async () => (await client.listTools()).tools.map(({ name }) => name).sort(),
  call: async ({ name, arguments: args }) => answerOf(await call({ name, arguments: args })),
  resources: async ({ uri }) => {
    const uris = (await client.listResources()).resources.map((resource) => resource.uri);
    return { uris, text: (await client.readResource({ uri })).contents[0].text };
  },
  prompts: async ({ name, arguments: args }) => {
    const names = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
    const { messages } = await client.getPrompt({ name, arguments: args });
    return { names, text: messages[0].content.text };
  },
  progress: async ({ name, arguments: args }) => {
    const seen = [];
    const result = await call({ name, arguments: args }, { onprogress: ({ progress }) => seen.push(progress) });
    return { text: answerOf(result).text, seen };
  },
  cancel: async ({ name, arguments: args }) => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 1500);
    const cancelled = await call({ name, arguments: args }, { signal: abort.signal }).then(
      () => false,
      () => true,
    );
    return { cancelled };
  },
  // A server drops what it says before the client has asked for the stream for it, so it is asked to say it again.
  changes: async ({ name, arguments: args }) => {
    for (let tries = 0; changes.length === 0 && tries < 20; tries += 1) {
      await call({ name, arguments: args });
      await sleep(500);
    }
    return changes.length > 0;
  },
});

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function all(client, call, changes, actions) {
  const known = steps(client, call, changes);
  const done = [];
  for (const action of actions) done.push(await known[action.do](action));
  return done;
}

const started = ({ command: [command, ...args], env, cwd }) => ({ command, args, env, cwd, stderr: "ignore" });

/** Version 1 of the TypeScript SDK, which knows the handshake's era. */
async function typescript1(server, actions) {
  const client = new v1.Client(INFO, { capabilities: CAPABILITIES });
  const changes = [];
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: server.root }] }));
  client.setRequestHandler(ElicitRequestSchema, () => FORM);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changes.push(1));
  const transport =
    server.url === undefined
      ? new StdioClientTransport(started(server))
      : new StreamableHTTPClientTransport(new URL(server.url));
  let revision;
  transport.setProtocolVersion = after(transport.setProtocolVersion, (version) => {
    revision = version;
  });
  await client.connect(transport);
  try {
    const done = await all(client, (params, options) => client.callTool(params, undefined, options), changes, actions);
    await transport.terminateSession?.();
    return { revision, done };
  } finally {
    await client.close();
  }
}

function after(known, told) {
  return function set(value) {
    told(value);
    return known?.call(this, value);
  };
}

/** Version 2 of it, which tries the modern era first. */
async function typescript2(server, actions) {
  const { Client, StreamableHTTPClientTransport: Http } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport: Stdio } = await load("@modelcontextprotocol/client/stdio");
  const client = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode: "auto" } });
  const changes = [];
  client.setRequestHandler("sampling/createMessage", () => SAMPLED);
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: server.root }] }));
  client.setRequestHandler("elicitation/create", () => FORM);
  client.setNotificationHandler("notifications/tools/list_changed", () => changes.push(1));
  await client.connect(server.url === undefined ? new Stdio(started(server)) : new Http(new URL(server.url)));
  try {
    const done = await all(client, (params, options) => client.callTool(params, options), changes, actions);
    return { revision: client.getNegotiatedProtocolVersion(), done };
  } finally {
    await client.close();
  }
}

/** The Python SDK, in the mode that is asked for. */
const python = (mode) => async (server, actions) => {
  const client = fileURLToPath(new URL("client.py", import.meta.url));
  const printed = await printedBy([PYTHON, client], {}, JSON.stringify({ ...server, mode, actions }));
  return JSON.parse(printed);
};

/** The Inspector's command line, once for each thing. */
async function inspector(server, actions) {
  const folder = mkdtempSync(join(tmpdir(), "callgate-inspector-"));
  try {
    const config = join(folder, "mcp.json");
    const [command, ...args] = server.command ?? [];
    const entry = server.url === undefined ? { command, args, ...server } : { type: "http", url: server.url };
    writeFileSync(config, JSON.stringify({ mcpServers: { guard: { ...entry, command } } }));
    const done = [];
    for (const action of actions) done.push(await inspected(config, folder, action));
    return { revision: undefined, done };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function inspected(config, home, action) {
  const ask = async (...flags) => {
    const command = ["node", INSPECTOR, "--cli", "--config", config, "--server", "guard", ...flags];
    const printed = await printedBy(command, { HOME: home }, "", [0, 5]);
    return JSON.parse(printed.slice(printed.indexOf("{")));
  };
  const pairs = (flag, values) =>
    Object.entries(values).flatMap(([name, value]) => [
      flag,
      `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    ]);
  const { name, arguments: args, uri } = action;
  switch (action.do) {
    case "tools":
      return (await ask("--method", "tools/list")).tools.map((tool) => tool.name).sort();
    case "call":
      return answerOf(await ask("--method", "tools/call", "--tool-name", name, ...pairs("--tool-arg", args)));
    case "resources": {
      const uris = (await ask("--method", "resources/list")).resources.map((resource) => resource.uri);
      return { uris, text: (await ask("--method", "resources/read", "--uri", uri)).contents[0].text };
    }
    case "prompts": {
      const names = (await ask("--method", "prompts/list")).prompts.map((prompt) => prompt.name);
      const prompt = await ask("--method", "prompts/get", "--prompt-name", name, ...pairs("--prompt-args", args));
      return { names, text: prompt.messages[0].content.text };
    }
    default:
      throw new Error(`the Inspector's command line does not know \`${action.do}\``);
  }
}

/** The output of a program, which has to end with one of these codes. */
function printedBy([command, ...args], env, input, codes = [0]) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, timeout: 120_000 });
    let printed = "";
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      printed += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (codes.includes(code)) resolve(printed);
      else reject(new Error(`${command} ${args.join(" ")} ended with ${code}\n${printed}\n${said}`));
    });
    child.stdin.end(input);
  });
}

/** The clients by their names. */
export const CLIENTS = {
  "TypeScript SDK 1": typescript1,
  "TypeScript SDK 2": typescript2,
  "Python SDK": python("auto"),
  "Python SDK, by handshake": python("legacy"),
  Inspector: inspector,
};
