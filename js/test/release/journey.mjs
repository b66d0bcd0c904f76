// What people do first with the command, however it was installed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { commandOf } from "../servers/programs.mjs";

/** Nothing of this process but the PATH: no settings, no certificates. */
export const environmentOf = (home) => ({ PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8" });

/**
 * `init`, a guard before the real server of files with the official client, a hook with these flags, and `wrap` with `--undo`.
 * Returns the command that `wrap` writes.
 */
export async function travel([program, ...first], folder, flags = []) {
  const home = join(folder, "home");
  const work = join(home, "work");
  mkdirSync(join(home, ".ssh"), { recursive: true });
  mkdirSync(work);
  writeFileSync(join(home, ".ssh/id"), "secret");
  writeFileSync(join(work, "a.txt"), "hello");
  const options = { cwd: work, env: environmentOf(home), encoding: "utf8" };
  const callgate = (args, input = "") => spawnSync(program, [...first, ...args], { ...options, input });
  const succeeds = (args) => {
    const { status, stderr, error } = callgate(args);
    assert.equal(status, 0, `${args.join(" ")}: ${error ?? stderr}`);
  };

  succeeds(["init", "."]);
  succeeds(["test"]);

  const server = commandOf("filesystem", { tree: { root: home } });
  const client = new Client({ name: "callgate-tests", version: "1" });
  const args = [...first, "guard", "--bundle", "callgate.json", "--server", "filesystem", "--", ...server];
  await client.connect(new StdioClientTransport({ command: program, args, cwd: work, env: options.env }));
  try {
    const read = (path) => client.callTool({ name: "read_text_file", arguments: { path } });
    const inside = await read(join(work, "a.txt"));
    assert.deepEqual([inside.isError ?? false, inside.content[0].text], [false, "hello"]);
    const key = await read(join(home, ".ssh/id"));
    assert.deepEqual([key.isError, key._meta["callgate/rule"]], [true, "structural-protected-path"]);
  } finally {
    await client.close();
  }

  const asked = (file_path) => {
    const event = {
      session_id: "s",
      cwd: work,
      hook_event_name: "PreToolUse",
      tool_name: "Read",
      tool_input: { file_path },
    };
    const answer = callgate(
      ["hook", "claude-code", ...flags, "--bundle", join(work, "callgate.json")],
      JSON.stringify(event),
    );
    return JSON.parse(answer.stdout).hookSpecificOutput.permissionDecision;
  };
  assert.equal(asked(join(home, ".ssh/id")), "deny");
  assert.equal(asked(join(work, "a.txt")), "allow");

  const configuration = join(home, "mcp.json");
  const before = JSON.stringify({ mcpServers: { filesystem: { command: server[0], args: server.slice(1) } } });
  writeFileSync(configuration, before);
  succeeds(["wrap", configuration, "--bundle", "callgate.json"]);
  const { command } = JSON.parse(readFileSync(configuration, "utf8")).mcpServers.filesystem;
  assert.notEqual(command, server[0]);
  succeeds(["wrap", "--undo", configuration]);
  assert.equal(readFileSync(configuration, "utf8"), before);
  return command;
}

/** How long the command takes to say its version: the median of a few starts, in milliseconds. */
export function coldStart([program, ...first], folder) {
  const times = Array.from({ length: 9 }, () => {
    const begin = performance.now();
    const { status, stderr } = spawnSync(program, [...first, "--version"], {
      env: environmentOf(folder),
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    return performance.now() - begin;
  });
  return times.sort((one, other) => one - other)[4];
}
