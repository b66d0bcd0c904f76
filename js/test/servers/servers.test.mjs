// Real servers behind the gate: what they do with what the gate sends is what was judged, and what it refuses does nothing.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createEngine, createNodeHost } from "callgate";
import { CASES as everything } from "./cases/everything.mjs";
import { CASES as fetch } from "./cases/fetch.mjs";
import { CASES as filesystem } from "./cases/filesystem.mjs";
import { CASES as git } from "./cases/git.mjs";
import { CASES as sdk } from "./cases/sdk.mjs";
import { startNetwork } from "./network.mjs";
import { configuration } from "./policy.mjs";
import { startServer, whyMissing } from "./programs.mjs";
import { filesIn, plantTree } from "./tree.mjs";

const TABLES = { filesystem, everything, git, fetch, sdk };

const tree = plantTree();
const network = await startNetwork();
const world = { tree, network };
const engine = createEngine({
  ...configuration(world),
  host: createNodeHost({ homeDir: tree.at("home"), currentDir: tree.at("gate") }),
});
after(async () => {
  engine.dispose();
  await network.close();
  tree.remove();
});

for (const [serverName, cases] of Object.entries(TABLES)) {
  const missing = whyMissing(serverName);
  const skip =
    missing !== undefined && process.env.CI !== "true" && `the server ${serverName} is not asked: ${missing}`;
  test(`the server ${serverName}`, { skip }, async (t) => {
    assert.equal(missing, undefined);
    const server = await startServer(serverName, world);
    try {
      await t.test("is annotated as it is", () => compareSchemas(serverName, server.tools));
      for (const [index, one] of cases(world).entries()) {
        const name = `${index} ${one.tool} ${JSON.stringify(one.args)?.slice(0, 100)}: ${one.expect}`;
        await t.test(name.replaceAll(tree.root, ""), () => askAlone(one, serverName, server));
      }
    } finally {
      await server.close();
    }
  });
}

/** The changes of a case that fails are not the next one's. */
async function askAlone(one, serverName, server) {
  try {
    await ask(one, serverName, server);
  } catch (error) {
    tree.takeChanges();
    network.takeAsked();
    throw error;
  }
}

async function ask(one, serverName, server) {
  const { tool, args, expect, rule, otherwise } = one;
  const { verdict, argsForTransport } = engine.gate({ serverName, toolName: tool, arguments: args });
  assert.equal(verdict.decision, expect, verdict.reason);
  if (rule !== undefined) assert.equal(verdict.rule, rule, verdict.reason);
  if (expect === "allow") {
    await send(one, serverName, server, argsForTransport);
    return;
  }
  // Nothing is sent, and judging has done nothing.
  assert.deepEqual(tree.takeChanges(), []);
  assert.deepEqual(network.takeAsked(), []);
  if (otherwise === undefined) return;
  // The denial is needed: this is what the server does with the arguments as they were given.
  compare(otherwise, await server.call(tool, args));
}

async function send(one, serverName, server, sent) {
  if (one.sends !== undefined) assert.deepEqual(sent, one.sends);
  const again = engine.gate({ serverName, toolName: one.tool, arguments: sent });
  assert.equal(again.verdict.decision, "allow", `what is sent is judged differently: ${again.verdict.reason}`);
  assert.deepEqual(again.argsForTransport, sent);
  compare(one, await server.call(one.tool, sent));
}

/** Compares the disk, the network and the reply with what a case says. What it does not name must not happen. */
function compare({ lands = [], reads = [], asks = [], says = [], got, fails = false }, reply) {
  const changes = tree.takeChanges();
  const asked = network.takeAsked();
  assert.equal(reply.isError, fails, reply.text);
  for (const name of changes)
    assert.ok(
      lands.some((one) => isNamed(one, name)),
      `${name} was changed`,
    );
  for (const one of lands)
    assert.ok(
      changes.some((name) => isNamed(one, name)),
      `${one} was not changed`,
    );
  // A repository's files are named by its commits as well, so what is read is compared where a case says so.
  if (reads !== "any") assert.deepEqual(filesIn(reply.text), [...reads].sort());
  assert.deepEqual(asked, asks);
  for (const text of [says].flat()) assert.ok(reply.text.includes(text), `${text} is not in ${reply.text}`);
  if (got !== undefined) assert.deepEqual(JSON.parse(reply.text), got);
}

/** Returns `true` if a name of a case stands for an entry of the tree; one that ends in `/**` stands for all below. */
const isNamed = (one, name) =>
  one.endsWith("/**") ? name === one.slice(0, -3) || name.startsWith(one.slice(0, -2)) : one === name;

/** The annotations are written by hand; they must name every tool and every argument that the server has. */
function compareSchemas(serverName, tools) {
  const { servers } = configuration(world).annotations;
  const annotated = new Map(servers[serverName].tools.map((tool) => [tool.toolName, tool]));
  for (const { name, inputSchema } of tools) {
    const tool = annotated.get(name);
    assert.ok(tool, `${name} is not annotated`);
    const given = Object.keys(inputSchema.properties ?? {});
    assert.deepEqual(Object.keys(tool.inputSchema.properties ?? {}).sort(), given.sort(), name);
    assert.deepEqual(tool.inputSchema.required ?? [], inputSchema.required ?? [], name);
    for (const argument of given) {
      const isCovered = Object.keys(tool.args).some((key) => key === argument || key.startsWith(`/${argument}/`));
      assert.ok(isCovered, `${name}: ${argument} has no roles`);
    }
  }
}
