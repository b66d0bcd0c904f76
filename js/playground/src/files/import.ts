import { tokensOf } from "../../../src/api/pointer.js";
import { isTooDeep, type JsonNode, plainValue, readJson, TOO_DEEP, withoutComments } from "../jsonc.js";
import { BUNDLE, EXPECTATIONS, type Expectation, type Scenario, type State } from "../state.js";
import { repetitionIn } from "../strict.js";
import { type Given, isWrittenOut, withDocument } from "./place.js";
import { checkedRecording, machineOf } from "./recording.js";

/** The result of an import. */
export interface Imported {
  readonly change: Partial<State>;
  /** The message about it. */
  readonly said: string;
}

type Members = Readonly<Record<string, unknown>>;

/** Reads bundles, documents, machines, scenarios, recordings and lines of an audit log. */
export function importFiles(given: readonly Given[], state: State): Imported {
  // A bundle comes first: the other files are those that it names.
  const bundles = given.filter(isBundle);
  let taken: Taken = { files: state.files, scenarios: [], said: [], faults: [], passedOver: 0 };
  for (const { name, text } of bundles) {
    taken = { ...taken, files: { [BUNDLE]: text }, said: [...taken.said, `the bundle ${name}`] };
  }
  for (const file of given.filter((one) => !bundles.includes(one))) {
    try {
      taken = withFile(taken, file, bundles.length > 0);
    } catch (thrown) {
      // One file that cannot be read does not keep the others out.
      taken = { ...taken, faults: [...taken.faults, `${messageOf(thrown)} (${file.name})`] };
    }
  }
  // The scenarios that are here are about the policy that a bundle replaces.
  return imported(taken, bundles.length > 0 ? [] : state.scenarios);
}

/** The parts that are imported so far. */
interface Taken {
  readonly files: State["files"];
  readonly machine?: string | undefined;
  readonly scenarios: readonly Scenario[];
  readonly said: readonly string[];
  /** Why something was not imported. */
  readonly faults: readonly string[];
  /** How many lines are not calls. */
  readonly passedOver: number;
}

function withFile(taken: Taken, file: Given, isBeside: boolean): Taken {
  const { files, said } = taken;
  if (isBeside && isWrittenOut(files, file)) {
    throw new Error("the bundle does not name it");
  }
  const placed = withDocument(files, file);
  if (placed !== undefined) {
    return { ...taken, files: placed.files, said: [...said, placed.as] };
  }
  return isMachine(file)
    ? { ...taken, machine: file.text, said: [...said, "a machine"] }
    : withScenarios(taken, itemsOf(file.text));
}

function withScenarios(taken: Taken, items: readonly Item[]): Taken {
  const all = { ...taken, scenarios: [...taken.scenarios], said: new Set(taken.said), faults: [...taken.faults] };
  for (const { item, fault } of items) {
    // Where there are many faults, only the first is said.
    const why = fault === undefined ? faultOf(record(item)) : all.faults.length === 0 ? fault() : "";
    if (why !== undefined) {
      all.faults.push(why);
      continue;
    }
    try {
      const recorded = recordedIn(item);
      const scenario = recorded === undefined ? scenarioOf(record(item)) : undefined;
      if (recorded !== undefined) {
        all.files = { [BUNDLE]: recorded.bundle };
        all.machine = recorded.machine;
        all.said.add("a recording, whose bundle and machine replace those that were here");
      } else if (scenario === undefined) {
        all.passedOver += 1;
      }
      all.scenarios.push(...(recorded?.scenarios ?? [scenario].filter((one) => one !== undefined)));
    } catch (thrown) {
      all.faults.push(messageOf(thrown));
    }
  }
  return { ...all, said: [...all.said] };
}

