// What `cargo release` writes, as people install it: from the packed files alone, into empty folders, without a network.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { start } from "../servers/guard.mjs";
import { listeningOf } from "../servers/programs.mjs";
import { hasQemu, isThere, QEMU, run, TARGET } from "../tools/hosts.mjs";
import { freePort } from "../tools/ports.mjs";
import { whyNoVenv } from "../tools/venv.mjs";
import { artifact, FOLDER, PROCESSORS, sums, unpacked, unpackImage, VERSION, WAYS, whyMissing } from "./artifacts.mjs";
import { coldStart, environmentOf, travel } from "./journey.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

const missing = whyMissing();
if (missing !== undefined && process.env.CI === "true") throw new Error(missing);
const OPTIONS = { skip: missing, timeout: 300_000 };

const folders = mkdtempSync(join(tmpdir(), "callgate-release-"));
after(() => rmSync(folders, { recursive: true, force: true }));
const empty = () => mkdtempSync(join(folders, "empty-"));

const IMAGE_LIMIT = 15_000_000;

test("the digests are those of the files, and there is no other file", OPTIONS, () => {
  const { written, found } = sums();
  assert.deepEqual([...written].sort(), [...found].sort());
  console.log(readFileSync(artifact("SIZES.txt"), "utf8"));
});

for (const [way, install] of Object.entries(WAYS)) {
  test(`${way}: everything that people do first works`, OPTIONS, async (t) => {
    const begin = performance.now();
    const folder = empty();
    const commands = install(folder, process.arch);
    const installed = performance.now() - begin;
    for (const [name, command] of Object.entries(commands)) {
      const begin = performance.now();
      const written = await travel(command, empty());
      assert.equal(written, commands.callgate[0], "an agent starts the program itself");
      const travelled = (performance.now() - begin) / 1000;
      const started = coldStart(command, folder).toFixed(0);
      t.diagnostic(`${name}: travelled in ${travelled.toFixed(1)} s, starts in ${started} ms`);
    }
    t.diagnostic(`installed in ${(installed / 1000).toFixed(1)} s`);
  });
}

test("uvx: the same, and settings name a copy, since its cache may be emptied", OPTIONS, async (t) => {
  const venv = join(TARGET, "uv");
  const why = whyNoVenv(venv, [path("uv.txt")]);
  if (!isThere(t, `uv (${why})`, why === undefined)) return;
  const begin = performance.now();
  const folder = empty();
  const wheels = ["--offline", "--no-index", "--find-links", FOLDER];
  const written = await travel([join(venv, "bin/uvx"), ...wheels, "callgate-cli"], folder);
  assert.equal(written, join(folder, "home/.local/share/callgate", VERSION, "callgate"));
  t.diagnostic(`travelled in ${((performance.now() - begin) / 1000).toFixed(1)} s, with the installation`);
});

test("the program for the other processor does the same under qemu", OPTIONS, async (t) => {
  const { arm64 } = PROCESSORS;
  const packed = artifact(`callgate-cli-linux-arm64-${VERSION}.tgz`);
  if (!isThere(t, `${packed}, which cargo release writes,`, existsSync(packed))) return;
  if (!isThere(t, QEMU, hasQemu())) return;
  const program = unpacked(empty(), arm64);
  if (process.arch === "arm64") return travel([program], empty());
  // The hook starts itself once more, which Linux does not do for another processor. So it is asked as if it were that process.
  await travel([QEMU, program], empty(), [`--judging-for=${process.pid}`]);
});

test("manual, completions and the list of what is in it come along", OPTIONS, () => {
  const folder = empty();
  unpacked(folder, PROCESSORS[process.arch]);
  assert.match(readFileSync(join(folder, "man/callgate.1"), "utf8"), /^\.TH callgate 1/m);
  assert.match(readFileSync(join(folder, "man/callgate-guard.1"), "utf8"), /only\\-tools/);
  assert.match(readFileSync(join(folder, "completions/callgate.bash"), "utf8"), /guard/);
  const sbom = JSON.parse(readFileSync(artifact(`callgate-${VERSION}.cdx.json`), "utf8"));
  const names = sbom.components.map(({ purl }) => purl);
  assert.ok(names.includes(`pkg:cargo/callgate-engine@${VERSION}`));
  assert.ok(names.some((name) => name.startsWith("pkg:cargo/rustls@")));
  assert.ok(!names.some((name) => name.startsWith("pkg:cargo/proptest@")), "what only tests use is not in it");
});

