import { announce, byId, h } from "./dom.js";
import { EXAMPLES } from "./examples/index.js";
import { besideThePage } from "./files/beside.js";
import { oneFile } from "./files/bundle.js";
import { download } from "./files/download.js";
import { importFiles } from "./files/import.js";
import { readFiles } from "./files/read.js";
import { fromFragment, MAX_LINK, toFragment } from "./share.js";
import type { State, Store } from "./state.js";

/** The state in the page's link; `undefined` if there is none, or if it cannot be read, which is announced. */
export async function linkedState(): Promise<State | undefined> {
  try {
    return (await fromFragment(location.hash)) ?? (await besideThePage(location.hash));
  } catch (thrown) {
    announce(`The link cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return undefined;
  }
}

/** Connects the buttons at the top, files that are dropped, and links that are opened in this tab. */
export function connect(store: Store): void {
  offerExamples(store);
  byId("share").addEventListener("click", () => share(store.state));
  takeFiles(store);
  byId("export").addEventListener("click", () => exportBundle(store.state));
  // A link that is opened in this tab replaces what is here.
  window.addEventListener("hashchange", async () => {
    const shared = await linkedState();
    if (shared !== undefined) {
      store.update(shared);
    }
  });
}

function offerExamples(store: Store): void {
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
}

/** Copies a link that holds everything. */
async function share(state: State): Promise<void> {
  let fragment: string;
  try {
    fragment = await toFragment(state);
  } catch (thrown) {
    announce(`No link is copied: ${thrown instanceof Error ? thrown.message : String(thrown)}. Export files instead`);
    return;
  }
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
}

/** Imports files that are chosen, or dropped anywhere. */
function takeFiles(store: Store): void {
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
}

function exportBundle(state: State): void {
  const { text, missing } = oneFile(state.files);
  download("callgate.json", text);
  announce(
    missing.length === 0
      ? "The bundle is exported as one file"
      : `The bundle is exported; it names ${missing.join(", ")}, which ${missing.length === 1 ? "is" : "are"} not here`,
  );
}
