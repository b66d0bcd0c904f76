import { Budget, bounded, collect, MOST_BESIDE, MOST_FILES } from "../bounds.js";
import { namedIn } from "../documents.js";
import { announce } from "../dom.js";
import { child, plainValue, readJson } from "../jsonc.js";
import { linked } from "../share.js";
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
  const budget = new Budget(MOST_BESIDE);
  const more = new Set(["machine", "scenarios"].flatMap((key) => named.getAll(key)));
  bounded(1 + more.size, MOST_FILES, "names # files");
  const text = await read(place, budget);
  const names = new Set(namedIn({ [BUNDLE]: text }).map(({ file }) => file));
  const tests = new Set(testsOf(text));
  // Before the first of them is asked for.
  bounded(1 + more.size + names.size + tests.size, MOST_FILES, "names # files");
  const parts = [...names].map(
    async (name): Promise<Given> => ({ name, text: await read(new URL(name, place), budget) }),
  );
  const others = [...more].map(
    async (name): Promise<Given> => ({ name, text: await read(new URL(name, document.baseURI), budget) }),
  );
  const found = [...tests].map(async (name) => ({
    name,
    text: await read(new URL(name, place), budget).catch((thrown: unknown) => {
      if (thrown instanceof NotThere) {
        return undefined;
      }
      throw thrown;
    }),
  }));
  const [tested, given] = await Promise.all([Promise.all(found), Promise.all([...parts, ...others])]);
  const state: State = { files: { [BUNDLE]: text }, machine: MACHINE, call: CALL, scenarios: [] };
  const missing = tested.filter((one) => one.text === undefined).map(({ name }) => name);
  const { change, said } = importFiles(
    [...given, ...tested.filter((one): one is Given => one.text !== undefined)],
    state,
  );
  announce(missing.length === 0 ? said : `${said}; not there: ${missing.join(", ")}`);
  return linked({ ...state, ...change, call: change.scenarios?.[0]?.call ?? CALL });
}

/** The files of scenarios that a bundle names. */
function testsOf(bundle: string): string[] {
  const tests = plainValue(child(readJson(bundle), "tests"));
  return [tests].flat().filter((name) => typeof name === "string");
}

/** A file that is not there, or of which nothing comes. */
class NotThere extends Error {}

async function read(url: URL, budget: Budget): Promise<string> {
  if (url.origin !== location.origin) {
    throw new Error(`\`${url.href}\` is not of this site`);
  }
  const response = await fetch(url, { credentials: "omit" }).catch((thrown: unknown) => {
    throw new NotThere(`\`${url.pathname}\` cannot be read: ${thrown instanceof Error ? thrown.message : "no answer"}`);
  });
  if (!response.ok || response.body === null) {
    throw new NotThere(`\`${url.pathname}\` cannot be read: status ${response.status}`);
  }
  return new TextDecoder().decode(await collect(response.body, budget));
}