test("cargo binstall finds the program where its metadata says", OPTIONS, (t) => {
  const manifest = readFileSync(new URL("../../../host-shim/command/Cargo.toml", import.meta.url), "utf8");
  const section = (name) => {
    const [, after] = manifest.split(`\n[package.metadata.binstall${name}]\n`);
    const lines = after
      .split("\n[")[0]
      .split("\n")
      .filter((line) => /^[a-z]/.test(line));
    return Object.fromEntries(lines.map((line) => [line.split(" = ")[0], JSON.parse(line.split(" = ")[1])]));
  };
  const { arch } = PROCESSORS[process.arch];
  const found = [...sums().found.keys()];
  for (const { arch: other } of Object.values(PROCESSORS)) {
    for (const library of ["musl", "gnu"]) {
      const target = `${other}-unknown-linux-${library}`;
      const values = { name: "callgate", bin: "callgate", version: VERSION, target, "binary-ext": "", repo: "REPO" };
      const told = { ...section(""), ...(library === "gnu" && section(`.overrides.${target}`)) };
      const filled = (text) => text.replace(/\{ ([a-z-]+) \}/g, (_, name) => values[name]);
      assert.equal(told["pkg-fmt"], "tgz");
      const [, release, name] = /^REPO\/releases\/download\/([^/]+)\/([^/]+)$/.exec(filled(told["pkg-url"]));
      assert.equal(release, `v${VERSION}`);
      if (other !== arch && !isThere(t, `${name}, which cargo release writes,`, found.includes(name))) continue;
      const members = run("tar", ["-tzf", artifact(name)]).split("\n");
      assert.ok(members.includes(filled(told["bin-dir"])), `${filled(told["bin-dir"])}: ${members.slice(0, 5)}`);
    }
  }
});

test("a package of npm's alone judges, and says what it lacks", OPTIONS, () => {
  const folder = empty();
  writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true }');
  run(
    "npm",
    ["install", "--offline", "--no-audit", "--no-fund", "--omit=optional", artifact(`callgate-${VERSION}.tgz`)],
    {
      cwd: folder,
    },
  );
  const program = join(folder, "node_modules/.bin/callgate");
  const { status, stderr } = spawnSync(program, ["guard"], { encoding: "utf8" });
  assert.notEqual(status, 0);
  assert.match(stderr, /guard/);
});

test("Python's module judges, from its wheel alone", OPTIONS, (t) => {
  const folder = empty();
  const { arch } = PROCESSORS[process.arch];
  const wheel = readdirSync(FOLDER).find(
    (name) => name.startsWith("callgate_engine-") && name.endsWith(`_${arch}.whl`),
  );
  run("python3", ["-m", "venv", join(folder, "venv")]);
  const python = join(folder, "venv/bin/python");
  run(python, ["-m", "pip", "install", "--no-index", "--quiet", artifact(wheel)]);
  const script = `
import callgate, importlib.metadata, time
assert callgate.__version__ == importlib.metadata.version("callgate-engine")
# Any interpreter that loads it has Python's symbols.
assert b"libpython" not in open(callgate._engine.__file__, "rb").read()
gate = callgate.Gate(
    policy={"rules": [{"name": "logs", "if": {"server": "git"}, "then": "allow", "reason": "reads only"}]},
    annotations={"servers": {"git": {"tools": [{"toolName": "log", "args": {"n": "none"}}]}}},
    host=callgate.virtual_host({"home": "/home/u", "cwd": "/"}),
)
print(gate.gate("git", "log", {"n": 3}).verdict.decision, gate.gate("git", "push").verdict.decision)
times = []
for _ in range(10_000):
    begin = time.perf_counter_ns()
    gate.gate("git", "log", {"n": 3})
    times.append(time.perf_counter_ns() - begin)
print(sorted(times)[5_000])
`;
  const [verdicts, nanoseconds] = run(python, ["-c", script], { cwd: folder }).trim().split("\n");
  assert.equal(verdicts, "allow deny");
  t.diagnostic(`a verdict takes ${nanoseconds} ns`);
});

test("the image is small, and its guard judges without root's rights, certificates or files", OPTIONS, async (t) => {
  if (!isThere(t, "the right to change the root", process.getuid() === 0)) return;
  const { root, size, config } = unpackImage(empty(), PROCESSORS[process.arch]);
  assert.ok(size < IMAGE_LIMIT, `${size} bytes`);
  t.diagnostic(`${size} bytes compressed`);
  mkdirSync(join(root, "gate"));
  writeFileSync(join(root, "gate/callgate.json"), JSON.stringify(BUNDLE));
  const [command, environment, isListening] = listeningOf("everything", await freePort());
  const server = await start(command[0], command.slice(1), { env: { ...process.env, ...environment } }, isListening);
  const port = await freePort();
  // Only the port differs, since tests run side by side.
  const entry = config.Entrypoint.map((word) => word.replace(":8642", `:${port}`));
  const inside = ["chroot", `--userspec=${config.User}`, root, ...entry];
  const url = `http://127.0.0.1:${environment.PORT}/mcp`;
  const args = [...inside.slice(1), "--bundle", "/gate/callgate.json", "--server", "everything", "--url", url];
  const guard = await start(inside[0], args, { env: environmentOf("/") }, /listen/i);
  const client = new Client({ name: "callgate-tests", version: "1" });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
    const allowed = await client.callTool({ name: "echo", arguments: { message: "hi" } });
    assert.equal(allowed.content[0].text, "Echo: hi");
    const denied = await client.callTool({ name: "get-sum", arguments: { a: 1, b: 2 } });
    assert.equal(denied._meta["callgate/rule"], "default-deny");
  } finally {
    await client.close();
    await guard.close();
    await server.close();
  }
});

