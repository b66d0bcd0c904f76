import { documentOf } from "../documents.js";
import { BUNDLE, type Scenario, type State } from "../state.js";

const PARTS = ["policy", "annotations", "lists", "ceiling", "world"];

/** The bundle as one file. What it names stands in it, comments included. */
export function oneFile(files: State["files"]): string {
  const text = files[BUNDLE] ?? "";
  const named = PARTS.flatMap((part) => {
    const { file, written } = documentOf(files, part);
    const inside = files[file];
    return file === BUNDLE || inside === undefined || written === undefined ? [] : [{ written, inside }];
  });
  // From the last to the first, so that places stay what they are.
  return named
    .sort((one, other) => other.written.from - one.written.from)
    .reduce(
      (whole, { written, inside }) => whole.slice(0, written.from) + inside.trim() + whole.slice(written.to),
      text,
    );
}

/** Scenarios as lines of JSON. */
export function scenarioLines(scenarios: readonly Scenario[]): string {
  return scenarios.map(lineOf).join("");
}

function lineOf({ call, name, expect, rule, recording }: Scenario): string {
  let written: unknown = call;
  let context: unknown;
  try {
    const { context: given, ...rest } = JSON.parse(call) as Record<string, unknown>;
    written = rest;
    context = given;
  } catch {
    // A call that cannot be read is kept as its text.
  }
  const recorded = recording === undefined ? undefined : (JSON.parse(recording) as unknown);
  return `${JSON.stringify({ name, call: written, context, expect, rule, recording: recorded })}\n`;
}
