import type { Store } from "../state.js";
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
  const tell = (change: Change): void => worker.postMessage(change);
  tell(store.state);
  store.subscribe((state, changed) => tell(Object.fromEntries([...changed].map((part) => [part, state[part]]))));
}
