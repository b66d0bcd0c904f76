// Makes calls directly and through the guard, each way in a project of its own that is planted alike, and compares.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CALLGATE } from "../guard.mjs";
import { PACKS } from "./bundle.mjs";
import { callsOf } from "./calls/all.mjs";
import { environmentOf, JUDGED, SERVERS } from "./servers.mjs";

/** Connects to a server, with what is put before its command. */
export async function connect(name, project, guard = []) {
  const [command, added] = SERVERS[name](project);
  const [program, ...args] = [...guard, ...command];
  const env = { ...environmentOf(project), ...added };
  const transport = new StdioClientTransport({ command: program, args, cwd: project.repo, env, stderr: "ignore" });
  const client = new Client({ name: "callgate-tests", version: "1" });
  await client.connect(transport);
  return client;
}

/** The reply to a call as text, and what the guard says of it. */
async function use(client, { tool, args }, project) {
  try {
    const { content = [], isError = false, _meta } = await client.callTool({ name: tool, arguments: args });
    const text = content
      .map((item) => item.text ?? item.data ?? item.resource?.text ?? item.resource?.blob ?? "")
      .join("\n");
    return {
      text: plain(text, project),
      isError,
      decision: _meta?.["callgate/decision"],
      rule: _meta?.["callgate/rule"],
    };
  } catch (error) {
    return { text: plain(error.message, project), isError: true };
  }
}

/** A text without what differs from one run to the next: the project's place, times, and ids that are drawn. */
function plain(text, { repo, root, network }) {
  return text
    .replaceAll(network.origin, "ORIGIN")
    .replaceAll(encodeURI(repo), "REPO")
    .replaceAll(repo, "REPO")
    .replaceAll(root, "ROOT")
    .replaceAll("REPO/", "")
    .replace(/\d{4}-\d\d-\d\d[T -]\d\d[:-]\d\d[:-]\d\d([.-]\d+)?(Z|\+\d\d:\d\d)?/g, "TIME")
    .replace(/\w{3} \w{3} \d\d \d{4} \d\d:\d\d:\d\d GMT[^\n]*/g, "TIME")
    .replace(/\d+(\.\d+)?( ?ms|s elapsed)\b/g, "TIME")
    .replace(/\b\d{13}\b/g, "TIME")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, "ID");
}

/** Calls about which packs ask a person: they send, publish, remove, run or install. */
const ASKED =
  /^(slack_(post|reply|add)|create_|push_files|add_issue|delete_|start_process|write_pdf|install_|browser_drop|API-create|write_query)/;

/** Judges the calls of every server by a bundle that has packs. A question is then what some calls must get. */
export function judgeWithPacks(project, bundle) {
  const isAsked = ({ server, tool }) => PACKS.includes(server) && ASKED.test(tool);
  const rows = [...Object.keys(SERVERS), ...Object.keys(JUDGED)].flatMap((name) => judge(name, project, bundle));
  return rows.map((row) => (row.must === "allow" && isAsked(row) ? { ...row, must: "either" } : row));
}

/** Judges the calls of a server that is not started. */
function judge(name, project, bundle) {
  const calls = callsOf(name, project);
  const lines = calls.map(({ tool, args }) => JSON.stringify({ serverName: name, toolName: tool, arguments: args }));
  const file = join(project.root, `${name}.jsonl`);
  writeFileSync(file, lines.join("\n"));
  const env = environmentOf(project);
  let output;
  try {
    output = execFileSync(CALLGATE, ["eval", "--bundle", bundle, "--format", "json", file], { encoding: "utf8", env });
  } catch (error) {
    output = error.stdout;
  }
  const verdicts = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return calls.map((call, index) => {
    const { decision, rule, reason } = verdicts[index].verdict ?? verdicts[index];
    return { ...call, got: decision, rule, reason };
  });
}

/** Makes the calls of a server both ways. */
async function compare(name, { direct, guarded, clients }, bundle) {
  const plainly = clients[name];
  const guard = [CALLGATE, "guard", "--bundle", bundle, "--server", name, "--"];
  const behind = await connect(name, guarded, guard);
  const ours = callsOf(name, guarded);
  const theirs = callsOf(name, direct);
  const rows = [];
  try {
    for (const [index, call] of ours.entries()) {
      // What must not pass is not tried without the guard either.
      const isHonest = call.must === "allow";
      const [other, reply] = await Promise.all([
        isHonest ? use(plainly, theirs[index], direct) : undefined,
        use(behind, call, guarded),
      ]);
      rows.push({ ...call, ...outcome(call, other, reply) });
    }
  } finally {
    await Promise.all([behind.close(), plainly.close()]);
  }
  return rows;
}

function outcome({ mayDiffer }, other, { text, isError, decision, rule }) {
  if (decision !== undefined) return { got: decision, rule, reason: text };
  // What fails without the guard may work with it: a path through a link, or a relative one.
  const isSame = other === undefined || other.isError || (!isError && (mayDiffer || other.text === text));
  return { got: "allow", broken: !isSame, reason: isSame ? "" : `directly: ${other.text}\nguarded: ${text}` };
}

/** Makes or judges the calls of every server. */
export async function measure(world, bundle) {
  const rows = Object.keys(JUDGED).flatMap((name) => judge(name, world.guarded, bundle));
  const names = Object.keys(SERVERS);
  // Three at a time keep two processors busy while servers wait for their disk or their browser.
  const work = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift())
      rows.push(...(await compare(name, world, bundle)));
  };
  await Promise.all([work(), work(), work()]);
  return rows;
}

const isFalse = ({ must, got, broken }) =>
  broken === true || (must === "deny" ? got === "allow" : rank(got) > rank(must));
const rank = (decision) => ["allow", "escalate", "deny"].indexOf(WORDS[decision] ?? decision);
const WORDS = { ask: "escalate", either: "escalate" };

/** The numbers of some calls. */
export function numbers(rows) {
  const honest = rows.filter(({ often }) => often !== "controls");
  const wrong = honest.filter(isFalse);
  return {
    calls: rows.length,
    denials: wrong.filter(({ got }) => got === "deny").length,
    questions: wrong.filter(({ got }) => got === "escalate").length,
    broken: wrong.filter(({ broken }) => broken).length,
    wrong,
    loose: rows.filter(({ often, must, got }) => (often === "controls" || must === "ask") && got === "allow"),
    percent: honest.length === 0 ? 0 : (100 * wrong.length) / honest.length,
  };
}

/** A table of the numbers by server. */
export function table(rows) {
  const names = [...new Set(rows.map(({ server }) => server))].sort();
  const line = (name, some) => {
    const { calls, denials, questions, broken, percent } = numbers(some);
    return [
      name.padEnd(22),
      ...[calls, denials, questions, broken].map((n) => String(n).padStart(9)),
      percent.toFixed(1).padStart(8),
    ].join(" ");
  };
  return [
    [
      "server".padEnd(22),
      ...["calls", "denials", "questions", "broken"].map((word) => word.padStart(9)),
      " false %",
    ].join(" "),
    ...names.map((name) =>
      line(
        JUDGED[name] === undefined ? name : `${name} (judged)`,
        rows.filter(({ server }) => server === name),
      ),
    ),
    line(
      "everyday",
      rows.filter(({ often }) => often === "everyday"),
    ),
    line("all", rows),
  ].join("\n");
}
