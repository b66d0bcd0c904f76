// The servers: how each is installed, and started behind the official client.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { TARGET } from "../tools/hosts.mjs";
import { whyNoVenv } from "../tools/venv.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
/** What the servers of these tests need, and, beyond that, those of a working day. */
const REQUIREMENTS = [path("python/requirements.txt"), path("python/more.txt")];
export const VENV = `${TARGET}/mcp-servers`;
export const PYTHON = `${VENV}/bin/python`;

const npm = (name) => path(`../../node_modules/@modelcontextprotocol/${name}/dist/index.js`);

const PROGRAMS = {
  filesystem: ({ tree }) => ["node", npm("server-filesystem"), tree.root],
  everything: () => ["node", npm("server-everything"), "stdio"],
  git: () => [PYTHON, "-m", "mcp_server_git"],
  fetch: ({ network }) => [PYTHON, "-m", "mcp_server_fetch", "--ignore-robots-txt", "--proxy-url", network.origin],
  sdk: () => [PYTHON, path("python/arguments.py")],
  talk: () => [PYTHON, path("python/talk.py")],
};

/** Servers that also speak HTTP, on a port. */
const LISTENING = {
  everything: (port) => [["node", npm("server-everything"), "streamableHttp"], { PORT: String(port) }, /listening/],
  talk: (port) => [[PYTHON, path("python/talk.py"), String(port)], {}, /Uvicorn running/],
};

/** The command that starts a server. */
export const commandOf = (name, world) => PROGRAMS[name](world);

/** The command that starts a server on a port, what is added to its environment, and what it says once it listens. */
export const listeningOf = (name, port) => LISTENING[name](port);

/** The environment of every server. */
export const environmentOf = ({ tree }) => ({
  PATH: process.env.PATH,
  HOME: tree.at("home"),
  LANG: "C.UTF-8",
  GIT_CONFIG_NOSYSTEM: "1",
});

/**
 * Why a server cannot be asked here, or nothing if it can. The servers from PyPI are installed, under `TARGET`, if they
 * are missing.
 */
export function whyMissing(name) {
  const [command, program] = PROGRAMS[name]({ tree: { root: "/" }, network: { origin: "" } });
  if (command === "node") return existsSync(program) ? undefined : `${program} is missing; run npm ci`;
  return whyNoPython();
}

/** Why the servers from PyPI cannot be had, or nothing if they can. */
export const whyNoPython = () => whyNoVenv(VENV, REQUIREMENTS);

/** Starts a server in another working directory than the gate's, and connects the official client to it. */
export async function startServer(name, world) {
  const [command, ...args] = PROGRAMS[name](world);
  const { at } = world.tree;
  const transport = new StdioClientTransport({
    command,
    args,
    cwd: at("server"),
    env: environmentOf(world),
    stderr: "ignore",
  });
  const client = new Client({ name: "callgate-tests", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  return {
    tools,
    /** The reply of a tool: its text, with everything that is encoded in it decoded, and whether it is an error. */
    async call(toolName, args) {
      try {
        const { content, isError, structuredContent } = await client.callTool({ name: toolName, arguments: args });
        return { text: textOf(content), isError: isError === true, structured: structuredContent };
      } catch (error) {
        return { text: error.message, isError: true };
      }
    },
    close: () => client.close(),
  };
}

function textOf(content) {
  return content
    .map(({ text, data, resource }) => {
      const encoded = data ?? resource?.blob;
      return encoded === undefined ? (text ?? resource?.text ?? "") : Buffer.from(encoded, "base64").toString();
    })
    .join("\n");
}
