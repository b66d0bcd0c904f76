// The hook's tables of the agents' own tools against the newest packages that the agents have published: no tool, no argument and no
// event may be missing. Without the registry the tests are left out with a message; `node --test test/agents/tables.test.mjs` runs them.
//
// Claude Code publishes types of its tools, Gemini CLI's bundle has their declarations as text, and Codex and Copilot CLI are programs,
// which tell a model their tools: here the model is an endpoint of this test.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const TABLES = join(HERE, "../../../host-shim/hook/src/tools");
const CLAUDE_CODE = readFileSync(join(HERE, "../../../host-shim/hook/src/agents/claude_code.rs"), "utf8");
/** Packages that were fetched stay, by version. */
const FETCHED = join(HERE, "../../../target/published-agents");
const WAIT = { timeout: 600_000 };

const npm = (...words) =>
  execFileSync("npm", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], timeout: 300_000 });

/** The newest version, or undefined where the registry cannot be asked. */
function newest(name) {
  try {
    return JSON.parse(npm("view", `${name}@latest`, "version", "--json"));
  } catch {
    return undefined;
  }
}

/** The registry answered once, and then not. */
class Unreachable extends Error {}

function packed(spec, folder) {
  try {
    return JSON.parse(npm("pack", spec, "--json", "--pack-destination", folder));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Unreachable(spec, { cause: error });
  }
}

/** The folder of a published package. */
function fetched(name, version) {
  const folder = join(FETCHED, `${name}-${version}`);
  if (!existsSync(folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    const part = mkdtempSync(`${folder}.`);
    const [{ filename }] = packed(`${name}@${version}`, part);
    execFileSync("tar", ["-xzf", join(part, filename), "-C", part]);
    rmSync(join(part, filename));
    renameSync(part, folder);
  }
  return join(folder, "package");
}

/** Fails, with the names, if the agent's table lacks a tool or an argument. `tools` are pairs of a name and the names of arguments. */
function compare(agent, tools) {
  assert.ok(tools.length > 8, `${agent}: ${tools.length} tools were found`);
  const table = JSON.parse(readFileSync(join(TABLES, `${agent}.json`), "utf8"));
  const known = new Map(table.annotations.servers[agent].tools.map((tool) => [tool.toolName, tool]));
  const missing = [];
  for (const [name, args] of tools) {
    const tool = known.get(name);
    if (tool === undefined) {
      missing.push(name);
      continue;
    }
    const described = Object.keys(tool.args).map((arg) => (arg.startsWith("/") ? arg.split("/")[1] : arg));
    if (described.length === 0) {
      // Such a tool is allowed as a whole, or not at all.
      continue;
    }
    const all = [...described, ...(table.changing?.[name] ?? []), ...(table.own ?? [])];
    missing.push(...args.filter((arg) => !all.includes(arg)).map((arg) => `${name}: ${arg}`));
  }
  assert.deepEqual(missing, [], `the table of ${agent} lacks tools or arguments`);
}

/** A test that is left out where the registry cannot be asked. */
function published(agent, name, body) {
  test(`${agent}: no published tool is missing`, WAIT, async (t) => {
    const version = newest(name);
    if (version === undefined) {
      t.skip(`the registry does not answer for ${name}`);
      return;
    }
    t.diagnostic(`${name} ${version}`);
    try {
      await body(version, t);
    } catch (error) {
      if (!(error instanceof Unreachable)) {
        throw error;
      }
      t.skip(`the registry does not give ${error.message}`);
    }
  });
}

const TYPES = {
  FileEdit: "Edit",
  FileRead: "Read",
  FileWrite: "Write",
  ListMcpResources: "ListMcpResourcesTool",
  ReadMcpResource: "ReadMcpResourceTool",
  ReadMcpResourceDir: "ReadMcpResourceDirTool",
};

published("claude-code", "@anthropic-ai/claude-agent-sdk", (version) => {
  const folder = fetched("@anthropic-ai/claude-agent-sdk", version);
  const sdk = readFileSync(join(folder, "sdk.d.ts"), "utf8");
  const listed = (name) =>
    [...sdk.match(new RegExp(`const ${name}: readonly \\[([^\\]]*)\\]`))[1].matchAll(/'(\w+)'/g)].map(([, one]) => one);
  const tools = new Map(listed("BUILTIN_TOOL_NAMES").map((name) => [name, []]));
  const types = readFileSync(join(folder, "sdk-tools.d.ts"), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
  for (const [, type, members] of types.matchAll(/export interface (\w+)Input \{(\}|[\s\S]*?\n\})/g)) {
    if (type !== "Mcp") {
      const names = [...members.matchAll(/^ {2}"?([\w-]+)"?\??:/gm)].map(([, name]) => name);
      tools.set(TYPES[type] ?? type, names);
    }
  }
  compare("claude-code", [...tools]);
  // Events that an answer can keep from happening, and that are not about a tool or a command.
  const others = ["PreModelSwitch", "PreCompact"];
  const events = listed("HOOK_EVENTS").filter((name) => name.startsWith("Pre") && !others.includes(name));
  assert.deepEqual(
    events.filter((name) => !CLAUDE_CODE.includes(`"${name}"`)),
    [],
    "the hook is not installed for events",
  );
});

/** The text from an opening brace to the one that closes it. */
function braced(text, from) {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const one = text[at];
    if (one === '"' || one === "'" || one === "`") {
      for (at += 1; text[at] !== one; at += text[at] === "\\" ? 2 : 1);
    } else if (one === "{") {
      depth += 1;
    } else if (one === "}" && --depth === 0) {
      return text.slice(from, at + 1);
    }
  }
  return text.slice(from);
}

