import { fill, h } from "./dom.js";

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly panel: HTMLElement;
}

/** Panels of which one is shown. Arrow keys move between the tabs, as the ARIA pattern has it. */
export class Tabs {
  readonly bar: HTMLElement;
  readonly #tabs: readonly Tab[];
  readonly #buttons: readonly HTMLButtonElement[];
  #shown = "";

  constructor(label: string, tabs: readonly Tab[]) {
    this.#tabs = tabs;
    this.#buttons = tabs.map(({ id, label, panel }) => {
      panel.id = `panel-${id}`;
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `tab-${id}`);
      const attributes = { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": panel.id };
      return h("button", { ...attributes, onclick: () => this.show(id) }, label);
    });
    this.bar = h("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: this.#key }, this.#buttons);
    this.show(tabs[0]?.id ?? "");
  }

  get panels(): HTMLElement[] {
    return this.#tabs.map(({ panel }) => panel);
  }

  show(id: string): void {
    this.#shown = id;
    for (const [at, tab] of this.#tabs.entries()) {
      const isShown = tab.id === id;
      if (!isShown && !tab.panel.hidden) {
        tab.panel.dispatchEvent(new Event("left"));
      }
      tab.panel.hidden = !isShown;
      this.#buttons[at]?.setAttribute("aria-selected", String(isShown));
      this.#buttons[at]?.setAttribute("tabindex", isShown ? "0" : "-1");
    }
    this.#tabs.find((tab) => tab.id === id)?.panel.dispatchEvent(new Event("shown"));
  }

  /** Changes what a tab is called. */
  label(id: string, ...label: (Node | string)[]): void {
    const at = this.#tabs.findIndex((tab) => tab.id === id);
    const button = this.#buttons[at];
    if (button !== undefined) {
      fill(button, ...label);
    }
  }

  readonly #key = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) {
      return;
    }
    const at = this.#tabs.findIndex(({ id }) => id === this.#shown);
    const next = (at + step + this.#tabs.length) % this.#tabs.length;
    this.show(this.#tabs[next]?.id ?? "");
    this.#buttons[next]?.focus();
    event.preventDefault();
  };
}
