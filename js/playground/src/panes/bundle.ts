import type { Diagnostic } from "callgate";
import { keyOf, namedFiles } from "../documents.js";
import { fill, h } from "../dom.js";
import { schemaHelp } from "../editor/completion.js";
import { Editor } from "../editor/editor.js";
import { BUNDLE, type Store } from "../state.js";

/** How many problems are listed; a text that is broken may have thousands. */
const PROBLEMS_SHOWN = 100;

/** The texts of the bundle, and what the engine finds wrong with them. */
export class BundlePane {
  readonly element: HTMLElement;
  readonly #store: Store;
  readonly #editor: Editor;
  readonly #files = h("div", { class: "files" });
  readonly #problems = h("div", { class: "problems" });
  #file = BUNDLE;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #diagnostics: readonly Diagnostic[] = [];

  constructor(store: Store) {
    this.#store = store;
    const host = h("div", { class: "editor" });
    this.element = h("div", { class: "pane" }, this.#files, host, this.#problems);
    this.#editor = new Editor(host, {
      label: "Text of the bundle",
      change: (text) => store.update({ files: { ...store.state.files, [this.#file]: text } }, this),
      extensions: [schemaHelp(() => keyOf(store.state.files, this.#file))],
    });
    store.subscribe((_, changed, source) => {
      if (changed.has("files")) {
        if (source === this) {
          this.#drawSoon();
        } else {
          this.#draw(true);
        }
      }
    });
    this.#draw(true);
    this.diagnose([]);
  }

  /** Shows what the engine says of the texts. */
  diagnose(diagnostics: readonly Diagnostic[]): void {
    this.#diagnostics = diagnostics;
    this.#editor.mark(diagnostics.filter(({ file = BUNDLE }) => file === this.#file));
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    const count = diagnostics.length;
    const title =
      count === 0 ? "No problems" : errors > 0 ? `Problems: ${count}` : `Warnings: ${count}; the bundle is in force`;
    fill(
      this.#problems,
      h("h3", { class: count === 0 ? "quiet" : errors > 0 ? "error" : "warning" }, title),
      count > 0 &&
        h(
          "ul",
          {},
          diagnostics.slice(0, PROBLEMS_SHOWN).map((fault) => this.#problem(fault)),
        ),
    );
  }

  #problem(fault: Diagnostic): HTMLElement {
    const { severity, file = BUNDLE, line, column, path, message, help } = fault;
    const place = line === undefined ? file : `${file}:${line}:${column}`;
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: severity, onclick: () => this.#open(fault) },
        h("span", { class: "tag" }, severity),
        h("span", { class: "place" }, place),
        h("span", { class: "message" }, `${path}: ${message}`, help ? h("span", { class: "help" }, help) : undefined),
      ),
    );
  }

  #open(fault: Diagnostic): void {
    this.#show(fault.file ?? BUNDLE);
    const offset = this.#editor.offsetOf(fault);
    this.#editor.select(offset, offset);
  }

  /** Shows a part of a text. */
  reveal(file: string, from: number, to: number): void {
    this.#show(file);
    this.#editor.select(from, to);
  }

  #show(file: string): void {
    if (Object.hasOwn(this.#store.state.files, file)) {
      this.#file = file;
      this.#draw(true);
    }
  }

  /** Which files a long text names is not read at every key. */
  #drawSoon(): void {
    clearTimeout(this.#waiting);
    this.#waiting = setTimeout(() => this.#draw(false), 200);
  }

  #draw(isText: boolean): void {
    const { files } = this.#store.state;
    if (!Object.hasOwn(files, this.#file)) {
      this.#file = BUNDLE;
    }
    const names = [...new Set([BUNDLE, ...Object.keys(files), ...namedFiles(files)])];
    fill(
      this.#files,
      names.map((name) => {
        const isThere = Object.hasOwn(files, name);
        const attributes = { type: "button", "aria-pressed": String(name === this.#file) };
        return isThere
          ? h("button", { ...attributes, onclick: () => this.#show(name) }, name)
          : h("button", { ...attributes, class: "missing", onclick: () => this.#create(name) }, `+ ${name}`);
      }),
    );
    if (isText) {
      this.#editor.show(files[this.#file] ?? "", this.#file);
      this.#editor.mark(this.#diagnostics.filter(({ file = BUNDLE }) => file === this.#file));
    }
  }

  /** Begins a file that the bundle names and that is not there. */
  #create(name: string): void {
    const text = name.includes("annotations")
      ? '{ "servers": {} }\n'
      : name.includes("policy")
        ? '{ "rules": [] }\n'
        : "{}\n";
    this.#store.update({ files: { ...this.#store.state.files, [name]: text } });
    this.#show(name);
  }
}
