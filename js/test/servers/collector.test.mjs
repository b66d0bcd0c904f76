// What a real collector of OpenTelemetry takes from a guard: spans, metrics and logs.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TARGET } from "../tools/hosts.mjs";
import { freePort } from "../tools/ports.mjs";
import { whyNoVenv } from "../tools/venv.mjs";
import { until } from "./envoy.mjs";
import { CALLGATE } from "./guard.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const BUNDLE = path("../../../host-shim/serve/examples/envoy");
const VENV = `${TARGET}/collector`;

const missing = whyNoVenv(VENV, [path("python/collector.txt")]);
const skip = missing !== undefined && process.env.CI !== "true" && `the collector is not started: ${missing}`;

/** The collector's own program, out of its package. */
function program() {
  const script = "import pathlib, sysconfig; print(pathlib.Path(sysconfig.get_path('purelib')) / 'rotel/rotel-agent')";
  return spawnSync(`${VENV}/bin/python`, ["-c", script], { encoding: "utf8" }).stdout.trim();
}

/** A collector that writes what it gets to a file, on two ports that were free. */
async function startCollector(file) {
  const [http, grpc] = await Promise.all([freePort(), freePort()]);
  const flags = ["--otlp-http-endpoint", `127.0.0.1:${http}`, "--otlp-grpc-endpoint", `127.0.0.1:${grpc}`];
  const shown = [
    "--debug-log",
    "traces",
    "--debug-log",
    "metrics",
    "--debug-log",
    "logs",
    "--debug-log-verbosity",
    "detailed",
  ];
  const out = openSync(file, "w");
  const collector = spawn(program(), ["start", ...flags, "--exporter", "blackhole", ...shown], {
    stdio: ["ignore", out, out],
  });
  const endpoint = `http://127.0.0.1:${http}`;
  await until(() => fetch(endpoint));
  return { endpoint, close: () => collector.kill() };
}

/** A server that answers what it is asked, one after the other. */
const SERVER = `while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/'); echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}'; done`;

test("a collector gets spans, metrics and logs", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-collector-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "got.txt");
  const { endpoint, close } = await startCollector(file);
  t.after(close);

  const flags = ["--bundle", BUNDLE, "--server", "everything"];
  const env = { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
  const guard = spawn(CALLGATE, ["guard", ...flags, "--", "sh", "-c", SERVER], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let said = "";
  guard.stdout.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const ended = new Promise((resolve) => guard.on("exit", resolve));
  const urls = ["https://handbook.example/a", "https://handbook.example/b", "https://evil.example/"];
  for (const [at, message] of urls.entries()) {
    const params = { name: "echo", arguments: { message } };
    guard.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: at + 1, method: "tools/call", params })}\n`);
  }
  await until(async () => said.trim().split("\n").length === urls.length);
  guard.stdin.end();
  assert.equal(await ended, 0);

  // What the guard had left is with the collector once it has ended.
  const got = await until(async () => {
    const text = readFileSync(file, "utf8");
    const isWhole = text.includes("mcp.server.operation.duration") && text.includes("callgate.stop");
    return isWhole && text.includes("tools/call echo") && text;
  });
  // What the collector shows of each of the three, in the order in which it came.
  const blocks = got.split(/^(?=Resource(?:Spans?|Metrics|Log) #)/m);
  const of = (begin) => blocks.filter((block) => block.startsWith(begin)).join("");
  const [spans, metrics, logs] = [of("ResourceSpan"), of("ResourceMetrics"), of("ResourceLog")];
  const all = (text, pattern) => [...text.matchAll(pattern)].map(([, found]) => found);
  assert.deepEqual(all(spans, /Name +: (.*)/g), Array(3).fill("tools/call echo"));
  assert.deepEqual(all(spans, /callgate\.decision: Str\((\w+)\)/g).sort(), ["allow", "allow", "deny"]);
  const metric = (name) => metrics.split("Metric #").find((text) => text.includes(`Name: ${name}\n`));
  const decisions = metric("callgate.decisions").split("NumberDataPoints #").slice(1);
  const counted = decisions.map((point) => [/decision: Str\((\w+)\)/.exec(point)[1], /Value: (\d+)/.exec(point)[1]]);
  assert.deepEqual(counted.sort(), [
    ["allow", "2"],
    ["deny", "1"],
  ]);
  assert.deepEqual(all(metric("mcp.server.operation.duration"), /^Count: (\d+)/gm), ["2"]);
  assert.deepEqual(all(metric("callgate.decision.duration"), /^Count: (\d+)/gm).sort(), ["1", "2"]);
  const lines = logs.split("LogRecord #").slice(1);
  const events = lines.map((line) => [/EventName: callgate\.(\w+)/.exec(line)[1], /SeverityText: (\w+)/.exec(line)[1]]);
  assert.deepEqual(events.sort(), [
    ["decision", "INFO"],
    ["decision", "INFO"],
    ["decision", "WARN"],
    ["outcome", "INFO"],
    ["outcome", "INFO"],
    ["start", "INFO"],
    ["stop", "INFO"],
  ]);
  // A line names the trace of its call.
  const traces = (text) => [...new Set(all(text, /Trace ID *: ([0-9a-f]{32})/g))].sort();
  assert.equal(traces(spans).length, 3);
  assert.deepEqual(traces(logs), traces(spans));
  // Metrics have no name that a client may have made up, and neither has what was asked.
  assert.doesNotMatch(metrics, /echo/);
  assert.doesNotMatch(got, /\.example/);
});
