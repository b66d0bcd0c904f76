// Cerbos, from npm: another decision service that speaks AuthZEN.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TARGET } from "../../tools/hosts.mjs";
import { freePort } from "../../tools/ports.mjs";
import { whyNotInstalled } from "../clients/install.mjs";
import { until } from "../envoy.mjs";

const FOLDER = `${TARGET}/cerbos`;

const NAME = "cerbos-linux-x64";

/** Why Cerbos cannot be had, or nothing if it can. It is installed, under `TARGET`, if it is missing. */
export const whyNoCerbos = () => whyNotInstalled(fileURLToPath(new URL(".", import.meta.url)), FOLDER);

/** What it lets pass: calls of tools whose URL is of one domain, as far as the beginning of a text says that. */
const POLICY = `apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: tool
  version: default
  rules:
    - actions: ["tools/call"]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition:
        match:
          expr: request.resource.attr.url.startsWith("https://handbook.example/")
`;

/** How many evaluations it takes at once by itself. */
export const BATCH = 50;

/** One evaluation that both services understand: Callgate looks at the context, Cerbos at the properties of the resource. */
export const evaluationOf = (url, tool = "echo") => ({
  subject: { type: "agent", id: "a", properties: { roles: ["agent"] } },
  action: { name: "tools/call" },
  resource: { type: "tool", id: tool, properties: { server: "everything", url } },
  context: { arguments: { message: url } },
});

/** Starts it in a folder. Returns its process, where it answers, and `close`. */
export async function startCerbos(folder) {
  const policies = join(folder, "policies");
  mkdirSync(policies);
  writeFileSync(join(policies, "tool.yaml"), POLICY);
  const file = join(folder, "cerbos.json");
  const port = await freePort();
  const server = { httpListenAddr: `127.0.0.1:${port}`, grpcListenAddr: `unix:${join(folder, "cerbos.sock")}` };
  const disk = { directory: policies, watchForChanges: false };
  writeFileSync(file, JSON.stringify({ server, storage: { driver: "disk", disk }, telemetry: { disabled: true } }));
  const program = join(FOLDER, "node_modules/@cerbos", NAME, NAME);
  const child = spawn(program, ["server", `--config=${file}`, "--log-level=error"], { stdio: "ignore" });
  const origin = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${origin}/.well-known/authzen-configuration`)).ok);
  return { pid: child.pid, origin, close: () => child.kill() };
}
