import { announce, byId, h } from "./dom.js";
import { startEngine } from "./engine/client.js";
import type { Answer, Tool } from "./engine/protocol.js";
import { EXAMPLES } from "./examples/index.js";
import { scenarioLines } from "./files/bundle.js";
import { download } from "./files/download.js";
import { keepOnLeaving, keptState } from "./kept.js";
import { BundlePane } from "./panes/bundle.js";
import { CallPane } from "./panes/call.js";
import { DiffPane } from "./panes/diff.js";
import { ExplanationPane } from "./panes/explanation.js";
import { MachinePane } from "./panes/machine.js";
import { MapPane } from "./panes/map.js";
import { RuleCard } from "./panes/rule-card.js";
import { ScenariosPane } from "./panes/scenarios.js";
import { VerdictPane } from "./panes/verdict.js";
import { type State, Store } from "./state.js";
import { Tabs } from "./tabs.js";
import { startTheme } from "./theme.js";
import { connect, linkedState } from "./top.js";

/** Shows the page, and connects it with the engine. */
export async function start(worker: Worker): Promise<void> {
  startTheme(byId("theme"));
  const kept = keptState();
  const store = new Store(kept ?? (await initial()));
  const first = store.state;
  // The kept state is on no other page.
  keepOnLeaving(
    () => store.state,
    () => kept !== undefined || store.state !== first,
  );
  const panes = makePanes(store);
  connect(store);
  startEngine(worker, store, listener(panes), (message) => panes.verdict.fail(message));
}

/** The parts of the page that show answers of the engine. */
type Panes = ReturnType<typeof makePanes>;

/** Makes the panes and puts them into the page. */
function makePanes(store: Store) {
  let trial: Tabs | undefined;
  const verdict = new VerdictPane();
  const call = new CallPane(store);
  const openCall = (text: string): void => {
    store.update({ call: text });
    const isHidden = byId("panel-call").hidden;
    trial?.show("call");
    if (isHidden) {
      // The focused element may be hidden now; from here the arrow keys lead back.
      byId("tab-call").focus();
    }
    call.element.scrollIntoView({ block: "nearest" });
  };
  const bundle = new BundlePane(store, openCall);
  const map = new MapPane(store, openCall);
  const diff = new DiffPane(store, openCall);
  const card = new RuleCard(
    store,
    (file, from, to) => {
      documents.show("bundle");
      bundle.reveal(file, from, to);
    },
    openCall,
  );
  const explanation = new ExplanationPane(card);
  const machine = new MachinePane(store, (path) => call.use(path));
  const scenarios = new ScenariosPane(store, {
    open: openCall,
    importFiles: () => byId("file").click(),
    download: () => downloadScenarios(store),
    summary: (text, failed) => {
      const [, count = text, rest = ""] = /^(\d[\d,]* of \d[\d,]*)(.*)$/.exec(text) ?? [];
      const tag = h("span", { class: failed > 0 ? "tag error" : "tag" }, count, onWide(rest));
      trial?.label("scenarios", "Scenarios ", tag);
    },
  });
  const panel = (...children: Node[]) => h("div", { class: "panel" }, children);
  const documents = new Tabs("Documents", [
    { id: "bundle", label: "Bundle", panel: panel(bundle.element) },
    { id: "machine", label: "Machine", panel: panel(machine.element) },
  ]);
  trial = new Tabs("Trial", [
    { id: "call", label: "Call", panel: panel(call.element, explanation.element) },
    { id: "map", label: "Map", panel: panel(map.element) },
    { id: "diff", label: "Diff", panel: panel(diff.element) },
    { id: "scenarios", label: "Scenarios", panel: panel(scenarios.element) },
  ]);
  byId("documents").replaceChildren(bar(documents, "trial", "↓", "Trial"), ...documents.panels);
  byId("trial").replaceChildren(bar(trial, "documents", "↑", "Documents"), ...trial.panels);
  byId("documents").before(verdict.element);
  byId("panel-machine").addEventListener("shown", () => machine.shown());
  for (const [id, pane] of [
    ["panel-map", map],
    ["panel-diff", diff],
  ] as const) {
    byId(id).addEventListener("shown", () => pane.look(true));
    byId(id).addEventListener("left", () => pane.look(false));
  }
  return { verdict, bundle, machine, call, map, explanation, card, scenarios };
}

