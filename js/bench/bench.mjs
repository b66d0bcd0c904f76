// Measures the budgets: `npm run bench -- --corpus DIR [--json]`.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants } from "node:zlib";
import { createEngine, createNodeHost, getPathRoles } from "callgate";
import { mapping } from "./analysis.mjs";
import { coldStart } from "./cold-start.mjs";
import { HOME, readCorpus, SANDBOX } from "./corpus.mjs";
import { compare } from "./measure.mjs";

/** The existing engine's mean time per call on the corpus, in nanoseconds (from the corpus's `README.md`). */
const EXISTING = { filesystem: 323_000, git: 224_000, fetch: 13_500, github: 7_500, "google-workspace": 5_900 };

const { values: options } = parseArgs({
  options: { corpus: { type: "string" }, json: { type: "boolean", default: false } },
});
if (options.corpus === undefined) {
  process.stderr.write("usage: npm run bench -- --corpus DIR [--json]\n");
  process.exit(64);
}

const rows = [];
/** Adds a measurement. A budget of `null` means that there is none. */
function row(name, budget, { ours, theirs, ratio }, more = {}) {
  rows.push({ name, ours, theirs, ratio, budget, isMet: budget === null || ratio <= budget, ...more });
}

const { documents, groups } = readCorpus(options.corpus);
const config = {
  ...documents,
  sandbox: SANDBOX,
  protectedPaths: ["/etc/shadow", `${HOME}/.ssh`],
  domainAllowlists: { fetch: ["*"] },
  host: createNodeHost({ homeDir: HOME, currentDir: "/" }),
};
const engine = createEngine(config);

const within = new Map(
  JSON.parse(documents.policy).rules.map((rule) => [rule.name, rule.if.paths?.within?.replace(/^~/, HOME)]),
);

/** The paths that a call needs resolved: its own, and the directories that these are compared with. */
function pathsOf(request) {
  const { values, roles } = engine.explain(request);
  const given = values.filter(({ role }) => getPathRoles().includes(role)).map(({ canonical }) => canonical);
  if (given.length === 0) {
    return [];
  }
  const rules = roles.flatMap(({ walks }) => walks.flatMap((walk) => walk.rules.map(({ rule }) => within.get(rule))));
  const reached = rules.filter((directory) => directory !== undefined);
  return [...new Set([...given, ...config.protectedPaths, config.sandbox, ...reached])];
}

function resolveNatively(paths) {
  for (const path of paths) {
    try {
      realpathSync.native(path);
    } catch {
      // The path does not exist. The existing runtime asks for it in the same way.
    }
  }
}

/**
 * Measures `evaluate` and `gate`, with `step` calls in each run, against the work that cannot be avoided. Each run
 * continues where the last one ended.
 */
function rowsOf(what, requests, { step = requests.length, existing, budgets }) {
  const paths = requests.map(pathsOf);
  const hasPaths = paths.some((some) => some.length > 0);
  const against = hasPaths ? "realpathSync.native" : "JSON.stringify";
  const baseline = hasPaths ? (_, at) => resolveNatively(paths[at]) : (one) => JSON.stringify(one);
  const inTurn = (work) => {
    let next = 0;
    return () => {
      for (let count = 0; count < step; count++) {
        work(requests[next], next);
        next = (next + 1) % requests.length;
      }
    };
  };
  for (const method of ["evaluate", "gate"]) {
    const judge = (one) => engine[method](one);
    const { ours, theirs, ratio } = compare(inTurn(judge), inTurn(baseline));
    const measured = { ours: ours / step, theirs: theirs / step, ratio };
    const budget = hasPaths ? budgets.paths : budgets[method];
    const more = existing === undefined ? {} : { existing: measured.ours / existing };
    row(`${method} ${what} / ${against}`, budget, measured, more);
  }
}

for (const [group, calls] of groups) {
  for (const { request, verdict } of calls) {
    const ours = engine.evaluate(request);
    if (ours.decision !== verdict.decision || ours.rule !== verdict.rule) {
      throw new Error(`${JSON.stringify(request)}: ${JSON.stringify(ours)}, expected ${JSON.stringify(verdict)}`);
    }
  }
  const requests = calls.map(({ request }) => request);
  rowsOf(group, requests, { existing: EXISTING[group], budgets: { paths: 1.5, evaluate: 1, gate: null } });
}

// The same calls, but each has values that did not occur before.
const NEW = 4096;

/** The string made unique: a URL gets another host, and any other string a suffix. */
function renewed(text, index) {
  const url = /^(https?:\/\/)(.+)$/.exec(text);
  return url === null ? `${text}-${index}` : `${url[1]}n${index}.${url[2]}`;
}

/** The request with every top-level string that has a role made unique. */
function renewedRequest(request, index) {
  const withRole = new Set(engine.explain(request).values.map(({ argument }) => argument.split("/")[1]));
  const entries = Object.entries(request.arguments).map(([name, value]) => [
    name,
    withRole.has(name) && typeof value === "string" ? renewed(value, index) : value,
  ]);
  return { ...request, arguments: Object.fromEntries(entries) };
}

for (const [group, calls] of groups) {
  const step = calls.length;
  const requests = Array.from({ length: step * Math.ceil(NEW / step) }, (_, index) =>
    renewedRequest(calls[index % step].request, index),
  );
  rowsOf(`${group}, every call new`, requests, { step, budgets: { paths: 1.5, evaluate: 2, gate: 2 } });
}

