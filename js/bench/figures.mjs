// What the decision service costs behind Envoy, beside the ways that others have to decide: `npm run figures`.
//
// It wants release builds, as below, and h2load (Debian's nghttp2-client), and a machine on which nothing else runs. Everything else is
// installed under the target folder. It takes ten minutes, and prints the tables of host-shim/serve/FIGURES.md.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { BATCH, evaluationOf, startCerbos, whyNoCerbos } from "../test/servers/cerbos/cerbos.mjs";
import { EXAMPLE, program, whyNoEnvoy } from "../test/servers/envoy.mjs";
import { start } from "../test/servers/guard.mjs";
import { TARGET } from "../test/tools/hosts.mjs";
import { configuration, WAYS } from "./figures/envoy.mjs";
import { generator, median, taken } from "./figures/measure.mjs";

const RATES = [1_000, 5_000, 10_000];
const [SECONDS, ROUNDS] = [Number(process.env.SECONDS ?? 5), Number(process.env.ROUNDS ?? 3)];

const CALLGATE = join(TARGET, "release/callgate");
const PASSING = join(TARGET, "release/examples/pass_through");

const NAMES = {
  none: "no filter",
  rbac: "Envoy's own RBAC, by the tool's name",
  passing: "`ext_proc` that lets everything pass",
  ext_authz: "Callgate, `ext_authz`",
  ext_proc: "Callgate, `ext_proc`",
};

const URL_ = "https://handbook.example/start";
const CALL = JSON.stringify({
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name: "echo", arguments: { message: URL_ } },
});

for (const [path, how] of [
  [CALLGATE, "cargo build --release -p callgate --features serve"],
  [PASSING, "cargo build --release -p callgate-serve --example pass_through"],
]) {
  if (!existsSync(path)) throw new Error(`${path} is missing: ${how}`);
}
if (spawnSync("h2load", ["--version"]).status !== 0)
  throw new Error("h2load is missing: apt-get install nghttp2-client");
const missing = whyNoEnvoy() ?? whyNoCerbos();
if (missing !== undefined) throw new Error(missing);

const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-figures-")));
const { steadily, always, many } = generator(folder);
const closing = [() => rmSync(folder, { recursive: true, force: true })];

const sockets = ["callgate.sock", "passing.sock"].map((name) => join(folder, name));
const serve = ["serve", "--bundle", join(EXAMPLE, "callgate.json"), "--listen", `unix:${sockets[0]}`, "--listen", "0"];
const service = await begin(CALLGATE, serve, /listening on (127\.0\.0\.1:\d+)/);
await begin(PASSING, [sockets[1]], /listening/);
const envoys = await startEnvoy();
const cerbos = await startCerbos(folder);
closing.push(cerbos.close);