published("gemini-cli", "@google/gemini-cli", (version) => {
  const bundle = join(fetched("@google/gemini-cli", version), "bundle");
  const texts = readdirSync(bundle)
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(bundle, name), "utf8"));
  const text = texts.find((one) => /READ_MANY_FILES_TOOL_NAME = "/.test(one));
  const constants = new Map(
    [...text.matchAll(/^(?:var|const) (\w+) = "([^"\n]*)";$/gm)].map(([, name, value]) => [name, value]),
  );
  const tools = new Map(
    [...constants]
      .filter(([name]) => /^(?!GEN_AI|TAKE_SNAPSHOT)\w+_TOOL_NAME$/.test(name))
      .map(([, value]) => [value, []]),
  );
  for (const { index } of text.matchAll(/parametersJsonSchema: \{/g)) {
    const before = text.slice(Math.max(0, index - 8_000), index);
    const name = [...before.matchAll(/\bname: (?:(\w+)|"(\w+)"),/g)].at(-1);
    const schema = braced(text, text.indexOf("{", index));
    const properties = schema.indexOf("properties: {");
    const tool = name?.[2] ?? constants.get(name?.[1]);
    if (!tools.has(tool) || properties < 0) {
      continue;
    }
    // The members of the outermost object alone.
    let members = braced(schema, schema.indexOf("{", properties)).slice(1, -1);
    for (let at = members.indexOf(": {"); at >= 0; at = members.indexOf(": {", at + 3)) {
      members = `${members.slice(0, at + 2)}0${members.slice(at + 2 + braced(members, at + 2).length)}`;
    }
    const names = [...members.matchAll(/(?:\[(\w+)\]|\b(\w+)): 0/g)].map(
      ([, constant, plain]) => plain ?? constants.get(constant),
    );
    tools.set(tool, [...new Set([...tools.get(tool), ...names.filter((one) => one !== undefined)])]);
  }
  assert.ok([...tools].filter(([, args]) => args.length > 0).length > 12);
  compare("gemini-cli", [...tools]);
});

/** The tools that a program tells a model, as pairs of a name and the names of arguments. `run` starts it with the model's address. */
async function told(run) {
  const tools = new Map();
  const look = (value) => {
    if (value === null || typeof value !== "object") {
      return;
    }
    const properties = (value.parameters ?? value.input_schema)?.properties;
    if (typeof value.name === "string" && (properties !== undefined || value.type === "custom")) {
      tools.set(value.name, Object.keys(properties ?? {}));
    }
    Object.values(value).forEach(look);
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      try {
        look(JSON.parse(body));
      } catch {
        // It asks something else.
      }
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "no", type: "invalid_request_error" } }));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const home = mkdtempSync(join(tmpdir(), "callgate-agent-"));
  const [program, words, variables] = run(`http://127.0.0.1:${server.address().port}/v1`, home);
  const env = { PATH: process.env.PATH, HOME: home, ...variables };
  await new Promise((resolve) => {
    execFile(program, words, { cwd: home, env, timeout: 120_000 }, resolve).stdin.end();
  });
  server.closeAllConnections();
  server.close();
  rmSync(home, { recursive: true, force: true });
  return [...tools];
}

const isLinux = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);

published("codex", "@openai/codex", async (version, t) => {
  if (!isLinux) {
    t.skip("its program is run on Linux alone");
    return;
  }
  const folder = fetched("@openai/codex", `${version}-linux-${process.arch}`);
  const file = readdirSync(folder, { recursive: true }).find((name) => name.endsWith("/bin/codex"));
  const found = [];
  // Tools differ from model to model.
  for (const model of ["gpt-5", "gpt-5-codex"]) {
    const run = (url, home) => {
      const provider = `{name="m",base_url="${url}",env_key="KEY",wire_api="responses",request_max_retries=0,stream_max_retries=0}`;
      const settings = ["features.code_mode=false", "model_provider=m", `model_providers.m=${provider}`];
      const words = ["exec", "--skip-git-repo-check", "-m", model, ...settings.flatMap((one) => ["-c", one]), "x"];
      return [join(folder, file), words, { CODEX_HOME: home, KEY: "x" }];
    };
    found.push(...(await told(run)));
  }
  compare("codex", found);
});

published("copilot-cli", "@github/copilot", async (version, t) => {
  if (!isLinux) {
    t.skip("its program is run on Linux alone");
    return;
  }
  const program = join(fetched(`@github/copilot-linux-${process.arch}`, version), "copilot");
  const run = (url, home) => [
    program,
    ["-p", "x", "--allow-all-tools"],
    {
      COPILOT_HOME: home,
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_API_KEY: "x",
      COPILOT_MODEL: "gpt-4.1",
    },
  ];
  compare("copilot-cli", await told(run));
});
