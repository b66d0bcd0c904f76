// Requests at a steady rate, as many as can be answered, and what a process takes for them.
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const HEADERS = ["content-type: application/json", "accept: application/json, text/event-stream"];

/** How many a second one process of the generator sends: it looks at its clock every 10 ms, and sends more than one at once. */
const EACH = 100;

/** Seconds at the beginning that are not measured. */
const WARMING = 1;

/**
 * The load generator, which is asked in a folder. It is h2load: https://nghttp2.org/documentation/h2load-howto.html. A steady rate
 * is that of several processes, whose phases are random, as those of clients are. They do not wait for answers before they send.
 */
export function generator(folder) {
  async function send(url, body, seconds, flags, name) {
    const log = join(folder, `${name}.log`);
    const args = ["-t1", ...flags, "-D", String(seconds + WARMING), ...sending(body, name), "--log-file", log, url];
    const { stdout } = await run("h2load", args, { maxBuffer: 1 << 28 });
    // Empty where nothing was answered in time.
    const lines = readFileSync(log, "utf8").split("\n").filter(Boolean);
    rmSync(log);
    // What is too much for two cores is answered with 5xx by Envoy, or not in time: the rate shows it.
    const all = lines.map((line) => line.split("\t").map(Number));
    const answers = all.filter(([, status]) => status === 200);
    if (answers.length === 0) throw new Error(`${url}:\n${stdout}`);
    const begun = answers.reduce((first, [at]) => Math.min(first, at), Number.POSITIVE_INFINITY) + WARMING * 1e6;
    return { sent: all.length, took: answers.filter(([at]) => at >= begun).map(([, , micros]) => micros) };
  }

  /** The flags that send a body. */
  function sending(body, name) {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, body);
    return ["-d", file, ...HEADERS.flatMap((header) => ["-H", header])];
  }

  /** Sends so many a second. */
  async function steadily(url, body, rate, seconds) {
    const each = await Promise.all(
      Array.from({ length: rate / EACH }, async (_, at) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 200));
        return send(url, body, seconds, ["-c1", "-m64", "--rps", String(EACH)], String(at));
      }),
    );
    return summary(each, seconds);
  }

  /** Sends the next as soon as one is answered. */
  const always = async (url, body, seconds) =>
    summary([await send(url, body, seconds, ["-c2", "-m2"], "always")], seconds);

  /** Sends so many, one after the other, and measures nothing. */
  async function many(url, body, count) {
    const flags = ["-t1", "-c4", "-m8", "-n", String(count), ...sending(body, "many")];
    const { stdout } = await run("h2load", [...flags, url]);
    if (!stdout.includes(`${count} 2xx`)) throw new Error(`${url}:\n${stdout}`);
  }

  return { steadily, always, many };
}

function summary(each, seconds) {
  const all = Float64Array.from(each.flatMap(({ took }) => took)).sort();
  const percentile = (of) => all[Math.min(all.length - 1, Math.floor(all.length * of))];
  const sent = each.reduce((sum, { sent }) => sum + sent, 0);
  return { rate: all.length / seconds, sent, p50: percentile(0.5), p99: percentile(0.99) };
}

const TICKS = 100;

/** Seconds of a processor that a process has taken, and the KiB that it has in memory. */
export function taken(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number);
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return { seconds: (user + system) / TICKS, kib: Number(resident[1]) };
}

/** The one in the middle. */
export const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