try {
  const loads = [loadavg()[0]];
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  say(`Callgate ${version}, ${new Date().toISOString().slice(0, 10)}; ${cpus().length} × ${cpu.model}, ${gib} GiB.\n`);
  say(`${ROUNDS} rounds of ${SECONDS} s each; the middle of the rounds. Times in µs; CPU is that of the service.\n`);
  say("| calls through `ext_proc` | memory, MiB |");
  say("|---|---|");
  for (const [sum, more] of [
    [0, 0],
    [100_000, 100_000],
    [500_000, 400_000],
    [1_000_000, 500_000],
  ]) {
    if (more > 0) await many(envoys.ext_proc, CALL, more);
    say(`| ${sum} | ${(taken(service.pid).kib / 1024).toFixed(1)} |`);
  }
  loads.push(loadavg()[0]);

  say("\n| calls a second | decided by | answered | p50 | p99 | added p50 | added p99 | CPU a call |");
  say("|---|---|---|---|---|---|---|---|");
  for (const rate of RATES) {
    const rounds = await roundsOf(WAYS, (way) => measured(service, () => steadily(envoys[way], CALL, rate, SECONDS)));
    for (const way of WAYS) {
      const added = (of) => median(rounds.map((round) => round[way][of] - round.none[of]));
      const of = (name) => whole(median(rounds.map((round) => round[way][name])));
      const other = way === "none" ? ["", ""] : [whole(added("p50")), whole(added("p99"))];
      const cost = way.startsWith("ext_") ? of("cpu") : "";
      say(`| ${rate} | ${NAMES[way]} | ${[of("rate"), of("p50"), of("p99"), ...other, cost].join(" | ")} |`);
    }
    loads.push(loadavg()[0]);
  }

  say("\n| AuthZEN | decided by | answered | p50 | p99 | CPU a decision | decisions a second of a core |");
  say("|---|---|---|---|---|---|---|");
  const evaluation = evaluationOf(URL_);
  const one = JSON.stringify(evaluation);
  // Of a subject each: Cerbos decides several of one subject and resource as one.
  const of = (_, at) => ({ ...evaluation, subject: { ...evaluation.subject, id: `a${at}` } });
  const batch = JSON.stringify({ evaluations: Array.from({ length: BATCH }, of) });
  const services = { Callgate: service, Cerbos: { ...cerbos, url: `${cerbos.origin}/access/v1/` } };
  const ways = Object.keys(services);
  const kinds = [
    ...RATES.slice(0, 2).map((rate) => [
      `${rate} a second`,
      1,
      (url) => steadily(`${url}evaluation`, one, rate, SECONDS),
    ]),
    [`batches of ${BATCH}`, BATCH, (url) => always(`${url}evaluations`, batch, SECONDS)],
  ];
  for (const [kind, size, ask] of kinds) {
    const rounds = await roundsOf(ways, (way) => measured(services[way], () => ask(services[way].url), size));
    for (const way of ways) {
      const of = (name) => median(rounds.map((round) => round[way][name]));
      const shown = [of("rate") * size, of("p50"), of("p99")].map(whole);
      say(`| ${kind} | ${way} | ${shown.join(" | ")} | ${of("cpu").toFixed(1)} | ${whole(1e6 / of("cpu"))} |`);
    }
  }
  loads.push(loadavg()[0]);

  say(
    `\nThe load of the machine (a minute's average), with its own: ${loads.map((load) => load.toFixed(1)).join(", ")}.`,
  );
} finally {
  for (const close of closing.reverse()) await close();
}

/** Starts a program, which ends with this one. */
async function begin(command, args, expected) {
  const started = await start(command, args, { cwd: folder }, expected);
  closing.push(started.close);
  return { ...started, url: `http://${started.found[1]}/access/v1/` };
}

async function startEnvoy() {
  const [file, admin] = ["envoy.json", "admin"].map((name) => join(folder, name));
  writeFileSync(file, JSON.stringify(configuration(...sockets)));
  const flags = ["-c", file, "--admin-address-path", admin, "--use-dynamic-base-id", "--concurrency", "1"];
  await begin(program(), flags, /starting main dispatch loop/);
  const { listener_statuses } = await (
    await fetch(`http://${readFileSync(admin, "utf8")}/listeners?format=json`)
  ).json();
  const named = listener_statuses.map(({ name, local_address: { socket_address } }) => {
    return [name, `http://127.0.0.1:${socket_address.port_value}/mcp`];
  });
  return Object.fromEntries(named);
}

/** Each way in turn, several times, so that what else the machine does is spread over all of them. */
async function roundsOf(ways, ask) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const answers = {};
    for (const way of ways) {
      answers[way] = await ask(way).catch((error) => {
        throw new Error(`${way}: ${error.message}`);
      });
    }
    rounds.push(answers);
  }
  return rounds;
}

/** What comes of a measurement, and the microseconds of a processor that the service takes for a decision. */
async function measured({ pid }, ask, size = 1) {
  const before = taken(pid).seconds;
  const figures = await ask();
  return { ...figures, cpu: ((taken(pid).seconds - before) * 1e6) / (figures.sent * size) };
}

function whole(value) {
  return value < 10 ? value.toFixed(1) : String(Math.round(value));
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
