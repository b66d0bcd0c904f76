// The time that a fresh process takes to its first verdict, beyond Node's own start: import, the engine of the small
// example, one call. The processes take turns, so that other load on the machine affects them alike.
import { spawnSync } from "node:child_process";

const SMALL = `
  const policy = { generatedAt: "", constitutionHash: "", inputHash: "", rules: [{
    name: "read-documents", description: "", principle: "", then: "allow", reason: "documents are open",
    if: { paths: { roles: ["read-path"], within: "~/Documents" } } }] };
  const annotations = { generatedAt: "", servers: { filesystem: { inputHash: "", tools: [{
    toolName: "read_text_file", serverName: "filesystem", comment: "", args: { path: ["read-path"] } }] } } };
  const engine = callgate.createEngine({ policy, annotations });
  engine.gate({ serverName: "filesystem", toolName: "read_text_file", arguments: { path: "~/Documents/a" } });`;

const module = import.meta.resolve("callgate/callgate.wasm");
const bytes = `(await import("node:fs")).readFileSync(new URL(${JSON.stringify(module)}))`;
const entry = JSON.stringify(import.meta.resolve("callgate"));

/** Each step does what the one before does, and more; `floor` is what no change of this package can take away. */
const STEPS = {
  node: "0",
  floor: `new WebAssembly.Module(${bytes})`,
  import: `await import(${entry})`,
  verdict: `const callgate = await import(${entry});${SMALL}`,
};

/** Milliseconds of each step beyond Node's own start: the least and the median of `rounds`. */
export function coldStart(rounds = 20) {
  const times = Object.fromEntries(Object.keys(STEPS).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, code] of Object.entries(STEPS)) {
      const start = process.hrtime.bigint();
      const { status } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], { stdio: "inherit" });
      times[name].push(Number(process.hrtime.bigint() - start) / 1e6);
      if (status !== 0) {
        throw new Error(`the step \`${name}\` ended with ${status}`);
      }
    }
  }
  const sorted = Object.entries(times).map(([name, all]) => [name, all.sort((one, other) => one - other)]);
  const [[, node], ...steps] = sorted;
  const median = (all) => all[Math.floor(all.length / 2)];
  return Object.fromEntries(
    steps.map(([name, all]) => [name, { least: all[0] - node[0], median: median(all) - median(node) }]),
  );
}
