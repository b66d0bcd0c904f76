// How long a verdict takes on calls that are made to take long, at the limits of the engine: `npm run bench:worst-case`.
// `core/engine/benches/worst_case.rs` has more of them, natively, with their memory.
import { createEngine } from "callgate";

const SAMPLES = 20;
const MOST = 16_384;

const each = (count, text) => Array.from({ length: count }, (_, at) => text(at));
const rule = (name, conditions, effect) => ({ name, if: conditions, then: effect, reason: "r" });
const rules = (count, effect, conditions) => [
  ...each(count, (at) => rule(`r${at}`, conditions(at), effect)),
  rule("rest", { server: ["s"] }, "allow"),
];
const domains = (role, allowed) => ({ domains: { roles: [role], allowed } });
const emails = (allowed) => ({ lists: [{ roles: ["email-address"], allowed, matchType: "emails" }] });
const many = (at, count) => each(count, (one) => `d${one}.s${at}.test`);

/** A name, the rules, the role of the values, and the values. */
const SHAPES = [
  [
    "10,000 recipients, 5 lists",
    rules(5, "allow", (at) => emails([`v${at}@x.test`])),
    "email-address",
    10_000,
    (at) => `u${at}@x.test`,
  ],
  [
    "16,384 recipients with names, 36 denied lists",
    rules(36, "deny", (at) => emails([`v${at}@x.test`])),
    "email-address",
    MOST,
    (at) => `"U, ${at}" (x) <MAILTO:u${at}@x.test>`,
  ],
  [
    "16,384 URLs, 36 rules",
    rules(36, "deny", (at) => domains("fetch-url", [`c${at}.test`])),
    "fetch-url",
    MOST,
    (at) => `https://h${at}.ok.test/`,
  ],
  [
    "16,384 URLs, 36 rules of 100 domains",
    rules(36, "deny", (at) => domains("fetch-url", many(at, 100))),
    "fetch-url",
    MOST,
    (at) => `https://h${at}.ok.test/`,
  ],
  [
    "16,384 URLs, each with its rule",
    rules(MOST, "allow", (at) => domains("fetch-url", [`h${at}.ok.test`])),
    "fetch-url",
    MOST,
    (at) => `https://h${at}.ok.test/`,
  ],
  [
    "16,384 remotes as URLs",
    rules(36, "deny", (at) => domains("git-remote-url", [`c${at}.test/a/*`])),
    "git-remote-url",
    MOST,
    (at) => `git@h${at}.test:a/b`,
  ],
  [
    "480 broken URLs with many hosts",
    rules(36, "deny", (at) => domains("fetch-url", [`c${at}.test`])),
    "fetch-url",
    480,
    () => `hxxp:${"a.b ".repeat(8_000)}`,
  ],
  [
    "16,384 paths, 36 directories",
    rules(36, "allow", (at) => ({ paths: { roles: ["read-path"], within: `/d${at}` } })),
    "read-path",
    MOST,
    (at) => `/srv/f${at}`,
  ],
  [
    "500,000 texts that look like paths",
    rules(1, "deny", () => ({ server: ["none"] })),
    "none",
    500_000,
    (at) => `./a${at}`,
  ],
  [
    "300,000 values under one role",
    rules(1, "deny", () => emails(["v@x.test"])),
    "email-address",
    300_000,
    (at) => `u${at}@x.test`,
  ],
];

/** Every path exists and is canonical already; every remote has one URL. */
const host = {
  homeDir: "/home/u",
  currentDir: "/",
  realpath: (path) => path,
  readLink: () => undefined,
  isDirectory: () => false,
  gitRemoteUrls: (_, remote) => [`https://github.com/acme/${remote}.git`],
  gitDefaultRemoteUrls: () => ["https://github.com/acme/origin.git"],
  gitUrl: (_, url) => [url],
  gitBranch: () => "",
  gitPushRefs: () => [],
  gitCheckIgnore: () => undefined,
};

const rows = SHAPES.map(([name, given, role, count, text]) => {
  const engine = createEngine({
    policy: { rules: given },
    annotations: { servers: { s: { tools: [{ toolName: "t", args: { values: [role] } }] } } },
    protectedPaths: each(20, (at) => `/etc/p${at}`),
    host,
  });
  const call = { serverName: "s", toolName: "t", arguments: { values: each(count, text) } };
  let verdict;
  const times = each(SAMPLES, () => {
    const begun = process.hrtime.bigint();
    verdict = engine.evaluate(call);
    return Number(process.hrtime.bigint() - begun) / 1e6;
  }).sort((one, other) => one - other);
  return { name, rule: verdict.rule, fastest: times[0], median: times[SAMPLES / 2], p99: times[SAMPLES - 1] };
}).sort((one, other) => one.p99 - other.p99);

process.stdout.write("| call | fastest | median | p99 | rule |\n|---|---:|---:|---:|---|\n");
for (const { name, rule, ...times } of rows) {
  const shown = Object.values(times).map((time) => `${time.toFixed(1)} ms`);
  process.stdout.write(`| ${name} | ${shown.join(" | ")} | ${rule} |\n`);
}
const worst = rows.at(-1);
process.stdout.write(`worst: ${worst.p99.toFixed(1)} ms, ${worst.name}\n`);
