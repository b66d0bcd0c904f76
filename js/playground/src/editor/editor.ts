import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, type Diagnostic as Mark, setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import { type ChangeSet, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import type { Diagnostic } from "callgate";
import { type Edit, edited } from "../engine/edit.js";
import { json } from "./language.js";
import { theme } from "./theme.js";

/** How many faults are marked in the text, and how much of a long word. */
const MARKED = 1000;
const MARK = 1000;

interface Options {
  readonly label: string;
  readonly change: (text: string) => void;
  readonly extensions?: readonly Extension[];
}

/**
 * An editor for one text, or for several that are shown in turn. It stands in a shadow root, where CodeMirror adopts style
 * sheets; in the page itself it would add elements that the content security policy forbids.
 */
export class Editor {
  readonly #view: EditorView;
  readonly #extensions: readonly Extension[];
  readonly #kept = new Map<string, EditorState>();
  /** The texts, by their names, in which something is marked. */
  readonly #marked = new Set<string>();
  #shown = "";
  /** The text that is shown, which a long document takes long to put together. */
  #text = "";
  #isWriting = false;

  constructor(parent: HTMLElement, { label, change, extensions = [] }: Options) {
    this.#extensions = [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      bracketMatching(),
      closeBrackets(),
      search({ top: true }),
      indentUnit.of("  "),
      EditorView.lineWrapping,
      json,
      theme,
      // Tab leaves the editor, as it leaves every field of the page.
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...searchKeymap,
        ...lintKeymap,
      ]),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      EditorView.updateListener.of(({ docChanged, changes }) => {
        if (docChanged && !this.#isWriting) {
          this.#text = changed(this.#text, changes);
          change(this.#text);
        }
      }),
      ...extensions,
    ];
    const root = parent.attachShadow({ mode: "open" });
    this.#view = new EditorView({ root, parent: root, state: this.#stateOf("") });
  }

  #stateOf(text: string): EditorState {
    return EditorState.create({ doc: text, extensions: [...this.#extensions] });
  }

  /** Shows a text, with what was undone and selected in it when it was last shown by this name. */
  show(text: string, name = ""): void {
    if (name !== this.#shown) {
      this.#kept.set(this.#shown, this.#view.state);
      this.#shown = name;
      const kept = this.#kept.get(name);
      this.#view.setState(kept?.doc.toString() === text ? kept : this.#stateOf(text));
    } else if (text !== this.#text) {
      this.#isWriting = true;
      this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
      this.#isWriting = false;
    } else {
      return;
    }
    this.#text = this.#view.state.doc.toString();
  }

  /**
   * Marks what is wrong. Faults without a place are marked at the beginning. `opens` returns what is done when a call that shows
   * the fault is asked for.
   */
  mark<Fault extends Diagnostic>(faults: readonly Fault[], opens?: (fault: Fault) => (() => void) | undefined): void {
    if (faults.length > 0) {
      this.#marked.add(this.#shown);
    } else if (!this.#marked.delete(this.#shown)) {
      // An update that changes nothing takes a millisecond, and a verdict waits for it.
      return;
    }
    const offsets = new Offsets();
    const marks = faults.slice(0, MARKED).map((fault) => {
      const open = opens?.(fault);
      const actions = open === undefined ? [] : [{ name: "Open a call that shows it", apply: () => open() }];
      return { ...this.#markOf(fault, offsets), actions };
    });
    this.#view.dispatch(setDiagnostics(this.#view.state, marks));
  }

  #markOf({ line = 1, column = 1, severity, message, help, code }: Diagnostic, offsets: Offsets): Mark {
    const { doc } = this.#view.state;
    const { from, to, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
    const begin = Math.min(from + offsets.of(from, text, column - 1), to);
    const token = /^(?:"(?:[^"\\]|\\.)*"?|[\w.+-]+|.)/u.exec(text.slice(begin - from, begin - from + MARK))?.[0] ?? "";
    return {
      from: begin,
      to: begin + token.length,
      severity,
      source: code,
      message: help ? `${message}\n${help}` : message,
    };
  }

  /** Puts the cursor on a part of the text, and shows it. */
  select(from: number, to: number): void {
    this.#view.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
    });
    this.#view.focus();
  }

  /** The offset of a place in the text. */
  offsetOf({ line = 1, column = 1 }: Pick<Diagnostic, "line" | "column">): number {
    return this.#markOf({ line, column, severity: "error", message: "", code: "", path: "" }, new Offsets()).from;
  }
}

/** Where the characters of lines are. Faults of one line are looked for from the one before on, not from its beginning each time. */
class Offsets {
  readonly #reached = new Map<number, { readonly count: number; readonly offset: number }>();

  /** The offset in a line behind so many characters: a column counts characters, an offset two for those of no basic plane. */
  of(line: number, text: string, count: number): number {
    const known = this.#reached.get(line);
    const reached = known !== undefined && known.count <= count ? known : { count: 0, offset: 0 };
    let { offset } = reached;
    for (let at = reached.count; at < count && offset < text.length; at += 1) {
      offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
    }
    this.#reached.set(line, { count, offset });
    return offset;
  }
}

/** The text after the changes. */
function changed(text: string, changes: ChangeSet): string {
  const edits: Edit[] = [];
  changes.iterChanges((from, to, _from, _to, inserted) => edits.unshift({ from, to, insert: inserted.toString() }));
  // From the last to the first, so that places stay what they are.
  return edits.reduce(edited, text);
}
