import { DOCUMENTS, documentOf } from "../documents.js";
import { readJson } from "../jsonc.js";
import { BUNDLE, type Scenario, type State } from "../state.js";

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
