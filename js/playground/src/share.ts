import {
  Budget,
  bounded,
  collect,
  MOST_BYTES,
  MOST_CALL,
  MOST_FILES,
  MOST_MACHINE,
  MOST_PATH,
  MOST_SCENARIOS,
  MOST_SPACES,
  MOST_TEXT,
} from "./bounds.js";
import { EXPECTATIONS, type Scenario, type State } from "./state.js";

/** The key in the fragment. A fragment is not sent to any server. */
const KEY = "#v1=";

/** A link has at most this many characters: Chromium opens no longer address. */
export const MAX_LINK = 2_000_000;

/**
 * The state as a fragment of the page's address.
 *
 * @throws An error if the page would not open it.
 */
export async function toFragment(state: State): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(linked(state)));
  bounded(text.length, MOST_BYTES, "holds # bytes");
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const packed = await collect(stream, new Budget(text.length + 1024));
  let binary = "";
  for (const byte of packed) {
    binary += String.fromCharCode(byte);
  }
  return KEY + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * The state that a fragment holds; `undefined` if there is none.
 *
 * @throws An error if the link is cut or is not one of this page.
 */
export async function fromFragment(fragment: string): Promise<State | undefined> {
  if (!fragment.startsWith(KEY)) {
    return undefined;
  }
  const binary = atob(fragment.slice(KEY.length).replaceAll("-", "+").replaceAll("_", "/"));
  const packed = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const text = await collect(stream, new Budget(MOST_BYTES));
  return linked(checkedState(JSON.parse(new TextDecoder().decode(text))));
}

/**
 * Returns a state of which a link may be made.
 *
 * @throws An error that says what there is too much of.
 */
export function linked(state: State): State {
  const { files, before = {}, machine, call, scenarios } = state;
  bounded(Object.keys(files).length + Object.keys(before).length, MOST_FILES, "holds # files");
  bounded(scenarios.length, MOST_SCENARIOS, "holds # scenarios");
  bounded(call.length, MOST_CALL, "holds a call of # characters");
  checkMachine(machine);
  for (const { world = "" } of scenarios) {
    checkMachine(world);
  }
  for (const [name, text] of [...Object.entries(files), ...Object.entries(before)]) {
    bounded(text.length, MOST_TEXT, `holds # characters as \`${name.slice(0, 80)}\``);
  }
  for (const text of [...Object.values(files), ...Object.values(before), machine, call]) {
    bounded(longest(text.match(/[ \t]+/g) ?? []), MOST_SPACES, "holds # spaces one after the other");
  }
  return state;
}

/** @throws An error if it takes long to make a machine of the text. */
function checkMachine(text: string): void {
  bounded(text.length, MOST_MACHINE, "holds a machine of # characters");
  bounded(longest(text.split('"')), MOST_PATH, "holds a machine with a path of # characters");
}

function longest(texts: readonly string[]): number {
  return texts.reduce((most, { length }) => Math.max(most, length), 0);
}

/**
 * A link comes from somebody else: everything in it has to be of the form that this page writes.
 *
 * @throws An error if it is not.
 */
export function checkedState(found: unknown): State {
  const { files, machine, call, scenarios, before } = record(found);
  // Names such as `__proto__` stay names.
  const texts = (given: unknown): State["files"] =>
    Object.fromEntries(Object.entries(record(given)).map(([name, text]) => [name, string(text)]));
  if (Object.keys(record(files)).length === 0) {
    throw new Error("the link holds no bundle");
  }
  return {
    files: texts(files),
    before: before === undefined ? undefined : texts(before),
    machine: string(machine),
    call: string(call),
    scenarios: Array.isArray(scenarios) ? scenarios.map(scenario) : [],
  };
}

function scenario(found: unknown): Scenario {
  const { call, name, expect, rule, world, recording } = record(found);
  const text = (value: unknown) => (value === undefined ? undefined : string(value));
  return {
    call: string(call),
    name: text(name),
    expect: EXPECTATIONS.find((one) => one === expect),
    rule: text(rule),
    world: text(world),
    recording: text(recording),
  };
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    throw new Error("the link is not one of this page");
  }
  return value as Record<string, unknown>;
}

function string(value: unknown): string {
  if (typeof value !== "string") {
    throw new Error("the link is not one of this page");
  }
  return value;
}
