import type { Machine } from "callgate";
import { fill, h } from "../dom.js";
import { Editor } from "../editor/editor.js";
import type { Store } from "../state.js";
import { parseStrictly } from "../strict.js";
import { EntryForm } from "./entry-form.js";
import { type Entry, treeOf } from "./machine-tree.js";
import { TreeView } from "./tree-view.js";

/** The machine that calls are judged on, as a tree or as JSON. */
export class MachinePane {
  readonly element: HTMLElement;
  readonly #store: Store;
  readonly #tree: TreeView;
  readonly #form: EntryForm;
  readonly #editor: Editor;
  readonly #drawn: HTMLElement;
  readonly #json = h("div", { class: "editor" });
  readonly #fault = h("p", { class: "error", role: "status" });
  readonly #choices: readonly HTMLButtonElement[];

  constructor(store: Store, usePath: (path: string) => void) {
    this.#store = store;
    const write = (machine: Machine): void => store.update({ machine: JSON.stringify(machine, null, 2) }, "tree");
    this.#form = new EntryForm(write, (path) => this.#tree.select(path), usePath);
    this.#tree = new TreeView((entry) => this.#select(entry));
    this.#drawn = h("div", { class: "machine" }, this.#tree.element, this.#form.element);
    this.#editor = new Editor(this.#json, {
      label: "Machine as JSON",
      change: (text) => store.update({ machine: text }, this),
    });
    this.#choices = [true, false].map((isTree) =>
      h("button", { type: "button", onclick: () => this.#choose(isTree) }, isTree ? "Tree" : "JSON"),
    );
    const choices = h(
      "div",
      { class: "files", role: "group", "aria-label": "How the machine is shown" },
      this.#choices,
    );
    this.element = h("div", { class: "pane" }, choices, this.#fault, this.#drawn, this.#json);
    store.subscribe((_, changed, source) => {
      if (changed.has("machine")) {
        this.#draw(source !== this);
      }
    });
    this.#choose(true);
    this.#draw(true);
  }

  /** Shows why the machine cannot be one. */
  diagnose(fault: string | undefined): void {
    this.#fault.textContent = fault ?? "";
  }

  #choose(isTree: boolean): void {
    this.#drawn.hidden = !isTree;
    this.#json.hidden = isTree;
    this.#choices[0]?.setAttribute("aria-pressed", String(isTree));
    this.#choices[1]?.setAttribute("aria-pressed", String(!isTree));
    this.#tree.drawLinks();
  }

  #draw(isText: boolean): void {
    if (isText) {
      this.#editor.show(this.#store.state.machine);
    }
    const machine = this.#read();
    if (machine !== undefined) {
      this.#tree.show(treeOf(machine));
    }
  }

  #select(entry: Entry): void {
    const machine = this.#read();
    if (machine !== undefined) {
      this.#form.show(machine, entry);
    }
  }

  /** The machine, if the text is one. */
  #read(): Machine | undefined {
    try {
      const machine = parseStrictly(this.#store.state.machine) as Machine;
      treeOf(machine);
      return machine;
    } catch {
      return undefined;
    }
  }

  /** Draws what depends on being shown. */
  shown(): void {
    fill(this.#fault, this.#fault.textContent ?? "");
    this.#tree.drawLinks();
  }
}
