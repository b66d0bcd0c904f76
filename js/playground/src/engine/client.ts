import type { Part, State, Store } from "../state.js";
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
  const tell = (state: State, parts: Iterable<Part>): void => {
    const judged = [...parts].filter((part) => part !== "before");
    if (judged.length === 0) {
      return;
    }
    const edits = judged.includes("files") ? editsOf(told, state.files) : undefined;
    const whole = judged.filter((part) => part !== "files" || edits === undefined);
    const change: Change = Object.fromEntries(whole.map((part) => [part, state[part]]));
    worker.postMessage(edits === undefined ? change : { ...change, edits });
    told = state.files;
  };
  tell(store.state, Object.keys(store.state) as Part[]);
  store.subscribe(tell);
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
