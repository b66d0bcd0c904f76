import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { EXIT } from "./exit.js";

/** The variable that names another program than that of the platform's package. */
const OVERRIDE = "CALLGATE_BINARY";

/** The package that has the program for this platform, which exists for some of them. */
export const PLATFORM_PACKAGE = `@callgate/cli-${process.platform}-${process.arch}`;

/** How to get what WebAssembly cannot do. */
export const GET_NATIVE = `it is in the program that is compiled for this machine: the package \`${PLATFORM_PACKAGE}\`, where there is one, or a file that CALLGATE_BINARY names; \`cargo install --path host-shim/command\` builds it in a checkout`;

/** The program that is compiled for this machine, if there is one. */
export function findNative(): string | undefined {
  const given = process.env[OVERRIDE];
  if (given !== undefined && given !== "") {
    return given;
  }
  try {
    return createRequire(import.meta.url).resolve(`${PLATFORM_PACKAGE}/callgate`);
  } catch {
    return undefined;
  }
}

/**
 * `true` if an agent asks before it acts, whatever is wrong with the arguments. It takes any end but with 2 for leave to go on.
 */
export function asksForLeave(args: readonly string[]): boolean {
  const at = args.indexOf("hook");
  return at >= 0 && args[at + 1] !== "install" && args[at + 1] !== "uninstall";
}

/** Runs the program with what this process has, and returns what the process ends with. */
export function runNative(program: string, args: readonly string[]): Promise<number> {
  const failed = asksForLeave(args) ? EXIT.deny : EXIT.fault;
  return new Promise((resolve) => {
    let started: ChildProcess | undefined;
    // Before the program runs: it may say that it is ready, and get a signal, before this goes on. A terminal sends an interrupt to
    // both; whoever sends another signal knows this process only.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (signal !== "SIGINT" || !isatty(0)) {
          started?.kill(signal);
        }
      });
    }
    const child = spawn(program, args, { stdio: "inherit" });
    started = child;
    child.on("error", ({ message }) => {
      process.stderr.write(`error: cannot run \`${program}\`: ${message}\n`);
      resolve(failed);
    });
    child.on("exit", (code, signal) => {
      const killed = failed === EXIT.deny ? EXIT.deny : 128 + (signal === null ? 0 : constants.signals[signal]);
      resolve(code ?? killed);
    });
  });
}
