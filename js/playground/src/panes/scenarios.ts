import { announce, fill, h } from "../dom.js";
import type { Judged } from "../engine/protocol.js";
import { EXPECTATIONS, type Expectation, meets, type Scenario, type Store } from "../state.js";
import { callTitle } from "./call-title.js";
import { badge } from "./verdict.js";

/** How many rows are drawn; all of them are judged. */
const ROWS_SHOWN = 500;

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
  readonly #rows = h("tbody");
  #results: readonly Judged[] = [];
  #current: Judged | undefined;

  constructor(store: Store, actions: Actions) {
    this.#store = store;
    this.#actions = actions;
    const head = ["Call", "Expected", "Verdict", ""].map((name) =>
      name === "" ? h("td", {}) : h("th", { scope: "col" }, name),
    );
    this.element = h(
      "div",
      { class: "scenarios" },
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: () => this.#add() }, "Add the call above"),
        h("button", { type: "button", onclick: actions.importFiles }, "Import…"),
        h("button", { type: "button", onclick: actions.download }, "Download"),
      ),
      this.#count,
      h(
        "div",
        { class: "table", tabindex: "0", role: "region", "aria-label": "Scenarios" },
        h("table", {}, h("thead", {}, h("tr", {}, head)), this.#rows),
      ),
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

  tried(results: readonly Judged[]): void {
    this.#results = results;
    this.#draw();
  }

  #add(): void {
    const { call, scenarios } = this.#store.state;
    const verdict = this.#current !== undefined && "verdict" in this.#current ? this.#current.verdict : undefined;
    this.#store.update({ scenarios: [...scenarios, { call, expect: verdict?.decision }] });
    announce("The call is a scenario now");
  }

  #change(at: number, change: Partial<Scenario> | undefined): void {
    const { scenarios } = this.#store.state;
    const changed = scenarios.flatMap((one, index) =>
      index !== at ? [one] : change === undefined ? [] : [{ ...one, ...change }],
    );
    this.#store.update({ scenarios: changed });
  }

  #draw(): void {
    const { scenarios } = this.#store.state;
    const states = scenarios.map((scenario, at) => stateOf(scenario, this.#results[at]));
    const failed = states.filter((state) => state === "unmet").length;
    const met = states.filter((state) => state === "met").length;
    const text =
      scenarios.length === 0
        ? "No scenario yet"
        : states.includes("none")
          ? "The scenarios cannot be judged"
          : failed === 0
            ? `${met} of ${scenarios.length} as expected`
            : `${failed} of ${scenarios.length} not as expected`;
    this.#count.textContent = text;
    this.#count.className = failed === 0 ? "count" : "count error";
    this.#actions.summary(text, failed);
    const focused = this.#focused();
    fill(
      this.#rows,
      scenarios.slice(0, ROWS_SHOWN).map((scenario, at) => this.#row(scenario, at, states[at] ?? "open")),
    );
    if (focused !== undefined) {
      this.#rows.querySelector<HTMLElement>(focused)?.focus();
    }
  }

  /** What has the focus in the table, which is drawn anew. */
  #focused(): string | undefined {
    const active = document.activeElement;
    const name = active instanceof HTMLElement && this.#rows.contains(active) ? active.dataset.name : undefined;
    return name === undefined ? undefined : `[data-name="${name}"]`;
  }

  #row(scenario: Scenario, at: number, state: string): HTMLElement {
    const { call, name, expect, rule, world, recording } = scenario;
    const result = this.#results[at];
    const title = callTitle(call);
    const options = ["", ...EXPECTATIONS].map((one) =>
      h("option", { value: one, selected: one === (expect ?? "") }, one === "" ? "anything" : one),
    );
    const choose = (event: Event) => {
      const { value } = event.target as HTMLSelectElement;
      this.#change(at, { expect: value === "" ? undefined : (value as Expectation) });
    };
    return h(
      "tr",
      { class: state },
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          { type: "button", class: "text", "data-name": `open-${at}`, onclick: () => this.#actions.open(call) },
          title,
        ),
        name !== undefined && h("small", {}, name),
        recording !== undefined && h("small", {}, "judged with the answers that were recorded"),
        world !== undefined && h("small", {}, "judged on a machine of its own"),
      ),
      h(
        "td",
        {},
        h("select", { "aria-label": `Expected of ${title}`, "data-name": `expect-${at}`, onchange: choose }, options),
        rule !== undefined && h("small", {}, `by ${rule}`),
      ),
      h("td", {}, verdictOf(result), state === "unmet" && h("strong", { class: "error" }, " not as expected")),
      h(
        "td",
        {},
        h(
          "button",
          {
            type: "button",
            class: "icon",
            "data-name": `remove-${at}`,
            "aria-label": `Remove ${title}`,
            onclick: () => this.#change(at, undefined),
          },
          "✕",
        ),
      ),
    );
  }
}

function stateOf({ expect, rule }: Scenario, result: Judged | undefined): "open" | "none" | "met" | "unmet" {
  if (result === undefined) {
    return "open";
  }
  if (!("verdict" in result)) {
    return result.faults.some(({ code }) => code === "not-ready") ? "none" : "unmet";
  }
  const { decision, rule: found } = result.verdict;
  return (expect === undefined || meets(decision, expect)) && (rule === undefined || rule === found) ? "met" : "unmet";
}

function verdictOf(result: Judged | undefined): Node[] {
  if (result === undefined) {
    return [];
  }
  if (!("verdict" in result)) {
    return [h("span", { class: "error" }, result.faults[0]?.message ?? "no verdict")];
  }
  return [badge(result.verdict.decision), h("small", {}, result.verdict.rule)];
}
