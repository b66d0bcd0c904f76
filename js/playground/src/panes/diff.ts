import type { DecidedBy, PolicyDiff, ToolChanges, VerdictChange } from "callgate/tools";
import { Analyst } from "../analysis/analyst.js";
import { described } from "../analysis/nodes.js";
import type { Told } from "../analysis/protocol.js";
import { announce, fill, h } from "../dom.js";
import { importFiles } from "../files/import.js";
import { readFiles } from "../files/read.js";
import type { Store } from "../state.js";
import { badge } from "./verdict.js";

/** How many changes of one kind are listed for a tool. */
const LISTED = 200;

/** The ways in which verdicts change, with the sign and the words of each. */
const WAYS = [
  ["looser", "↓", "Looser: judged less strictly than before"],
  ["stricter", "↑", "Stricter: judged more strictly than before"],
  ["otherRule", "=", "The same, by another rule"],
] as const;

/** The changes between two bundles: the one that was kept, and the present one. */
export class DiffPane {
  readonly element: HTMLElement;
  readonly #store: Store;
  readonly #open: (call: string) => void;
  readonly #analyst = new Analyst();
  readonly #forget: HTMLButtonElement;
  readonly #status = h("p", { class: "count", role: "status" });
  readonly #body = h("div", { class: "diff-body" });
  #isShown = false;

  constructor(store: Store, open: (call: string) => void) {
    this.#store = store;
    this.#open = open;
    const file = h("input", { type: "file", id: "before-file", multiple: true, accept: ".json,.jsonc", hidden: true });
    file.addEventListener("change", async () => {
      await this.#load([...(file.files ?? [])]);
      file.value = "";
    });
    this.#forget = h("button", { type: "button", onclick: () => store.update({ before: undefined }) }, "Forget");
    const button = (text: string, onclick: () => void) => h("button", { type: "button", onclick }, text);
    this.element = h(
      "div",
      { class: "diff" },
      h(
        "div",
        { class: "actions" },
        button("Set as baseline", () => this.#keep()),
        button("Load a baseline…", () => file.click()),
        this.#forget,
        file,
      ),
      this.#status,
      this.#body,
    );
    store.subscribe((_, changed) => {
      if (this.#isShown && (changed.has("files") || changed.has("machine") || changed.has("before"))) {
        this.#compare(!changed.has("before"));
      }
    });
  }

  /** The comparison is looked at, or not any more. */
  look(isShown: boolean): void {
    this.#isShown = isShown;
    if (isShown) {
      this.#compare(false);
    } else {
      this.#analyst.stop();
    }
  }

  #keep(): void {
    this.#store.update({ before: this.#store.state.files });
    announce("The present documents are the baseline: change them, and see what becomes looser or stricter");
  }

  /** Documents without a bundle replace those of the present one, as a policy alone does for the command. */
  async #load(chosen: readonly File[]): Promise<void> {
    const given = await readFiles(chosen);
    if (given === undefined) {
      return;
    }
    const { files } = this.#store.state;
    const { change, said } = importFiles(given, this.#store.state);
    if (change.files !== undefined && change.files !== files) {
      this.#store.update({ before: change.files });
    }
    announce(said.replace(/^Imported/, "The baseline:"));
  }

  #compare(isSoon: boolean): void {
    const { before } = this.#store.state;
    this.#forget.disabled = before === undefined;
    if (before === undefined) {
      this.#analyst.stop();
      fill(this.#body);
      this.#status.className = "quiet";
      this.#status.textContent =
        "Set the present documents as the baseline, or load one, to see what changes compared with it.";
      return;
    }
    this.#status.className = "count";
    this.#status.textContent = "Comparing all calls…";
    this.element.setAttribute("aria-busy", "true");
    const hear = (told: Told): void => {
      this.element.setAttribute("aria-busy", "false");
      if (told.kind === "diff") {
        this.#draw(told.diff);
      } else if (told.kind === "failed") {
        fill(this.#body);
        this.#status.textContent = `There is no comparison: ${told.message}`;
      }
    };
    const ask = isSoon ? this.#analyst.askSoon : this.#analyst.ask;
    ask.call(this.#analyst, { kind: "diff", before }, this.#store.state, hear);
  }

  #draw({ tools, equal, looser, stricter, otherRule, unknown }: PolicyDiff): void {
    const counts = [
      looser > 0 && `${looser} looser`,
      stricter > 0 && `${stricter} stricter`,
      otherRule > 0 && `${otherRule} by another rule`,
      unknown > 0 && `${unknown} not known`,
    ];
    this.#status.textContent = equal
      ? "Equal: both judge every call alike."
      : counts.filter((count) => count !== false).join(", ");
    fill(
      this.#body,
      tools.map((tool) => this.#tool(tool)),
    );
  }

  #tool(tool: ToolChanges): HTMLElement {
    const { serverName, toolName, unknown } = tool;
    return h(
      "section",
      { class: "changes" },
      h("h2", { class: "argument" }, `${serverName}/${toolName}`),
      WAYS.map(([way, sign, words]) => {
        const changes = tool[way];
        return (
          changes.length > 0 &&
          h(
            "details",
            { class: `change-list ${way}`, open: way !== "otherRule" },
            h(
              "summary",
              {},
              h("span", { class: "sign", "aria-hidden": "true" }, `${sign} `),
              `${words} (${changes.length})`,
            ),
            h(
              "ul",
              {},
              changes.slice(0, LISTED).map((change) => this.#change(tool, change)),
            ),
            changes.length > LISTED && h("p", { class: "quiet" }, `and ${changes.length - LISTED} more`),
          )
        );
      }),
      unknown.length > 0 &&
        h(
          "div",
          { class: "change-list unknown" },
          h(
            "h3",
            {},
            h("span", { class: "sign", "aria-hidden": "true" }, "?"),
            "Not known: the regions are not exact there",
          ),
          h(
            "ul",
            {},
            unknown.map((why) => h("li", {}, why)),
          ),
        ),
    );
  }

  #change({ serverName, toolName }: ToolChanges, change: VerdictChange): HTMLElement {
    const { when = [], places, before, after, arguments: args, context } = change;
    const call = JSON.stringify({ serverName, toolName, arguments: args, context }, null, 2);
    const isAll = places.every(({ roles }) => roles.length === 0) && when.length === 0;
    const what = isAll && places.length === 0 ? "every call" : described(places);
    const condition = when.length === 0 ? "" : `; where ${described(when)}`;
    return h(
      "li",
      {},
      h("p", {}, what, condition),
      h("p", { class: "from-to" }, judged(before), h("span", {}, " → "), judged(after)),
      h("button", { type: "button", class: "text", onclick: () => this.#open(call) }, "Open such a call"),
    );
  }
}

function judged({ decision, rule }: DecidedBy): HTMLElement {
  return h("span", {}, badge(decision), " ", h("code", {}, rule));
}
