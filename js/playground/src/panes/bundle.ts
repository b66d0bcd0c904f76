import type { Diagnostic } from "callgate";
import type { PolicyFinding } from "callgate/tools";
import { Analyst } from "../analysis/analyst.js";
import { keyOf, namedIn } from "../documents.js";
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
  readonly #openCall: (call: string) => void;
  readonly #analyst = new Analyst();
  readonly #lint = h(
    "button",
    {
      type: "button",
      "aria-pressed": "false",
      title: "Look at all calls for rules that decide nothing, and other doubts",
      onclick: () => this.#toggle(),
    },
    "Lint",
  );
  /** The findings of the lint; `undefined` if it is off, a text while there is no answer. */
  #findings: readonly PolicyFinding[] | string | undefined;

  constructor(store: Store, openCall: (call: string) => void) {
    this.#store = store;
    this.#openCall = openCall;
    const host = h("div", { class: "editor" });
    this.element = h("div", { class: "pane" }, this.#files, host, this.#problems);
    this.#editor = new Editor(host, {
      label: "Text of the bundle",
      change: (text) => store.update({ files: { ...store.state.files, [this.#file]: text } }, this),
      extensions: [schemaHelp(() => keyOf(store.state.files, this.#file))],
    });
    store.subscribe((_, changed, source) => {
      if (this.#findings !== undefined && (changed.has("files") || changed.has("machine"))) {
        this.#look(true);
      }
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
    this.#drawProblems();
  }

  /** Lint is on until it is switched off: what it finds follows the text. */
  #toggle(): void {
    const isOn = this.#findings === undefined;
    this.#lint.setAttribute("aria-pressed", String(isOn));
    if (isOn) {
      this.#look(false);
    } else {
      this.#analyst.stop();
      this.#findings = undefined;
    }
    this.#drawProblems();
  }

  #look(isSoon: boolean): void {
    this.#findings = "looking at all calls…";
    const ask = isSoon ? this.#analyst.askSoon : this.#analyst.ask;
    ask.call(this.#analyst, { kind: "lint" }, this.#store.state, (told) => {
      if (told.kind === "findings") {
        this.#findings = told.findings;
      } else if (told.kind === "failed") {
        this.#findings = "there is no answer, since the documents have faults";
      }
      this.#drawProblems();
    });
  }

  /** The engine's diagnostics, and the findings that only the lint has. */
  #all(): readonly PolicyFinding[] {
    const known = new Set(this.#diagnostics.map(({ code, path }) => `${code} ${path}`));
    const findings = typeof this.#findings === "object" ? this.#findings : [];
    return [...this.#diagnostics, ...findings.filter(({ code, path }) => !known.has(`${code} ${path}`))];
  }

  #markProblems(): void {
    const own = this.#all().filter(({ file = BUNDLE }) => file === this.#file);
    this.#editor.mark(own, ({ call }) => (call === undefined ? undefined : () => this.#openWitness(call)));
  }

  #drawProblems(): void {
    this.#markProblems();
    const diagnostics = this.#all();
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    const count = diagnostics.length;
    const title =
      count === 0 ? "No problems" : errors > 0 ? `Problems: ${count}` : `Warnings: ${count}; the bundle is in force`;
    const lint = typeof this.#findings === "string" ? this.#findings : undefined;
    const nothing = this.#findings !== undefined && lint === undefined && count === 0 ? "nothing is doubtful" : lint;
    fill(
      this.#problems,
      h(
        "div",
        { class: "problems-head" },
        h("h2", { class: count === 0 ? "quiet" : errors > 0 ? "error" : "warning" }, title),
        this.#lint,
        nothing !== undefined && h("span", { class: "quiet", role: "status" }, nothing),
      ),
      count > 0 &&
        h(
          "ul",
          {},
          diagnostics.slice(0, PROBLEMS_SHOWN).map((fault) => this.#problem(fault)),
          count > PROBLEMS_SHOWN &&
            h("li", { class: "quiet" }, `and ${(count - PROBLEMS_SHOWN).toLocaleString("en")} more`),
        ),
    );
  }

  #openWitness(call: object): void {
    this.#openCall(JSON.stringify(call, null, 2));
  }

  #problem(fault: PolicyFinding): HTMLElement {
    const { severity, file = BUNDLE, line, column, path, message, help, call } = fault;
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
      call !== undefined &&
        h(
          "button",
          { type: "button", class: "text witness", onclick: () => this.#openWitness(call) },
          "Open a call that shows it",
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
    const names = [...new Set([BUNDLE, ...Object.keys(files), ...namedIn(files).map(({ file }) => file)])];
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
      this.#markProblems();
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
