// The hook in the agents themselves: each is installed by its own package, asks an endpoint of these tests instead of a model, and
// needs no account. `npm ci --ignore-scripts` here installs them; CALLGATE_COMMAND is the built command.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startModel } from "./models.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const COMMAND = process.env.CALLGATE_COMMAND ?? join(HERE, "../../../target/debug/callgate");
const packages = (name) => join(HERE, "node_modules", name);
const WAIT = { timeout: 120_000 };

/** The executable of a package for this platform, which installing it without scripts leaves where it is. */
function executable(scope, start, name) {
  const folder = packages(scope);
  const found = existsSync(folder)
    ? readdirSync(folder).find((one) => one.startsWith(start) && one.includes("linux"))
    : undefined;
  if (found === undefined) {
    return undefined;
  }
  const files = readdirSync(join(folder, found), { recursive: true, withFileTypes: true });
  const file = files.find((one) => one.isFile() && one.name === name);
  const path = file && join(file.parentPath, file.name);
  if (path !== undefined) {
    chmodSync(path, 0o755);
  }
  return path;
}

const AGENTS = {
  "claude-code": {
    program: () => executable("@anthropic-ai", "claude-code-", "claude"),
    model: "anthropic",
    arguments: ({ mcp }) => ["-p", "go", "--permission-mode", "bypassPermissions", "--mcp-config", mcp],
    environment: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "x",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    }),
    read: (path) => ({ name: "Read", input: { file_path: path } }),
    write: (path) => ({ name: "Write", input: { file_path: path, content: "made" } }),
    shell: (command) => ({ name: "Bash", input: { command, description: "runs it" } }),
    mcp: (path) => ({ name: "mcp__files__read", input: { path } }),
  },
  codex: {
    program: () => executable("@openai", "codex-", "codex"),
    model: "responses",
    arguments: () => ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go"],
    environment: () => ({ MODEL_KEY: "x" }),
    prepare({ home, url, server, log }) {
      const lines = [
        'model = "gpt-5.5"',
        'model_provider = "test"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        "[model_providers.test]",
        'name = "test"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "MODEL_KEY"',
        "[mcp_servers.files]",
        `command = "${process.execPath}"`,
        `args = ["${server}", "${log}"]`,
      ];
      writeFileSync(join(home, ".codex/config.toml"), `${lines.join("\n")}\n`);
    },
    read: (path) => ({ name: "view_image", input: { path } }),
    readsOnlyImages: true,
    write: (path) => ({ name: "apply_patch", input: `*** Begin Patch\n*** Add File: ${path}\n+made\n*** End Patch` }),
    shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
    mcp: (path) => ({ name: "read", namespace: "mcp__files", input: { path } }),
  },
  "gemini-cli": {
    program: () => {
      const path = packages("@google/gemini-cli/bundle/gemini.js");
      return existsSync(path) ? path : undefined;
    },
    isScript: true,
    model: "gemini",
    arguments: () => ["--yolo", "-p", "go"],
    environment: ({ url }) => ({
      GEMINI_API_KEY: "x",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GOOGLE_GEMINI_BASE_URL: url,
    }),
    prepare({ home, server, log }) {
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" } },
        mcpServers: { files: { command: process.execPath, args: [server, log] } },
      };
      writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
    },
    read: (path) => ({ name: "read_file", input: { file_path: path } }),
    write: (path) => ({ name: "write_file", input: { file_path: path, content: "made" } }),
    shell: (command) => ({ name: "run_shell_command", input: { command } }),
    mcp: (path) => ({ name: "mcp_files_read", input: { path } }),
  },
  "copilot-cli": {
    program: () => executable("@github", "copilot-", "copilot"),
    model: "anthropic",
    arguments: () => ["-p", "go", "--allow-all-tools", "--allow-all-paths"],
    environment: ({ url }) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_MODEL: "claude-sonnet-4.5",
      COPILOT_PROVIDER_API_KEY: "x",
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_TYPE: "anthropic",
    }),
    prepare({ home, server, log }) {
      const files = { type: "local", tools: ["*"], command: process.execPath, args: [server, log] };
      writeFileSync(join(home, ".copilot/mcp-config.json"), JSON.stringify({ mcpServers: { files } }));
    },
    read: (path) => ({ name: "view", input: { path } }),
    write: (path) => ({ name: "create", input: { path, file_text: "made" } }),
    shell: (command) => ({ name: "bash", input: { command, description: "runs it" } }),
    mcp: (path) => ({ name: "files-read", input: { path } }),
  },
};