function imported(
  { files, machine, scenarios, said, faults, passedOver }: Taken,
  earlier: readonly Scenario[],
): Imported {
  const count = scenarios.length;
  const all = count === 0 ? said : [...said, `${count} ${count === 1 ? "scenario" : "scenarios"}`];
  const wrong = faults.length === 0 ? "" : `; ${faults.length} not imported, since ${faults[0]}`;
  const others = passedOver === 1 ? "; 1 line is not a call" : `; ${passedOver} lines are not calls`;
  const rest = (passedOver === 0 ? "" : others) + wrong;
  return {
    change: {
      files,
      ...(machine !== undefined && { machine }),
      scenarios: [...earlier, ...scenarios],
    },
    said: all.length === 0 ? `Nothing was imported${rest}` : `Imported ${all.join(", ")}${rest}`,
  };
}

function isBundle({ name, text }: Given): boolean {
  const whole = record(plainValue(readJson(text, 1)));
  return !isLines(text) && (name === BUNDLE || Object.hasOwn(whole, "policy") || Object.hasOwn(whole, "annotations"));
}

function isMachine({ text }: Given): boolean {
  const { home, cwd } = record(plainValue(readJson(text, 1)));
  return !isLines(text) && typeof home === "string" && typeof cwd === "string";
}

/** Returns `true` if the text is several lines of JSON. */
function isLines(text: string): boolean {
  const first = readJson(text);
  return first === undefined || text.slice(first.to).trim() !== "";
}

/** Something that may be a scenario, or why it is not one: a name that occurs twice may mean either value. */
interface Item {
  readonly item?: unknown;
  readonly fault?: (() => string) | undefined;
}

/** The items of a list, of a file of scenarios, or the lines. What a file says once holds for each scenario that says nothing. */
function itemsOf(text: string): Item[] {
  if (isLines(text)) {
    return withoutComments(text)
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(lineOf);
  }
  if (isTooDeep(text)) {
    throw new Error(TOO_DEEP);
  }
  const root = readJson(text);
  const value = (node: JsonNode): Item => ({ item: plainValue(node), fault: repetitionIn(node, text) });
  if (root?.kind === "array") {
    return root.items.map(value);
  }
  const whole = root === undefined ? {} : value(root);
  const { scenarios, world, context } = record(whole.item);
  if (whole.fault !== undefined || !Array.isArray(scenarios)) {
    return [whole];
  }
  return scenarios.map((item: unknown) => {
    const own = record(item);
    const usual = own.recording === undefined && world !== undefined ? { world } : {};
    return { item: { ...usual, ...(context !== undefined && { context }), ...own } };
  });
}

