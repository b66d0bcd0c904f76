// A working day behind the guard: honest calls do what they do without it, and what must not happen does not.
import assert from "node:assert/strict";
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { CALLGATE } from "./guard.mjs";
import { PACKS, writeBundle } from "./workday/bundle.mjs";
import { connect, judgeWithPacks, measure, numbers, table } from "./workday/measure.mjs";
import { makeRoot, plantProject } from "./workday/project.mjs";
import { JUDGED, SERVERS, toolsOf, whyNoServers } from "./workday/servers.mjs";
import { startSite } from "./workday/site.mjs";

const missing = existsSync(CALLGATE) ? whyNoServers() : `${CALLGATE} is missing; cargo build`;
const skip = missing !== undefined && process.env.CI !== "true" && `the working day is not measured: ${missing}`;

const network = await startSite();
const removals = [];
const connected = [];
after(async () => {
  // Servers that nobody ends keep this process from its end, and a failure from being told.
  for (const { value } of await Promise.allSettled(connected)) await value?.[1].close();
  await network.close();
  for (const remove of removals) remove();
});

/** A project, planted like the others. */
function plant() {
  const { root, remove } = makeRoot();
  removals.push(remove);
  return { root, network, ...plantProject(root) };
}

/** The tools of every server, as it says or was recorded. */
async function toolsOfAll(clients) {
  const tools = {};
  for (const [name, client] of Object.entries(clients)) tools[name] = (await client.listTools()).tools;
  for (const name of Object.keys(JUDGED)) tools[name] = toolsOf(name);
  return tools;
}

test("a working day behind the guard", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const [direct, guarded, packed] = [plant(), plant(), plant()];
  connected.push(...Object.keys(SERVERS).map(async (name) => [name, await connect(name, direct)]));
  const clients = Object.fromEntries(await Promise.all(connected));
  const tools = await toolsOfAll(clients);
  const bundle = writeBundle(guarded, tools);
  // A list of the project's files is the same both ways.
  for (const name of ["callgate.json", "calls.jsonl", "scenarios.jsonl"])
    copyFileSync(join(guarded.repo, name), join(direct.repo, name));
  const rows = await measure({ direct, guarded, clients }, bundle);
  await t.test("with drafts", () => check("drafts, directly and through the guard", rows));
  await t.test("with packs for some servers", () =>
    check("packs and drafts, judged", judgeWithPacks(packed, writeBundle(packed, tools, PACKS))),
  );
});

/** Prints the table, and what is wrong; fails beyond what is bearable. */
function check(title, rows) {
  console.log(`\n${title}\n${table(rows)}`);
  const all = numbers(rows);
  for (const { server, tool, args, must, got, rule, reason } of [...all.wrong, ...all.loose]) {
    const call = `${server}/${tool} ${JSON.stringify(args).slice(0, 200)}`;
    console.log(`${call}: ${got} in place of ${must}, ${rule}\n  ${reason.slice(0, 600)}`);
  }
  const loose = all.loose.map(({ server, tool }) => `${server}/${tool}`);
  assert.deepEqual(loose, [], "calls that must not pass");
  const everyday = numbers(rows.filter(({ often }) => often === "everyday"));
  assert.ok(everyday.percent <= 1, `${everyday.percent.toFixed(1)} % of everyday calls are false`);
  assert.ok(all.percent <= 3, `${all.percent.toFixed(1)} % of all calls are false`);
}