test("the image serves as the manifest starts it, for a user without a home", OPTIONS, async (t) => {
  if (!isThere(t, "the right to change the root", process.getuid() === 0)) return;
  const { root, config } = unpackImage(empty(), PROCESSORS[process.arch]);
  const at = (name) => join(root, name);
  const own = ["var/lib/callgate", "var/log/callgate"];
  for (const name of [...own, "gate", ...["keys", "tls", "tokens"].map((name) => `etc/callgate/${name}`)]) {
    mkdirSync(at(name), { recursive: true });
  }
  for (const name of own) chownSync(at(name), ...config.User.split(":").map(Number));
  writeFileSync(at("gate/callgate.json"), JSON.stringify(BUNDLE));
  const bundle = (...args) => run(at("callgate"), ["bundle", ...args], { cwd: at("gate") });
  bundle("keygen", "acme");
  bundle("build", "--name", "acme", "--revision", "1", "--expires", "1d", "--out", "acme.json");
  bundle("sign", "acme.json", "--key", "acme.key");
  copyFileSync(at("gate/acme.pub"), at("etc/callgate/keys/0.pub"));
  for (const name of ["crt", "key"])
    copyFileSync(path(`../servers/tls/service.${name}`), at(`etc/callgate/tls/tls.${name}`));
  writeFileSync(at("etc/callgate/tokens/tokens"), "secret\n");
  const manifest = readFileSync(path("../../../host-shim/serve/examples/kubernetes/service.yaml"), "utf8");
  const flags = [...manifest.matchAll(/^ {12}- (--.*)$/gm)].map(([, flag]) =>
    flag
      .replace(/oci:.*/, "/gate/acme.json")
      .replace("0.0.0.0:9191", "127.0.0.1:0")
      .replace("$(POD)", "pod"),
  );
  const given = [...manifest.matchAll(/\{ name: (XDG_\w+), value: (\S+) \}/g)].map(([, name, value]) => [name, value]);
  assert.equal(given.length, 2);
  const env = { PATH: process.env.PATH, ...Object.fromEntries(given) };
  const args = [`--userspec=${config.User}`, root, "/callgate", "serve", ...flags];
  const ca = readFileSync(path("../servers/tls/service.crt"));
  const service = await start("chroot", args, { env }, /listening on 127\.0\.0\.1:(\d+)/);
  try {
    const ask = (page, body, more = {}) =>
      new Promise((resolve, reject) => {
        const headers = { "content-type": "application/json", ...more };
        const options = { ca, servername: "localhost", method: body === undefined ? "GET" : "POST", headers };
        const sent = request(`https://127.0.0.1:${service.found[1]}${page}`, options, async (response) => {
          let text = "";
          for await (const chunk of response.setEncoding("utf8")) text += chunk;
          resolve({ status: response.statusCode, text });
        });
        sent.on("error", reject).end(body);
      });
    assert.equal((await ask("/readyz")).status, 200);
    const asked = {
      subject: { type: "agent", id: "a" },
      action: { name: "tools/call" },
      resource: { type: "tool", id: "echo", properties: { server: "everything" } },
      context: { arguments: { message: "hi" } },
    };
    const authorization = "Bearer secret";
    const { text } = await ask("/access/v1/evaluation", JSON.stringify(asked), { authorization });
    assert.equal(JSON.parse(text).decision, true, text);
    assert.match(readFileSync(at("var/log/callgate/pod.jsonl"), "utf8"), /"decision":"allow"/);
  } finally {
    // The second one does not wait.
    service.signal("SIGTERM");
    await service.close();
  }
});

const BUNDLE = {
  policy: {
    rules: [
      { name: "echoes", if: { server: "everything", tool: "echo" }, then: "allow", reason: "it only says it again" },
    ],
  },
  annotations: {
    servers: {
      everything: {
        tools: [
          { toolName: "echo", args: { message: "none" } },
          { toolName: "get-sum", args: { a: "none", b: "none" } },
        ],
      },
    },
  },
};
