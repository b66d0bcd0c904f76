import { readFileSync } from "node:fs";
import * as wasm from "../../wasm/tools.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import { beside, reasonOf } from "../host/node/bundle.js";
import { within } from "../tools/module.js";
import { ask, listen } from "../tools/policy.js";
import { EXIT } from "./exit.js";
import { answer, Failure, note, Refused } from "./output.js";
import { type Setup, sound } from "./setup.js";

/** The documents, and how scenarios are judged. */
interface Trial extends Setup {
  /** `true`: scenarios without a world are judged with the links and repositories of this machine. */
  readonly disk?: boolean | undefined;
  readonly "no-coverage"?: boolean | undefined;
  /** The share of the regions that the scenarios must reach, in percent. */
  readonly "min-coverage"?: string | undefined;
}

/** What is read of the last line, which counts. */
interface Sum {
  readonly failed: number;
  readonly coverage?: { readonly regions: number; readonly unreached: readonly unknown[] };
}

/** Runs scenarios: those of these files, or of the files that the bundle names. */
export function test(given: readonly string[], trial: Trial): number {
  const least = percentOf(trial["min-coverage"]);
  const { config, file } = sound(trial);
  const scenarios = within("engine-fault", () => new wasm.WasmScenarios());
  const faults: Diagnostic[] = [];
  for (const path of given.length > 0 ? given : namedBy(file)) {
    faults.push(...add(scenarios, path));
  }
  if (faults.length > 0) {
    throw new Refused(faults);
  }
  let last = "";
  ask(config, ({ policy, located }) => {
    if (scenarios.hasContext() && !policy.hasWorld()) {
      note("the documents have no `world`, so nothing looks at the contexts of scenarios");
    }
    const covers = !trial["no-coverage"];
    try {
      listen(
        (listener) => policy.tellScenarios(scenarios, trial.disk ?? false, covers, listener),
        (line) => {
          last = line;
          answer(line);
        },
      );
    } catch (thrown) {
      if (!(thrown instanceof CallgateError && thrown.diagnostics.length > 0)) {
        throw thrown;
      }
      if (thrown.message !== "") {
        note(thrown.message);
      }
      throw new Refused(thrown.diagnostics.map(located));
    }
  });
  const { failed, coverage } = JSON.parse(last) as Sum;
  const reachesTooLittle = isThin(coverage, least);
  return failed > 0 || reachesTooLittle ? EXIT.fault : EXIT.allow;
}

/** Adds a file, and returns what is wrong with it. */
function add(scenarios: wasm.WasmScenarios, path: string): readonly Diagnostic[] {
  const name = path === "-" ? "standard input" : path;
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path === "-" ? 0 : path);
  } catch (thrown) {
    throw new Failure(`cannot read \`${path}\`: ${reasonOf(thrown)}`, "expected a file of scenarios");
  }
  try {
    within("invalid-document", () => scenarios.add(name, bytes));
    return [];
  } catch (thrown) {
    if (!(thrown instanceof CallgateError && thrown.diagnostics.length > 0)) {
      throw thrown;
    }
    return thrown.diagnostics.map((fault) => ({ file: name, ...fault }));
  }
}

/** The files of scenarios that the bundle names. */
function namedBy(bundle: string): readonly string[] {
  const named = within("engine-fault", () => wasm.bundleTests(readFileSync(bundle)));
  if (named.length === 0) {
    throw new Failure(
      "there are no scenarios to run",
      'expected files of scenarios, or their names in the bundle: `"tests": ["scenarios.jsonl"]`',
    );
  }
  return named.map((path) => beside(bundle, path));
}

function percentOf(given: string | undefined): number | undefined {
  if (given === undefined) {
    return undefined;
  }
  if (!/^\d{1,3}$/.test(given) || Number(given) > 100) {
    throw new Failure(`\`--min-coverage\` is \`${given}\`, expected a number from 0 to 100`);
  }
  return Number(given);
}

/** Returns `true` if the scenarios reach less than they must. Who asked for it is told. */
function isThin(coverage: Sum["coverage"], least = 0): boolean {
  if (coverage === undefined) {
    return false;
  }
  const { regions, unreached } = coverage;
  const reached = regions - unreached.length;
  const isThin = reached * 100 < least * regions;
  if (isThin) {
    note(`the scenarios reach ${reached} of ${regions} regions, expected ${least} % of them`);
  }
  return isThin;
}