const FOLDERS = [".codex", ".gemini", ".copilot", "docs"];

/** A home and a project, of which nothing stays. */
function folders(t) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "callgate-agent-")));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const [home, project] = [join(root, "home"), join(root, "project")];
  for (const folder of [join(project, "src"), ...FOLDERS.map((one) => join(home, one))]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(join(project, "src/a.txt"), "hello\n");
  writeFileSync(join(project, ".env"), "KEY=secret\n");
  execFileSync("git", ["init", "-q", project]);
  const [server, log, mcp] = [join(HERE, "files-server.mjs"), join(root, "log"), join(root, "mcp.json")];
  writeFileSync(mcp, JSON.stringify({ mcpServers: { files: { command: process.execPath, args: [server, log] } } }));
  return { root, home, project, server, log, mcp };
}

/** A home and a project with the hook installed. */
function place(t, name, agent, url) {
  const found = { url, ...folders(t) };
  const { home, project } = found;
  copyFileSync(
    join(HERE, "../../../host-shim/command/tests/command/hooks/callgate.json"),
    join(project, "callgate.json"),
  );
  agent.prepare?.(found);
  const install = ["hook", "install", name, "--user", "--bundle", join(project, "callgate.json"), "--write"];
  execFileSync(COMMAND, install, { env: { ...process.env, HOME: home } });
  return found;
}

function run(program, agent, found, more = {}) {
  const { HTTP_PROXY, HTTPS_PROXY, http_proxy, https_proxy, XDG_STATE_HOME, ...inherited } = process.env;
  const env = { ...inherited, HOME: found.home, ...agent.environment(found), ...more };
  const args = agent.arguments(found);
  const [file, all] = agent.isScript ? [process.execPath, [program, ...args]] : [program, args];
  return new Promise((resolve) => {
    const options = { cwd: join(found.project, "src"), env, timeout: 90_000, killSignal: "SIGKILL" };
    const child = execFile(file, all, options, (error, stdout, stderr) => resolve({ error, said: stdout + stderr }));
    child.stdin.end();
  });
}

/** Has an agent make the calls of a script, and gives what its tools answered. */
async function results(t, name, scriptOf, change = () => {}) {
  const agent = AGENTS[name];
  const program = agent.program();
  if (program === undefined || !existsSync(COMMAND)) {
    t.skip(program === undefined ? `${name} is not installed` : `${COMMAND} is not built`);
    return undefined;
  }
  const script = [];
  const model = await startModel(agent.model, script);
  t.after(() => model.close());
  const found = place(t, name, agent, model.url);
  change(found);
  script.push(...scriptOf(agent, found));
  const { said } = await run(program, agent, found);
  assert.equal(model.results.length, script.length, `${JSON.stringify(model.results)}\n${said}\n${model.offered}`);
  return { ...found, results: model.results };
}