/** Shows the answers of the engine. A verdict is on the screen before the rest is drawn, which may take longer. */
function listener(panes: Panes): (answer: Answer) => void {
  const show = shows(panes);
  const waiting: Answer[] = [];
  /** How many verdicts are in the page and not on the screen yet. */
  let unseen = 0;
  const catchUp = (): void => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      show(next);
    }
  };
  return (answer) => {
    if (answer.kind === "judged") {
      // What came before this verdict is shown before it.
      catchUp();
      unseen += 1;
      afterFrame(() => {
        unseen -= 1;
        if (unseen === 0) {
          catchUp();
        }
      });
    } else if (unseen > 0) {
      waiting.push(answer);
      return;
    }
    show(answer);
  };
}

/** Calls the function once what is in the page is on the screen. Of a page that nobody sees, that is when somebody does. */
function afterFrame(call: () => void): void {
  requestAnimationFrame(() => setTimeout(call));
}

function shows(panes: Panes): (answer: Answer) => void {
  let tools: readonly Tool[] = [];
  return (answer) => {
    switch (answer.kind) {
      case "failed":
        panes.verdict.fail(answer.message);
        break;
      case "built":
        panes.bundle.diagnose(answer.diagnostics);
        panes.machine.diagnose(answer.machineFault);
        // While a document is being written the form stays what it was.
        tools = answer.tools ?? tools;
        if (tools.length > 0 || answer.diagnostics.every(({ severity }) => severity !== "error")) {
          panes.call.describe(tools);
          panes.map.describe(tools);
        }
        break;
      case "judged":
        panes.verdict.show(answer.judged);
        panes.call.judged(answer.judged);
        panes.scenarios.judged(answer.judged);
        break;
      case "explained":
        panes.explanation.show(answer.explained);
        break;
      case "trying":
        panes.scenarios.trying(answer.done, answer.of);
        return;
      case "tried":
        panes.card.tried(answer.results);
        panes.scenarios.tried(answer.results);
        break;
    }
    performance.mark(answer.kind);
  };
}

/** The tabs, and, on a narrow page, the way to the other half of it. */
function bar(tabs: Tabs, other: "trial" | "documents", arrow: string, label: string): HTMLElement {
  const jump = (): void => {
    const section = byId(other);
    // The verdict stays at the top of a narrow page.
    section.style.scrollMarginBlockStart = `${document.querySelector(".verdict")?.clientHeight ?? 0}px`;
    section.scrollIntoView();
    section.querySelector<HTMLElement>('[role="tab"][tabindex="0"]')?.focus({ preventScroll: true });
  };
  return h(
    "div",
    { class: "bar" },
    tabs.bar,
    h("button", { type: "button", class: "jump", onclick: jump }, arrow, onWide(` ${label}`)),
  );
}

/** Words that a phone has no room for. They are read aloud all the same. */
function onWide(text: string): HTMLElement {
  return h("span", { class: "on-wide" }, text);
}

/** Gives the person the scenarios, and says which are not among them. */
function downloadScenarios(store: Store): void {
  const { text, leftOut } = scenarioLines(store.state.scenarios);
  download("scenarios.jsonl", text);
  if (leftOut > 0) {
    const what = leftOut === 1 ? "1 scenario is" : `${leftOut.toLocaleString("en")} scenarios are`;
    announce(`${what} not in the file: the machine or the recording is not JSON`);
  }
}

/** The state in the link, or the first example. */
async function initial(): Promise<State> {
  const shared = await linkedState();
  if (shared !== undefined) {
    return shared;
  }
  const [first] = EXAMPLES;
  if (first === undefined) {
    throw new Error("there is no example");
  }
  return first.load();
}