const called = (serverName, toolName, args) =>
  Array.from({ length: NEW }, (_, index) => ({ serverName, toolName, arguments: args(index) }));
for (const [what, requests] of Object.entries({
  "github, new names": called("github", "list_tags", (index) => ({ owner: `owner-${index}`, repo: `repo-${index}` })),
  "fetch, new pages of an origin": called("fetch", "http_fetch", (index) => ({
    url: `https://docs.python.org/${index}`,
  })),
  "fetch, new origins": called("fetch", "http_fetch", (index) => ({ url: `https://site-${index}.example.com/` })),
})) {
  rowsOf(what, requests, { step: 1, budgets: { evaluate: 2, gate: 2 } });
}

const disk = realpathSync(mkdtempSync(join(tmpdir(), "callgate-bench-")));
try {
  writeFileSync(join(disk, "notes.txt"), "");
  const box = createEngine({ ...config, sandbox: disk, protectedPaths: [join(disk, ".ssh")] });
  const request = {
    serverName: "filesystem",
    toolName: "read_file",
    arguments: { path: join(disk, "notes.txt") },
  };
  const paths = [request.arguments.path, disk, join(disk, ".ssh")];
  row(
    "evaluate an existing file / realpathSync.native",
    1.5,
    compare(
      () => box.evaluate(request),
      () => resolveNatively(paths),
    ),
  );
  row(
    "gate an existing file / realpathSync.native",
    1.5,
    compare(
      () => box.gate(request),
      () => resolveNatively(paths),
    ),
  );

  const write = (content) => ({
    serverName: "filesystem",
    toolName: "write_file",
    arguments: { path: paths[0], content },
  });
  const [small, large] = [write("x".repeat(10)), write("x".repeat(10_000_000))];
  row(
    "evaluate 10 MB / 10 B of content",
    1.2,
    compare(
      () => box.evaluate(large),
      () => box.evaluate(small),
    ),
  );
  row(
    "gate 10 MB / 10 B of content",
    1.2,
    compare(
      () => box.gate(large),
      () => box.gate(small),
    ),
  );
} finally {
  rmSync(disk, { recursive: true });
}

const policy = JSON.parse(documents.policy);
const filler = (index) => ({
  name: `filler-${index}`,
  description: "",
  principle: "",
  if: {
    server: [`server-${index % 50}`],
    lists: [{ roles: ["github-owner"], allowed: [`owner-${index}`], matchType: "identifiers" }],
  },
  then: "allow",
  reason: "",
});
const rules = [...Array.from({ length: 10_000 - policy.rules.length }, (_, index) => filler(index)), ...policy.rules];
const many = createEngine({ ...config, policy: { ...policy, rules } });
const byRules = groups.get("github").map(({ request }) => request);
row(
  `gate with 10,000 / ${policy.rules.length} rules`,
  2,
  compare(
    () => byRules.forEach((one) => many.gate(one)),
    () => byRules.forEach((one) => engine.gate(one)),
  ),
);
row(
  "build an engine / JSON.parse of its annotations",
  3,
  compare(
    () => createEngine(config).dispose(),
    () => JSON.parse(documents.annotations),
  ),
);

// A map of the corpus, in the module for analysis.
const LONGEST_MAP = 300e6;
const { clock, processor, tools } = mapping(config);
for (const [what, ours] of Object.entries({ elapsed: clock, "processor time": processor })) {
  const name = `map of ${policy.rules.length} rules and ${tools} tools, ${what} / 300 ms`;
  row(name, 1, { ours, theirs: LONGEST_MAP, ratio: ours / LONGEST_MAP });
}

const wasm = readFileSync(new URL(import.meta.resolve("callgate/callgate.wasm")));
const brotli = brotliCompressSync(wasm, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length } }).length;
// The goal is 300 KB; until then the module must not grow.
row("callgate.wasm, brotli / 400 KB", 1, { ours: brotli, theirs: 400_000, ratio: brotli / 400_000 });

// The goal is 40 ms to the first verdict. The floor is what it takes to compile the module alone.
const GOAL = 40e6;
for (const [step, { least }] of Object.entries(coldStart())) {
  const ours = least * 1e6;
  row(`fresh process: ${step}, beyond Node's start / 40 ms`, step === "verdict" ? 1 : null, {
    ours,
    theirs: GOAL,
    ratio: ours / GOAL,
  });
}

if (options.json) {
  process.stdout.write(`${JSON.stringify({ node: process.version, rows }, null, 2)}\n`);
} else {
  const number = (value) => Math.round(value).toLocaleString("en").padStart(12);
  process.stdout.write(`${"nanoseconds, or bytes".padEnd(58)}        ours      theirs  ratio budget\n`);
  for (const { name, ours, theirs, ratio, budget, isMet, existing } of rows) {
    const held = budget === null ? "   -" : `${String(budget).padStart(4)} ${isMet ? "held" : "OVER"}`;
    const share = existing === undefined ? "" : `  ${(existing * 100).toFixed(1)} % of the existing engine`;
    const line = `${name.padEnd(58)}${number(ours)}${number(theirs)}${ratio.toFixed(2).padStart(7)}  ${held.padEnd(9)}`;
    process.stdout.write(`${line}${share}\n`);
  }
}
process.exitCode = rows.every(({ isMet }) => isMet) ? 0 : 1;