/** The content of a line. A line that is not JSON has none; most of those show it where they begin. */
function lineOf(line: string): Item {
  const item = /^\s*[{[]/.test(line) ? parsed(line) : undefined;
  if (item === undefined) {
    return {};
  }
  return isTooDeep(line) ? { fault: () => TOO_DEEP } : { item, fault: repetitionIn(readJson(line), line) };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The keys of a scenario, and of one as the existing runtime has it. */
const SCENARIO = ["name", "call", "world", "recording", "context", "expect", "rule"];
const RECORDED = ["description", "request", "expectedDecision", "verdict", "reasoning", "source"];

/** Why a scenario is not one that `callgate test` takes. A misspelled key would expect nothing. */
function faultOf(item: Members): string | undefined {
  const isRecorded = item.request !== undefined;
  if (!isRecorded && item.call === undefined) {
    return undefined;
  }
  const known = isRecorded ? RECORDED : SCENARIO;
  const unknown = Object.keys(item).find((key) => !known.includes(key) && key !== "$schema");
  if (unknown !== undefined) {
    return `a scenario has no key \`${unknown}\``;
  }
  const expected = isRecorded ? (item.expectedDecision ?? record(item.verdict).decision) : item.expect;
  const isDecision = expected === undefined || expectationOf(expected) !== undefined;
  return isDecision ? undefined : `\`${JSON.stringify(expected)}\` is none of ${EXPECTATIONS.join(", ")}`;
}

/** A scenario, a call of the existing runtime's tests, a line of a log, or a plain call. */
function scenarioOf(item: Members): Scenario | undefined {
  if (item.format === "callgate-audit/1") {
    return auditedOf(item);
  }
  const inner = record(item.call ?? item.request);
  const call = typeof inner.serverName === "string" ? inner : item;
  const text = typeof item.call === "string" ? item.call : undefined;
  if (text === undefined && (typeof call.serverName !== "string" || typeof call.toolName !== "string")) {
    return undefined;
  }
  const verdict = record(item.verdict);
  const context = item.context ?? call.context;
  const { serverName, toolName, arguments: args = {} } = call;
  return {
    call:
      text === undefined
        ? JSON.stringify({ serverName, toolName, arguments: args, ...(context !== undefined && { context }) }, null, 2)
        : withContext(text, item.context),
    name: textOf(item.name) ?? textOf(item.description),
    expect: expectationOf(item.expect ?? item.expectedDecision ?? verdict.decision),
    rule: textOf(item.rule ?? verdict.rule),
    world: item.world === undefined ? undefined : JSON.stringify(item.world),
    recording: item.recording === undefined ? undefined : JSON.stringify(item.recording),
  };
}

/** The text of a call with the context that stands beside it, unless it has one. */
function withContext(text: string, context: unknown): string {
  if (context === undefined || record(parsed(text)).context !== undefined) {
    return text;
  }
  return text.replace(/\}\s*$/, `, "context": ${JSON.stringify(context).replaceAll("$", "$$$$")}}`);
}

/** A decision of the guard's log. The log has the values that were judged, not all arguments. */
function auditedOf({ kind, server, tool, values, decision, rule, time }: Members): Scenario | undefined {
  if (kind !== "decision") {
    return undefined;
  }
  const args: Record<string, unknown> = {};
  for (const { argument, raw } of Array.isArray(values) ? values.map(record) : []) {
    if (typeof argument === "string" && argument.startsWith("/") && typeof raw === "string") {
      put(args, argument, raw);
    }
  }
  return {
    call: JSON.stringify({ serverName: server, toolName: tool, arguments: args }, null, 2),
    name: `logged ${textOf(time) ?? ""}: what was judged of it`,
    expect: expectationOf(decision),
    rule: textOf(rule),
  };
}

/** Puts a value at a JSON Pointer. */
function put(args: Record<string, unknown>, pointer: string, value: string): void {
  const steps = tokensOf(pointer);
  let place: Record<string, unknown> | unknown[] = args;
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1;
    const next: unknown = isLast ? value : /^\d+$/.test(steps[at + 1] ?? "") ? [] : {};
    const known: unknown = Array.isArray(place)
      ? place[Number(step)]
      : Object.hasOwn(place, step)
        ? place[step]
        : undefined;
    const found = typeof known === "object" && known !== null ? known : next;
    if (Array.isArray(place)) {
      // A pointer from elsewhere may name any index.
      place[Math.min(Number(step), place.length)] = found;
    } else {
      Object.defineProperty(place, step, { value: found, enumerable: true, writable: true, configurable: true });
    }
    if (isLast) {
      return;
    }
    place = found as Record<string, unknown> | unknown[];
  }
}

interface Recorded {
  readonly bundle: string;
  readonly machine: string;
  readonly scenarios: readonly Scenario[];
}

/** The output of `callgate explain --record`: documents, calls, and the answers of the machine. */
function recordedIn(item: unknown): Recorded | undefined {
  const { format, engine, recording, cases } = record(item);
  if (format !== "cases/1" || recording === undefined || !Array.isArray(cases)) {
    return undefined;
  }
  const { folder, ...documents } = record(engine);
  const answers = checkedRecording(recording);
  return {
    bundle: JSON.stringify(documents, null, 2),
    machine: JSON.stringify(machineOf(answers, textOf(folder) ?? answers.currentDir), null, 2),
    scenarios: cases.map(record).map(({ call, context, expect }) => {
      const { decision, rule } = record(record(record(expect).answer).verdict);
      const members = { ...record(call), ...(context !== undefined && context !== null && { context }) };
      return {
        call: JSON.stringify(members, null, 2),
        expect: expectationOf(decision),
        rule: textOf(rule),
        recording: JSON.stringify(recording),
      };
    }),
  };
}

function expectationOf(value: unknown): Expectation | undefined {
  return EXPECTATIONS.find((one) => one === value);
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function record(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}
