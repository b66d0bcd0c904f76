import type { Scenario } from "../state.js";
import type { Judged } from "./protocol.js";

/** Scenarios by their numbers, judged piece by piece, each once while the documents stay. */
export class Trial {
  #order: readonly number[] = [];
  #scenarios: ReadonlyMap<number, Scenario> = new Map();
  #results = new Map<number, Judged>();
  #next = 0;

  /** The scenarios from now on; what became of those that stay is kept. */
  replace(order: readonly number[], added: ReadonlyMap<number, Scenario>): void {
    const kept = <Value>(of: ReadonlyMap<number, Value>) =>
      order.flatMap((number) => {
        const value = of.get(number);
        return value === undefined ? [] : [[number, value] as const];
      });
    this.#order = order;
    this.#scenarios = new Map([...kept(this.#scenarios), ...added]);
    this.#results = new Map(kept(this.#results));
    this.#next = 0;
  }

  /** Documents changed: everything is judged anew. */
  forget(): void {
    this.#results = new Map();
    this.#next = 0;
  }

  /** Judges scenarios until it is late, but at least one. Returns `true` once all of them are judged. */
  advance(judge: (scenario: Scenario) => Judged, isLate: () => boolean): boolean {
    let isJudged = false;
    for (; this.#next < this.#order.length; this.#next += 1) {
      const number = this.#order[this.#next] ?? 0;
      const scenario = this.#scenarios.get(number);
      if (scenario === undefined || this.#results.has(number)) {
        continue;
      }
      if (isJudged && isLate()) {
        return false;
      }
      this.#results.set(number, judge(scenario));
      isJudged = true;
    }
    return true;
  }

  get results(): ReadonlyMap<number, Judged> {
    return this.#results;
  }

  /** How many of them are judged. */
  get progress(): { readonly done: number; readonly of: number } {
    return { done: this.#next, of: this.#order.length };
  }
}
