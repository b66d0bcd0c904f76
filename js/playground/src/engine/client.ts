import { numberOf } from "../scenario-numbers.js";
import type { Part, Scenario, State, Store } from "../state.js";
import { type Edit, editBetween } from "./edit.js";
import type { Answer, Change } from "./protocol.js";

/** Tells the engine's worker of every change of the state, and passes on what it answers. */
export function startEngine(
  worker: Worker,
  store: Store,
  hear: (answer: Answer) => void,
  fail: (message: string) => void,
): void {
  worker.onmessage = ({ data }: MessageEvent<Answer>) => hear(data);
  worker.onerror = (event) => fail(event.message || "the engine cannot be loaded");
  let told: State["files"] | undefined;
  /** The numbers of the scenarios that the worker knows. */
  let known: ReadonlySet<number> = new Set();
  const tell = (state: State, parts: Iterable<Part>): void => {
    const judged = [...parts].filter((part) => part !== "before");
    if (judged.length === 0) {
      return;
    }
    const edits = judged.includes("files") ? editsOf(told, state.files) : undefined;
    const whole = judged.filter((part) => part !== "scenarios" && (part !== "files" || edits === undefined));
    const change: Change = Object.fromEntries(whole.map((part) => [part, state[part]]));
    const named = judged.includes("scenarios") ? changeOf(known, state.scenarios) : {};
    worker.postMessage({ ...change, ...(edits !== undefined && { edits }), ...named });
    told = state.files;
    known = new Set(named.scenarios ?? known);
  };
  tell(store.state, Object.keys(store.state) as Part[]);
  store.subscribe(tell);
}

/** All scenarios by their numbers, and those that the worker does not know. */
function changeOf(known: ReadonlySet<number>, scenarios: readonly Scenario[]): Pick<Change, "scenarios" | "added"> {
  const numbered = scenarios.map((scenario) => [numberOf(scenario), scenario] as const);
  return {
    scenarios: numbered.map(([number]) => number),
    added: new Map(numbered.filter(([number]) => !known.has(number))),
  };
}

/** How the files were edited, if they are the same files. */
function editsOf(before: State["files"] | undefined, after: State["files"]): Record<string, Edit> | undefined {
  const names = Object.keys(after);
  if (before === undefined || Object.keys(before).join("\0") !== names.join("\0")) {
    return undefined;
  }
  const changed = names.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, editBetween(before[name] ?? "", after[name] ?? "")]));
}
