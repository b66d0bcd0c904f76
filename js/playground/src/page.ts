import { announce, byId, h } from "./dom.js";
import { startEngine } from "./engine/client.js";
import type { Answer, Tool } from "./engine/protocol.js";
import { EXAMPLES } from "./examples/index.js";
import { besideThePage } from "./files/beside.js";
import { oneFile, scenarioLines } from "./files/bundle.js";
import { download } from "./files/download.js";
import { importFiles } from "./files/import.js";
import { readFiles } from "./files/read.js";
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
import { fromFragment, MAX_LINK, toFragment } from "./share.js";
import { type State, Store } from "./state.js";
import { Tabs } from "./tabs.js";
import { startTheme } from "./theme.js";

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
    summary: (text, failed) =>
      trial?.label("scenarios", "Scenarios ", h("span", { class: failed > 0 ? "tag error" : "tag" }, text)),
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
  byId("documents").replaceChildren(bar(documents, "trial", "↓ Trial"), ...documents.panels);
  byId("trial").replaceChildren(bar(trial, "documents", "↑ Documents"), ...trial.panels);
  byId("documents").before(verdict.element);
  byId("panel-machine").addEventListener("shown", () => machine.shown());
  for (const [id, pane] of [
    ["panel-map", map],
    ["panel-diff", diff],
  ] as const) {
    byId(id).addEventListener("shown", () => pane.look(true));
    byId(id).addEventListener("left", () => pane.look(false));
  }
  connect(store);

  let tools: readonly Tool[] = [];
  const hear = (answer: Answer): void => {
    switch (answer.kind) {
      case "failed":
        verdict.fail(answer.message);
        break;
      case "built":
        bundle.diagnose(answer.diagnostics);
        machine.diagnose(answer.machineFault);
        // While a document is being written the form stays what it was.
        tools = answer.tools ?? tools;
        if (tools.length > 0 || answer.diagnostics.every(({ severity }) => severity !== "error")) {
          call.describe(tools);
          map.describe(tools);
        }
        break;
      case "judged":
        verdict.show(answer.judged);
        call.judged(answer.judged);
        scenarios.judged(answer.judged);
        break;
      case "explained":
        explanation.show(answer.explained);
        break;
      case "trying":
        scenarios.trying(answer.done, answer.of);
        return;
      case "tried":
        card.tried(answer.results);
        scenarios.tried(answer.results);
        break;
    }
    performance.mark(answer.kind);
  };
  startEngine(worker, store, hear, (message) => verdict.fail(message));
}

/** The tabs, and, on a narrow page, the way to the other half of it. */
function bar(tabs: Tabs, other: "trial" | "documents", label: string): HTMLElement {
  const jump = (): void => {
    const section = byId(other);
    // The verdict stays at the top of a narrow page.
    section.style.scrollMarginBlockStart = `${document.querySelector(".verdict")?.clientHeight ?? 0}px`;
    section.scrollIntoView();
    section.querySelector<HTMLElement>('[role="tab"][tabindex="0"]')?.focus({ preventScroll: true });
  };
  return h("div", { class: "bar" }, tabs.bar, h("button", { type: "button", class: "jump", onclick: jump }, label));
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
  try {
    const shared = (await fromFragment(location.hash)) ?? (await besideThePage(location.hash));
    if (shared !== undefined) {
      return shared;
    }
  } catch (thrown) {
    announce(`The link cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  const [first] = EXAMPLES;
  if (first === undefined) {
    throw new Error("there is no example");
  }
  return first.load();
}

/** Connects the buttons at the top. */
function connect(store: Store): void {
  const examples = byId<HTMLSelectElement>("examples");
  examples.append(
    h("option", { value: "" }, "choose…"),
    ...EXAMPLES.map(({ id, title }) => h("option", { value: id }, title)),
  );
  // A changed state is not an example, and the example can be chosen again.
  store.subscribe(() => {
    examples.value = "";
  });
  examples.addEventListener("change", async () => {
    const chosen = EXAMPLES.find(({ id }) => id === examples.value);
    if (chosen === undefined) {
      return;
    }
    try {
      store.update(await chosen.load());
      examples.value = chosen.id;
      announce(`Example: ${chosen.title}`);
    } catch {
      // An example is loaded when it is first chosen.
      examples.value = "";
      announce(`The example “${chosen.title}” cannot be loaded: there may be no connection`);
    }
  });
  byId("share").addEventListener("click", async () => {
    const fragment = await toFragment(store.state);
    const length = fragment.length.toLocaleString("en");
    if (fragment.length > MAX_LINK) {
      announce(
        `No link is copied: it would have ${length} characters, and browsers take 2,000,000. Export files instead`,
      );
      return;
    }
    history.replaceState(undefined, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      announce(`The link is copied. It holds everything, ${length} characters`);
    } catch {
      announce("The link is in the address bar. It holds everything");
    }
  });
  const take = async (files: Iterable<File>): Promise<void> => {
    const given = await readFiles(files);
    if (given !== undefined) {
      const { change, said } = importFiles(given, store.state);
      store.update(change);
      announce(said);
    }
  };
  const file = byId<HTMLInputElement>("file");
  byId("import").addEventListener("click", () => file.click());
  file.addEventListener("change", async () => {
    await take(file.files ?? []);
    file.value = "";
  });
  // A file that is dropped anywhere is imported, and not opened in place of the page.
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    const files = event.dataTransfer?.files ?? [];
    if (files.length > 0) {
      event.preventDefault();
      void take(files);
    }
  });
  byId("export").addEventListener("click", () => {
    const { text, missing } = oneFile(store.state.files);
    download("callgate.json", text);
    announce(
      missing.length === 0
        ? "The bundle is exported as one file"
        : `The bundle is exported; it names ${missing.join(", ")}, which ${missing.length === 1 ? "is" : "are"} not here`,
    );
  });
  // A link that is opened in this tab replaces what is here.
  window.addEventListener("hashchange", async () => {
    try {
      const shared = (await fromFragment(location.hash)) ?? (await besideThePage(location.hash));
      if (shared !== undefined) {
        store.update(shared);
      }
    } catch (thrown) {
      announce(`The link cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  });
}
