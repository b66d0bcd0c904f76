// The tarball that is published, installed into an empty project and loaded there by every host.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { hasChromium, isThere, run, serve, startChromium } from "./tools/hosts.mjs";
import { EXPECTED } from "./tools/load.mjs";

const JS = fileURLToPath(new URL("..", import.meta.url));
const tool = (name) => join(JS, "node_modules/.bin", name);
const WAIT = { timeout: 180_000 };

let project;
let tarball;
let installed;

before(() => {
  project = mkdtempSync(join(tmpdir(), "callgate-package-"));
  const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", project], { cwd: JS }));
  tarball = join(project, filename);
  writeFileSync(join(project, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", tarball], { cwd: project });
  installed = join(project, "node_modules/callgate");
  cpSync(join(JS, "test/tools/load.mjs"), join(project, "load.mjs"));
});
after(() => rmSync(project, { recursive: true, force: true }));

/** Writes a program into the project, and returns its path. */
function program(name, text) {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
  return join(project, name);
}

const SHOW = "console.log(JSON.stringify(judge(callgate)));\n";
const ESM = `import * as callgate from "callgate";\nimport { judge } from "./load.mjs";\n${SHOW}`;

function judges(command, args) {
  assert.deepEqual(JSON.parse(run(command, args, { cwd: project })), EXPECTED);
}

test("the tarball contains what is needed and nothing else", () => {
  assert.deepEqual(readdirSync(join(project, "node_modules")).sort(), [".bin", ".package-lock.json", "callgate"]);
  const found = readdirSync(installed).sort();
  assert.deepEqual(found, [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "MIGRATING.md",
    "README.md",
    "TOOLS.md",
    "dist",
    "docs",
    "frameworks",
    "package.json",
    "schemas",
    "wasm",
  ]);
  for (const { name, parentPath } of readdirSync(installed, { recursive: true, withFileTypes: true })) {
    assert.doesNotMatch(join(parentPath, name), /\.(?:map|tsbuildinfo|mts)$/);
  }
});

test("the tarball has the reference pages", () => {
  const source = join(JS, "../core/docs");
  const pages = readdirSync(source).sort();
  assert.deepEqual(readdirSync(join(installed, "docs")).sort(), pages);
  for (const page of pages) {
    assert.equal(readFileSync(join(installed, "docs", page), "utf8"), readFileSync(join(source, page), "utf8"));
  }
});

test("Node loads it as an ES module", () => judges("node", [program("esm.mjs", ESM)]));

test("Node loads it by require()", () => {
  const text = `const callgate = require("callgate");\nconst { judge } = require("./load.mjs");\n${SHOW}`;
  judges("node", ["--no-warnings", program("cjs.cjs", text)]);
});

test("Node loads every entry", () => {
  const text = `
    import * as callgate from "callgate/slim";
    import { readFileSync } from "node:fs";
    import { judge } from "./load.mjs";
    import data from "callgate/package.json" with { type: "json" };
    if (data.name !== "callgate") throw new Error(data.name);
    const bytes = readFileSync(new URL(import.meta.resolve("callgate/callgate.wasm")));
    let refused;
    const host = callgate.createVirtualHost({ home: "/", cwd: "/" });
    try { callgate.createEngine({ policy: "{}", annotations: "{}", host }); } catch (thrown) { refused = thrown.code; }
    if (refused !== "not-ready") throw new Error(refused);
    await callgate.init(new WebAssembly.Module(bytes));
    callgate.initSync(bytes);
    ${SHOW}`;
  judges("node", ["--no-warnings", program("slim.mjs", text)]);
});

test("the functions load their module when they are asked something", () => {
  const text = `
    import { readFileSync } from "node:fs";
    import { normalizeUrl, resolveRealPath } from "callgate/tools";
    import * as whole from "callgate";
    import * as web from ${JSON.stringify(join(installed, "dist/tools-web.js"))};
    console.log(normalizeUrl("HTTPS://a.example/"), resolveRealPath("/"), normalizeUrl === whole.normalizeUrl);
    await web.init(readFileSync(${JSON.stringify(join(installed, "wasm/tools.wasm"))}));
    console.log(web.extractDomain("https://a.example/b"));`;
  assert.equal(
    run("node", [program("functions.mjs", text)], { cwd: project }),
    "https://a.example / true\na.example\n",
  );
});

test("the entry for tools loads its module when it is asked something", () => {
  const text = `
    import { readFileSync } from "node:fs";
    import { CallgateError, proposeAnnotations } from "callgate/tools";
    import * as web from ${JSON.stringify(join(installed, "dist/tools-web.js"))};
    const tools = [{ name: "read_file", inputSchema: { properties: { path: { type: "string" } } } }];
    console.log(Object.keys(proposeAnnotations(tools, "s").annotations.servers.s.tools[0].args));
    try { proposeAnnotations([{}], "s"); } catch (thrown) {
      if (!(thrown instanceof CallgateError) || thrown.diagnostics[0].path !== "toolsList[0]") throw thrown;
    }
    await web.init(readFileSync(${JSON.stringify(join(installed, "wasm/tools.wasm"))}));
    console.log(web.proposeAnnotations({ tools: [] }, "s").unsure);`;
  assert.equal(run("node", [program("tools.mjs", text)], { cwd: project }), "[ 'path' ]\n[]\n");
});

test("an analysis loads its module when it is asked something", () => {
  const text = `
    import { readFileSync } from "node:fs";
    import { map } from "callgate/tools";
    import * as web from ${JSON.stringify(join(installed, "dist/tools-web.js"))};
    const tools = [{ toolName: "read", args: { path: "read-path" } }];
    const config = { policy: { rules: [] }, annotations: { servers: { s: { tools } } } };
    console.log(map(config)[0].rows[0].decision);
    const host = { ...(await import("callgate")).createVirtualHost({ home: "/", cwd: "/" }) };
    await web.init(readFileSync(${JSON.stringify(join(installed, "wasm/tools.wasm"))}));
    console.log(web.check({ ...config, host }));`;
  assert.equal(run("node", [program("analysis.mjs", text)], { cwd: project }), "deny\n[]\n");
});

test("npx finds its command", () => {
  const bundle = join(JS, "../host-shim/examples/bundle");
  const shown = run("npx", ["--offline", "callgate", "validate", "--bundle", bundle], { cwd: project });
  assert.deepEqual(JSON.parse(shown), { valid: true, errors: [], warnings: [] });
});

test("Deno loads it", (t) => {
  if (isThere(t, "deno", existsSync(tool("deno")))) {
    const flags = ["--quiet", "--no-remote", "--no-lock", "--node-modules-dir=manual", "--allow-read", "--allow-env"];
    judges(tool("deno"), ["run", ...flags, "--allow-sys=homedir", program("deno.mjs", ESM)]);
  }
});

test("Bun loads it", (t) => {
  if (isThere(t, "bun", existsSync(tool("bun")))) {
    judges(tool("bun"), ["--no-install", program("bun.mjs", ESM)]);
  }
});

test("the entries for browsers import only the package's own files", () => {
  const seen = new Set();
  const walk = (file) => {
    if (seen.has(file)) {
      return;
    }
    seen.add(file);
    for (const [, specifier] of readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)) {
      // The AI SDK is the program's own, and runs in browsers as well.
      if (file.endsWith("/dist/ai.js") && specifier === "ai") {
        continue;
      }
      assert.match(specifier, /^\.\.?\//, `${file} imports ${specifier}`);
      walk(resolve(dirname(file), specifier));
    }
  };
  for (const entry of ["web.js", "slim.js", "tools-web.js", "mcp.js", "ai.js", "mastra.js", "openai-agents.js"]) {
    walk(join(installed, "dist", entry));
  }
  assert.ok(seen.size >= 4);
  const isOfNode = (file) => readFileSync(file, "utf8").includes("realpathSync");
  assert.ok(![...seen].some(isOfNode), "the host of Node is in the bundle");
  const files = readdirSync(join(installed, "dist")).filter((name) => name.endsWith(".js"));
  assert.ok(files.some((name) => isOfNode(join(installed, "dist", name))));
});

const PAGE = `
  import * as callgate from "callgate";
  import { judge } from "./load.mjs";
  async function main() {
    await Promise.all([callgate.init(), callgate.init()]);
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
    const answer = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
    return { page: judge(callgate), worker: await answer };
  }
  globalThis.verdicts = main();
`;
const WORKER = `
  import * as callgate from "callgate";
  import { judge } from "./load.mjs";
  callgate.init().then(() => postMessage(judge(callgate)));
`;

/** Opens a page that stores what it found in \`verdicts\`. Also counts the modules that compiled while downloading. */
async function opened(folder, pages, types) {
  const [server, browser] = await Promise.all([serve(folder, pages, types), startChromium()]);
  try {
    const page = await browser.newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(error));
    await page.addInitScript(() => {
      globalThis.compiled = { whole: 0, streaming: 0 };
      for (const [name, way] of [
        ["compile", "whole"],
        ["compileStreaming", "streaming"],
      ]) {
        const compile = WebAssembly[name];
        WebAssembly[name] = (source) => {
          globalThis.compiled[way] += 1;
          return compile.call(WebAssembly, source);
        };
      }
    });
    await page.goto(`${server.origin}/index.html`);
    const found = await page.evaluate(async () => {
      while (globalThis.verdicts === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return { verdicts: await globalThis.verdicts, compiled: globalThis.compiled };
    });
    assert.deepEqual(faults, []);
    return found;
  } finally {
    await browser.close();
    server.close();
  }
}

test("Vite builds it, and the page and a worker of it run", WAIT, async (t) => {
  const root = join(project, "site");
  program("site/index.html", '<!doctype html><script type="module" src="./main.mjs"></script>');
  program("site/main.mjs", PAGE);
  program("site/worker.mjs", WORKER);
  cpSync(join(project, "load.mjs"), join(root, "load.mjs"));
  await build({ root, configFile: false, logLevel: "error", build: { outDir: "dist", assetsInlineLimit: 0 } });
  const assets = readdirSync(join(root, "dist/assets"));
  // The page and the worker share one copy of the module.
  assert.equal(assets.filter((name) => name.endsWith(".wasm")).length, 1, String(assets));
  const scripts = assets.filter((name) => name.endsWith(".js"));
  assert.ok(scripts.length >= 2, String(assets));
  for (const name of scripts) {
    assert.doesNotMatch(readFileSync(join(root, "dist/assets", name), "utf8"), /["'`]node:|__vite-browser-external/);
  }
  if (isThere(t, "Chromium", hasChromium())) {
    const { verdicts, compiled } = await opened(join(root, "dist"));
    assert.deepEqual(verdicts, { page: EXPECTED, worker: EXPECTED });
    assert.deepEqual(compiled, { whole: 0, streaming: 1 });
  }
});

test("Chromium loads it without a bundler, in a page and a worker", WAIT, async (t) => {
  if (!isThere(t, "Chromium", hasChromium())) {
    return;
  }
  const entry = "./node_modules/callgate/dist/web.js";
  const imports = JSON.stringify({ imports: { callgate: entry } });
  const pages = {
    "/index.html": `<!doctype html><script type="importmap">${imports}</script><script type="module">${PAGE}</script>`,
    // Import maps do not apply to workers.
    "/worker.mjs": WORKER.replace('"callgate"', `"${entry}"`),
  };
  const streamed = await opened(project, pages);
  assert.deepEqual(streamed.verdicts, { page: EXPECTED, worker: EXPECTED });
  assert.deepEqual(streamed.compiled, { whole: 0, streaming: 1 });
  const whole = await opened(project, pages, { ".wasm": "application/octet-stream" });
  assert.deepEqual(whole.verdicts, { page: EXPECTED, worker: EXPECTED });
  assert.deepEqual(whole.compiled, { whole: 1, streaming: 0 });
});

test("each name has the type that the existing runtime uses, and wrong calls do not compile", WAIT, () => {
  cpSync(join(JS, "test/types"), join(project, "types"), { recursive: true });
  for (const folder of ["types", "types/browser"]) {
    run(tool("tsc"), ["--project", join(project, folder)], { cwd: project });
  }
});

test("publint finds nothing", () => {
  assert.match(run(tool("publint"), ["run", tarball, "--strict"], { cwd: project }), /All good/);
});

test("types resolve to the same entries as the code", WAIT, () => {
  // Node's `require()` loads ES modules since 20.19, which is the oldest that the package runs on.
  const ignored = ["--ignore-rules", "cjs-resolves-to-esm", "--profile", "node16"];
  run(tool("attw"), [tarball, ...ignored, "--exclude-entrypoints", "./callgate.wasm", "./tools.wasm"], {
    cwd: project,
  });
});
