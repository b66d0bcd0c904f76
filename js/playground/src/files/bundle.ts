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

function lineOf({ call, name, expect, rule, world, recording }: Scenario): string {
  const { written, context } = writtenCall(call);
  const parsed = (text: string | undefined) => (text === undefined ? undefined : (JSON.parse(text) as unknown));
  const line = { name, call: written, context, expect, rule, world: parsed(world), recording: parsed(recording) };
  return `${JSON.stringify(line)}\n`;
}

/** The keys of a call. */
const CALL = ["serverName", "toolName", "arguments"];

/** A call as a scenario holds it: an object, or its text where an object would not say the same. */
function writtenCall(text: string): { readonly written: unknown; readonly context: unknown } {
  try {
    const members = JSON.parse(text) as Record<string, unknown>;
    const { context, ...rest } = members;
    const isSame = JSON.stringify(members).length === withoutSpace(text).length;
    const isPlain = Object.keys(rest).every((key) => CALL.includes(key));
    return { written: isSame && isPlain ? rest : text, context };
  } catch {
    return { written: text, context: undefined };
  }
}

/** The JSON text without what stands between its words. */
function withoutSpace(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? "");
}
