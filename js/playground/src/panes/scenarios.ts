import { announce, h } from "../dom.js";
import type { Judged, Results } from "../engine/protocol.js";
import { numberOf } from "../scenario-numbers.js";
import type { Scenario, Store } from "../state.js";
import { ScenarioRows } from "./scenario-rows.js";
import { stateOf } from "./scenario-state.js";

interface Actions {
  readonly open: (call: string) => void;
  readonly importFiles: () => void;
  readonly download: () => void;
  readonly summary: (text: string, failed: number) => void;
}

/** Calls with what is expected of them, judged at every change. */
export class ScenariosPane {
  readonly element: HTMLElement;
  readonly #store: Store;
  readonly #actions: Actions;
  readonly #count = h("p", { class: "count", role: "status" });
  readonly #rows: ScenarioRows;
  #results = new Map<number, Judged>();
  #current: Judged | undefined;
  /** How far the engine is, if it takes long. */
  #progress: string | undefined;

  constructor(store: Store, actions: Actions) {
    this.#store = store;
    this.#actions = actions;
    this.#rows = new ScenarioRows({ open: actions.open, change: (at, change) => this.#change(at, change) });
    this.element = h(
      "div",
      { class: "scenarios" },
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: () => this.#add() }, "Add the call above"),
        h("button", { type: "button", onclick: actions.importFiles }, "Import…"),
        h("button", { type: "button", onclick: actions.download }, "Download"),
        h("button", { type: "button", onclick: () => this.#removeAll() }, "Remove all"),
      ),
      this.#count,
      this.#rows.element,
    );
    store.subscribe((_, changed) => {
      if (changed.has("scenarios")) {
        this.#draw();
      }
    });
    this.#draw();
  }

  /** The verdict about the call, which is expected of it when it is added. */
  judged(judged: Judged): void {
    this.#current = judged;
  }

  /** Many scenarios take a while. */
  trying(done: number, of: number): void {
    this.#progress = `Judging… ${done.toLocaleString("en")} of ${of.toLocaleString("en")}`;
    this.#summarize();
  }

  tried(results: Results): void {
    this.#progress = undefined;
    this.#results = new Map(results);
    this.#draw();
  }

  #add(): void {
    const { call, scenarios } = this.#store.state;
    const verdict = this.#current !== undefined && "verdict" in this.#current ? this.#current.verdict : undefined;
    this.#store.update({ scenarios: [...scenarios, { call, expect: verdict?.decision }] });
    announce("The call is a scenario now");
  }

  #removeAll(): void {
    this.#store.update({ scenarios: [] });
    announce("There are no scenarios any more");
  }

  #change(at: number, change: Partial<Scenario> | undefined): void {
    const { scenarios } = this.#store.state;
    const old = scenarios[at];
    if (old === undefined) {
      return;
    }
    const changed = change === undefined ? [] : [{ ...old, ...change }];
    // The expected outcome of a call does not change its verdict.
    const result = this.#results.get(numberOf(old));
    for (const scenario of result === undefined ? [] : changed) {
      this.#results.set(numberOf(scenario), result as Judged);
    }
    this.#store.update({ scenarios: scenarios.toSpliced(at, 1, ...changed) });
  }

  #draw(): void {
    this.#summarize();
    this.#rows.draw(this.#store.state.scenarios, this.#results);
  }

  #summarize(): void {
    const { scenarios } = this.#store.state;
    const states = scenarios.map((scenario) => stateOf(scenario, this.#results.get(numberOf(scenario))));
    const failed = this.#progress === undefined ? states.filter((state) => state === "unmet").length : 0;
    const met = states.filter((state) => state === "met").length;
    const verdicts = states.includes("none")
      ? "The scenarios cannot be judged"
      : failed === 0
        ? `${met} of ${scenarios.length} as expected`
        : `${failed} of ${scenarios.length} not as expected`;
    const text = this.#progress ?? (scenarios.length === 0 ? "No scenario yet" : verdicts);
    this.#count.textContent = text;
    this.#count.className = failed === 0 ? "count" : "count error";
    this.#actions.summary(text, failed);
  }
}
