import type { State } from "../state.js";
import type { Asked, Question, Told } from "./protocol.js";

/** How long nothing must change before all calls are looked at anew, in milliseconds. */
const PATIENCE = 300;

/** Asks one thing at a time of a worker of its own, which is started when it is first needed. */
export class Analyst {
  #worker: Worker | undefined;
  #isBusy = false;
  #waiting: ReturnType<typeof setTimeout> | undefined;

  /** Asks about the documents, once nothing was asked for a moment. What was asked before gets no answer any more. */
  askSoon(asked: Asked, state: State, hear: (told: Told) => void): void {
    this.stop();
    this.#waiting = setTimeout(() => this.ask(asked, state, hear), PATIENCE);
  }

  /** Asks about the documents. What was asked before gets no answer any more. */
  ask(asked: Asked, { files, machine }: State, hear: (told: Told) => void): void {
    this.stop();
    this.#worker ??= new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "analysis" });
    this.#isBusy = true;
    this.#worker.onmessage = ({ data }: MessageEvent<Told>) => {
      this.#isBusy = data.kind === "tool";
      hear(data);
    };
    this.#worker.onerror = (event) => {
      this.stop();
      hear({ kind: "failed", message: event.message || "the analysis cannot be loaded" });
    };
    const question: Question = { asked, files, machine };
    this.#worker.postMessage(question);
  }

  /** Stops the analysis; its question gets no answer any more. */
  stop(): void {
    clearTimeout(this.#waiting);
    if (this.#isBusy) {
      this.#worker?.terminate();
      this.#worker = undefined;
      this.#isBusy = false;
    }
  }
}
