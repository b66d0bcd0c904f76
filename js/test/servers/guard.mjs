// The guard before real servers.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { configuration } from "./policy.mjs";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

// `cargo test`, which the suite runs before this, builds it.
export const CALLGATE = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target", "debug/callgate");

const TALK = {
  tools: ["ask", "slow", "change", "read"].map((toolName) => ({
    toolName,
    args: toolName === "read" ? { path: "read-path" } : toolName === "slow" ? { seconds: "none" } : {},
  })),
};

/** A bundle with the policy of these tests, and what a server that talks needs. Returns its path. */
export function writeBundle(tree) {
  const { policy, annotations, ...rest } = configuration({ tree });
  const rules = [
    ...policy.rules,
    {
      name: "let it talk",
      description: "",
      principle: "",
      if: { server: ["talk"], tool: ["ask", "slow", "change"] },
      then: "allow",
      reason: "let it talk",
    },
  ];
  const bundle = {
    ...rest,
    policy: { ...policy, rules },
    annotations: { ...annotations, servers: { ...annotations.servers, talk: TALK } },
  };
  const path = tree.at("gate/callgate.json");
  writeFileSync(path, JSON.stringify(bundle));
  return path;
}

/** Starts a program, and waits until it says something on standard error. */
export function start(command, args, options, expected) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error(`${command} ${args.join(" ")} ended, expected ${expected}:\n${said}`));
    const timer = setTimeout(end, 60_000);
    child.on("error", reject);
    child.on("exit", end);
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said += text;
      const found = expected.exec(said);
      if (found === null) return;
      clearTimeout(timer);
      resolve({
        found,
        pid: child.pid,
        signal: (name) => child.kill(name),
        close: () =>
          new Promise((closed) => {
            child.removeAllListeners("exit");
            if (child.exitCode !== null || child.signalCode !== null) return closed();
            const kill = setTimeout(() => child.kill("SIGKILL"), 15_000);
            child.on("exit", () => {
              clearTimeout(kill);
              closed();
            });
            child.kill();
          }),
      });
    });
  });
}
