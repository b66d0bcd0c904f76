import { h } from "../dom.js";
import type { Judged, Results } from "../engine/protocol.js";
import { numberOf } from "../scenario-numbers.js";
import { EXPECTATIONS, type Expectation, type Scenario } from "../state.js";
import { callTitle } from "./call-title.js";
import { type ScenarioState, stateOf } from "./scenario-state.js";
import { badge } from "./verdict.js";

/** How many rows are drawn; all of them are judged. */
const ROWS_SHOWN = 500;

interface Actions {
  readonly open: (call: string) => void;
  /** Changes a scenario by its place in the list, or removes it. */
  readonly change: (at: number, change: Partial<Scenario> | undefined) => void;
}

interface Row {
  /** Everything that the row shows. */
  readonly shows: string;
  readonly element: HTMLElement;
}

/** The table of the scenarios. A narrow page stacks the cells, so the roles of a table are written out. */
export class ScenarioRows {
  readonly element: HTMLElement;
  readonly #actions: Actions;
  readonly #body = h("tbody", { role: "rowgroup" });
  readonly #more = h("p", { class: "quiet" });
  #rows: ReadonlyMap<number, Row> = new Map();

  constructor(actions: Actions) {
    this.#actions = actions;
    const head = ["Call", "Expected", "Verdict"].map((name) => h("th", { scope: "col", role: "columnheader" }, name));
    const row = h("tr", { role: "row" }, head, h("td", { role: "cell" }));
    this.element = h(
      "div",
      {},
      h(
        "div",
        { class: "table", tabindex: "0", role: "region", "aria-label": "Scenarios" },
        h("table", { role: "table" }, h("thead", { role: "rowgroup" }, row), this.#body),
      ),
      this.#more,
    );
  }

  /** Draws what changed: a row that stays keeps the focus and what is being typed into it. */
  draw(scenarios: readonly Scenario[], results: Results): void {
    const rows = scenarios.slice(0, ROWS_SHOWN).map((scenario, at) => {
      const number = numberOf(scenario);
      const result = results.get(number);
      const shows = JSON.stringify([at, result]);
      const known = this.#rows.get(number);
      const isSame = known?.shows === shows;
      return [number, isSame ? known : { shows, element: this.#row(scenario, at, result) }] as const;
    });
    const focused = this.#focused();
    this.#rows = new Map(rows);
    const elements = [...this.#rows.values()].map(({ element }) => element);
    const kept = new Set(elements);
    for (const element of [...this.#body.children]) {
      if (!kept.has(element as HTMLElement)) {
        element.remove();
      }
    }
    for (const [at, element] of elements.entries()) {
      if (this.#body.children[at] !== element) {
        this.#body.insertBefore(element, this.#body.children[at] ?? null);
      }
    }
    if (focused !== undefined && this.#focused() === undefined) {
      this.#body.querySelector<HTMLElement>(focused)?.focus();
    }
    const more = scenarios.length - ROWS_SHOWN;
    this.#more.textContent = more > 0 ? `and ${more.toLocaleString("en")} more, which are judged too` : "";
  }

  /** The key of the focused element in the table. */
  #focused(): string | undefined {
    const active = document.activeElement;
    const name = active instanceof HTMLElement && this.#body.contains(active) ? active.dataset.name : undefined;
    return name === undefined ? undefined : `[data-name="${name}"]`;
  }

  #row(scenario: Scenario, at: number, result: Judged | undefined): HTMLElement {
    const { call, expect, world, recording } = scenario;
    const state = stateOf(scenario, result);
    const title = callTitle(call);
    const options = ["", ...EXPECTATIONS].map((one) =>
      h("option", { value: one, selected: one === (expect ?? "") }, one === "" ? "anything" : one),
    );
    const choose = (event: Event) => {
      const { value } = event.target as HTMLSelectElement;
      this.#actions.change(at, { expect: value === "" ? undefined : (value as Expectation) });
    };
    const open = () => this.#actions.open(call);
    const remove = () => this.#actions.change(at, undefined);
    return h(
      "tr",
      { class: state, role: "row" },
      h(
        "th",
        { scope: "row", role: "rowheader" },
        h("button", { type: "button", class: "text", "data-name": `open-${at}`, onclick: open }, title),
        this.#text(scenario, at, "name", `Name of ${title}`, "add a name"),
        recording !== undefined && h("small", {}, "judged with the answers that were recorded"),
        world !== undefined && h("small", {}, "judged on a machine of its own"),
      ),
      h(
        "td",
        { role: "cell" },
        h("select", { "aria-label": `Expected of ${title}`, "data-name": `expect-${at}`, onchange: choose }, options),
        this.#text(scenario, at, "rule", `Rule expected of ${title}`, "by any rule"),
      ),
      h("td", { role: "cell" }, verdictOf(result, state)),
      h(
        "td",
        { role: "cell" },
        h(
          "button",
          {
            type: "button",
            class: "icon",
            "data-name": `remove-${at}`,
            "aria-label": `Remove ${title}`,
            onclick: remove,
          },
          "✕",
        ),
      ),
    );
  }

  /** A text of a scenario, which is written where it stands. */
  #text(scenario: Scenario, at: number, key: "name" | "rule", label: string, placeholder: string): HTMLElement {
    const old = scenario[key] ?? "";
    const blur = (event: Event) => {
      const text = (event.target as HTMLElement).textContent?.trim() ?? "";
      if (text !== old) {
        // First what is next gets the focus, which it keeps when the row is drawn anew.
        setTimeout(() => this.#actions.change(at, { [key]: text === "" ? undefined : text }));
      }
    };
    const keydown = (event: KeyboardEvent) => {
      if (event.key === "Enter") {
        event.preventDefault();
        (event.target as HTMLElement).blur();
      }
    };
    const attributes = { contenteditable: "plaintext-only", role: "textbox", tabindex: "0", spellcheck: "false" };
    return h(
      "span",
      {
        ...attributes,
        class: "plain",
        "aria-label": label,
        "data-placeholder": placeholder,
        "data-name": `${key}-${at}`,
        onblur: blur,
        onkeydown: keydown,
      },
      old,
    );
  }
}

function verdictOf(result: Judged | undefined, state: ScenarioState): Node[] {
  if (result === undefined) {
    return [];
  }
  const unmet = state === "unmet" ? [h("strong", { class: "error" }, " not as expected")] : [];
  if (!("verdict" in result)) {
    return [h("span", { class: "error" }, result.faults[0]?.message ?? "no verdict"), ...unmet];
  }
  return [badge(result.verdict.decision), h("small", {}, result.verdict.rule), ...unmet];
}
