import { fill, h } from "../dom.js";
import { Editor } from "../editor/editor.js";
import type { Judged, Tool } from "../engine/protocol.js";
import type { Store } from "../state.js";
import { CallForm } from "./call-form.js";

/** The call, as a form or as JSON. Both write the same text. */
export class CallPane {
  readonly element: HTMLElement;
  readonly #store: Store;
  readonly #form: CallForm;
  readonly #editor: Editor;
  readonly #json = h("div", { class: "editor small" });
  readonly #sent = h("div", { class: "sent" });
  #isForm = true;

  constructor(store: Store) {
    this.#store = store;
    this.#form = new CallForm(store);
    this.#editor = new Editor(this.#json, {
      label: "Call as JSON",
      change: (text) => store.update({ call: text }, this),
    });
    const choice = (label: string, isForm: boolean) =>
      h("button", { type: "button", "aria-pressed": String(isForm), onclick: () => this.#choose(isForm) }, label);
    const choices = h("div", { class: "files", role: "group", "aria-label": "How the call is written" });
    choices.append(choice("Form", true), choice("JSON", false));
    this.element = h("div", { class: "call" }, choices, this.#form.element, this.#json, this.#sent);
    this.#choices = choices;
    this.#choose(true);
    store.subscribe((state, changed, source) => {
      if (changed.has("call") && source !== this) {
        this.#editor.show(state.call);
      }
    });
    this.#editor.show(store.state.call);
  }

  readonly #choices: HTMLElement;

  #choose(isForm: boolean): void {
    this.#isForm = isForm;
    this.#form.element.hidden = !isForm;
    this.#json.hidden = isForm;
    for (const [at, button] of [...this.#choices.children].entries()) {
      button.setAttribute("aria-pressed", String((at === 0) === isForm));
    }
    if (isForm) {
      this.#form.draw();
    } else {
      this.#editor.show(this.#store.state.call);
    }
  }

  /** Takes the annotations of the tools. */
  describe(tools: readonly Tool[]): void {
    this.#form.describe(tools);
  }

  /** Puts a path into the call's first argument that takes one. */
  use(path: string): void {
    this.#form.use(path);
  }

  /** Shows the arguments that would be sent, and the faults of the text. */
  judged(judged: Judged): void {
    const faults = "faults" in judged ? judged.faults.filter(({ path }) => /^call\b/.test(path)) : [];
    this.#editor.mark(faults);
    if (faults.length > 0 && this.#isForm) {
      this.#form.draw();
    }
    const sent = "sent" in judged ? judged.sent : undefined;
    const details = h("details", {}, h("summary", {}, "What the server gets"), h("pre", { tabindex: "0" }, sent ?? ""));
    const wasOpen = this.#sent.querySelector("details")?.open ?? false;
    details.open = wasOpen;
    fill(this.#sent, sent === undefined ? undefined : details);
  }
}
