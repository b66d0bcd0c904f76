import { DOCUMENTS, documentOf } from "../documents.js";
import { readJson, withoutSpace } from "../jsonc.js";
import { BUNDLE, type Scenario, type State } from "../state.js";
import { parseStrictly } from "../strict.js";

/** A bundle as one file. */
export interface OneFile {
  readonly text: string;
  /** The files that it names still, since they are not here. */
  readonly missing: readonly string[];
}

/** The bundle as one file. What it names stands in it, comments included. */
export function oneFile(files: State["files"]): OneFile {
  const text = files[BUNDLE] ?? "";
  const named = DOCUMENTS.map((key) => documentOf(files, key)).filter(({ file }) => file !== BUNDLE);
  const missing = named.filter(({ file }) => readJson(files[file] ?? "") === undefined).map(({ file }) => file);
  // From the last to the first, so that places stay what they are.
  const whole = named
    .filter(({ file }) => !missing.includes(file))
    .sort((one, other) => (other.written?.from ?? 0) - (one.written?.from ?? 0))
    .reduce(
      (whole, { written, file }) =>
        written === undefined
          ? whole
          : whole.slice(0, written.from) + inlined(files[file] ?? "") + whole.slice(written.to),
      text,
    );
  return { text: whole, missing: [...new Set(missing)] };
}

/** The text of a file as a value within another text: a comment at its end must not reach what follows. */
function inlined(text: string): string {
  const value = readJson(text);
  const isCommented = value !== undefined && text.slice(value.to).trim() !== "";
  return isCommented ? `${text.trim()}\n` : text.trim();
}

/** Scenarios as a file. */
export interface ScenarioFile {
  readonly text: string;
  /** How many scenarios it lacks, since their machines or recordings are not JSON. */
  readonly leftOut: number;
}

/** Scenarios as lines of JSON. */
export function scenarioLines(scenarios: readonly Scenario[]): ScenarioFile {
  const lines = scenarios.map(lineOf).filter((line) => line !== undefined);
  return { text: lines.join(""), leftOut: scenarios.length - lines.length };
}

/** A scenario as a line. Its machine and its recording come from a link as they are, which need not be JSON. */
function lineOf({ call, name, expect, rule, world, recording }: Scenario): string | undefined {
  const { written, context } = writtenCall(call);
  const parsed = (text: string | undefined) => (text === undefined ? undefined : (JSON.parse(text) as unknown));
  try {
    const line = { name, call: written, context, expect, rule, world: parsed(world), recording: parsed(recording) };
    return `${JSON.stringify(line)}\n`;
  } catch {
    return undefined;
  }
}

/** The keys of a call. */
const CALL = ["serverName", "toolName", "arguments"];

/** A call as a scenario holds it: an object, or its text where an object would not say the same. */
function writtenCall(text: string): { readonly written: unknown; readonly context: unknown } {
  try {
    const members = parseStrictly(text) as Record<string, unknown>;
    const { context, ...rest } = members;
    const isSame = JSON.stringify(members).length === withoutSpace(text).length;
    const isPlain = Object.keys(rest).every((key) => CALL.includes(key));
    return { written: isSame && isPlain ? rest : text, context };
  } catch {
    return { written: text, context: undefined };
  }
}
