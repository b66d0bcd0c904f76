import { namedIn } from "../documents.js";
import { announce } from "../dom.js";
import { child, plainValue, readJson } from "../jsonc.js";
import { BUNDLE, type State } from "../state.js";
import { importFiles } from "./import.js";
import type { Given } from "./place.js";

/** The machine where a project gives none. */
const MACHINE = '{\n  "home": "/home/u",\n  "cwd": "/home/u/app"\n}';

/** The call where there is no scenario. */
const CALL = '{\n  "serverName": "",\n  "toolName": "",\n  "arguments": {}\n}';

/**
 * The bundle that a fragment names, `#bundle=../callgate.json`, with the files that it names: a project that hosts the page can
 * link to it with its own policy. The scenarios of its `tests` come along, if they are there; `&machine=` and `&scenarios=` name more. They are of the page's own origin; its content
 * security policy allows no other.
 *
 * @throws An error if a file cannot be read.
 */
export async function besideThePage(fragment: string): Promise<State | undefined> {
  const named = new URLSearchParams(fragment.slice(1));
  const bundle = named.get("bundle");
  if (bundle === null) {
    return undefined;
  }
  const place = new URL(bundle, document.baseURI);
  const text = await read(place);
  const names = new Set(namedIn({ [BUNDLE]: text }).map(({ file }) => file));
  const parts = [...names].map(async (name): Promise<Given> => ({ name, text: await read(new URL(name, place)) }));
  const more = ["machine", "scenarios"]
    .flatMap((key) => named.getAll(key))
    .map(async (name): Promise<Given> => ({ name, text: await read(new URL(name, document.baseURI)) }));
  const tests = testsOf(text).map(async (name) => ({
    name,
    text: await read(new URL(name, place)).catch(() => undefined),
  }));
  const tested = await Promise.all(tests);
  const given = await Promise.all([...parts, ...more]);
  const state: State = { files: { [BUNDLE]: text }, machine: MACHINE, call: CALL, scenarios: [] };
  const missing = tested.filter((one) => one.text === undefined).map(({ name }) => name);
  const { change, said } = importFiles(
    [...given, ...tested.filter((one): one is Given => one.text !== undefined)],
    state,
  );
  announce(missing.length === 0 ? said : `${said}; not there: ${missing.join(", ")}`);
  return { ...state, ...change, call: change.scenarios?.[0]?.call ?? CALL };
}

/** The files of scenarios that a bundle names. */
function testsOf(bundle: string): string[] {
  const tests = plainValue(child(readJson(bundle), "tests"));
  return [tests].flat().filter((name) => typeof name === "string");
}

async function read(url: URL): Promise<string> {
  if (url.origin !== location.origin) {
    throw new Error(`\`${url.href}\` is not of this site`);
  }
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) {
    throw new Error(`\`${url.pathname}\` cannot be read: status ${response.status}`);
  }
  return response.text();
}
