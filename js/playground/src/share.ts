import { EXPECTATIONS, type Scenario, type State } from "./state.js";

/** The key in the fragment. A fragment is not sent to any server. */
const KEY = "#v1=";

/** A link holds at most this much text, since a few kilobytes can be made to stand for very much. */
const MAX_TEXT = 16 * 1024 * 1024;

/** A link has at most this many characters: Chromium opens no longer address. */
export const MAX_LINK = 2_000_000;

/** The state as a fragment of the page's address. */
export async function toFragment(state: State): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(state));
  const packed = await collect(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw")), Infinity);
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
  return checkedState(JSON.parse(new TextDecoder().decode(await collect(stream, MAX_TEXT))));
}

async function collect(stream: ReadableStream<Uint8Array>, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > limit) {
      await reader.cancel();
      throw new Error(`the link holds more than ${limit} bytes`);
    }
    chunks.push(new Uint8Array(read.value));
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
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