for (const name of Object.keys(AGENTS)) {
  test(`${name} does what the policy allows and nothing else`, WAIT, async (t) => {
    const done = await results(t, name, (agent, { root, project }) => [
      agent.read(join(project, "src/a.txt")),
      agent.read(join(project, ".env")),
      agent.write(join(project, "src/new.txt")),
      agent.write(join(root, "outside.txt")),
      agent.write(join(project, "callgate.json")),
      agent.shell("git status"),
      agent.shell(`touch ${root}/touched`),
      agent.mcp("~/docs/a"),
      agent.mcp("/srv/a"),
    ]);
    if (done === undefined) {
      return;
    }
    const { root, home, project, log, results: found } = done;
    if (!AGENTS[name].readsOnlyImages) {
      assert.match(found[0], /hello/);
    }
    // Some agents have rules of their own, which come first.
    const denied = /Callgate: |not in workspace|not been read/i;
    for (const at of [1, 3, 4]) {
      assert.match(found[at], denied, String(at));
    }
    assert.match(found[5], /On branch|No commits yet/);
    assert.match(found[6], /structural-undecided-command/);
    assert.match(found[7], /the server got/);
    assert.match(found[8], /default-deny/);
    assert.equal(readFileSync(join(project, "src/new.txt"), "utf8").trim(), "made");
    assert.deepEqual([existsSync(join(root, "outside.txt")), existsSync(join(root, "touched"))], [false, false]);
    assert.match(readFileSync(join(project, "callgate.json"), "utf8"), /"sandbox"/);
    // The server got the arguments that were judged.
    assert.equal(readFileSync(log, "utf8"), `${join(home, "docs/a")}\n`);
  });

  test(`${name} does nothing while the hook is broken`, WAIT, async (t) => {
    const broken = ({ project }) => writeFileSync(join(project, "callgate.json"), "{");
    const script = (agent, { root, project }) => [
      agent.shell(`touch ${root}/touched`),
      agent.shell("git status"),
      agent.write(join(project, "src/new.txt")),
    ];
    const done = await results(t, name, script, broken);
    if (done !== undefined) {
      assert.deepEqual(readdirSync(join(done.project, "src")), ["a.txt"]);
      assert.ok(!existsSync(join(done.root, "touched")));
      for (const found of done.results) {
        assert.match(found, /structural-hook-fault|Callgate/);
      }
    }
  });
}

const ROOT = join(HERE, "../../..");
const GEMINI = join(ROOT, "host-shim/plugins/gemini-cli");

/** The commands by which the real agents check a plugin of the repository, and install it. */
const PLUGINS = {
  "claude-code": [
    ["plugin", "validate", "."],
    ["plugin", "validate", "host-shim/plugins/callgate"],
    ["plugin", "marketplace", "add", "./"],
    ["plugin", "install", "callgate@callgate"],
  ],
  codex: [
    ["plugin", "marketplace", "add", "./"],
    ["plugin", "add", "callgate@callgate"],
  ],
  "copilot-cli": [
    ["plugin", "marketplace", "add", ROOT],
    ["plugin", "install", "callgate@callgate"],
  ],
  "gemini-cli": [
    ["extensions", "validate", GEMINI],
    ["extensions", "install", "--consent", GEMINI],
  ],
};

for (const [name, commands] of Object.entries(PLUGINS)) {
  test(`${name} asks its plugin, which denies where the program is missing`, WAIT, async (t) => {
    const agent = AGENTS[name];
    const program = agent.program();
    if (program === undefined || !existsSync(COMMAND)) {
      t.skip(program === undefined ? `${name} is not installed` : `${COMMAND} is not built`);
      return;
    }
    for (const isThere of [true, false]) {
      const script = [];
      const model = await startModel(agent.model, script);
      t.after(() => model.close());
      const found = { url: model.url, ...folders(t) };
      const { root, project } = found;
      agent.prepare?.(found);
      const env = { ...process.env, HOME: found.home, ...agent.environment(found) };
      const start = agent.isScript ? [process.execPath, program] : [program];
      for (const command of commands) {
        execFileSync(start[0], [...start.slice(1), ...command], { cwd: ROOT, env, stdio: "pipe" });
      }
      const path = [join(root, "bin"), dirname(process.execPath), "/usr/bin", "/bin"].join(":");
      if (isThere) {
        mkdirSync(join(root, "bin"));
        symlinkSync(COMMAND, join(root, "bin/callgate"));
      }
      script.push(
        agent.read(join(project, "src/a.txt")),
        agent.write(join(project, "src/new.txt")),
        agent.shell(`touch ${root}/touched`),
      );
      const { said } = await run(program, agent, found, { PATH: path });
      const [read, ...others] = model.results;
      assert.equal(others.length, 2, said);
      const answer = agent.readsOnlyImages ? /image/ : /hello/;
      // Copilot CLI does not tell what a hook said.
      const denied = /no program `callgate`|hook exited with code 2/;
      assert.match(read, isThere ? answer : denied);
      for (const answer of others) {
        assert.match(answer, isThere ? /ask-for-the-rest/ : denied);
      }
      assert.deepEqual(readdirSync(join(project, "src")), ["a.txt"]);
      assert.ok(!existsSync(join(root, "touched")));
    }
  });
}
