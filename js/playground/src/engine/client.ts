import type { Part, State, Store } from "../state.js";
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
  const tell = (state: State, parts: Iterable<Part>): void => {
    const judged = [...parts].filter((part) => part !== "before");
    if (judged.length > 0) {
      const change: Change = Object.fromEntries(judged.map((part) => [part, state[part]]));
      worker.postMessage(change);
    }
  };
  tell(store.state, Object.keys(store.state) as Part[]);
  store.subscribe(tell);
}
