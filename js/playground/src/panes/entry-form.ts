import type { Machine, MachineRepository } from "callgate";
import { announce, fill, h } from "../dom.js";
import { type Entry, withEntry, withMoved, withoutEntry, withTarget } from "./machine-tree.js";

/** What can be done with one place of the machine. */
export class EntryForm {
  readonly element = h("form", { class: "form entry-form", onsubmit: (event: Event) => event.preventDefault() });
  readonly #write: (machine: Machine) => void;
  readonly #select: (path: string) => void;
  readonly #usePath: (path: string) => void;
  #shown = "";

  constructor(write: (machine: Machine) => void, select: (path: string) => void, usePath: (path: string) => void) {
    this.#write = write;
    this.#select = select;
    this.#usePath = usePath;
  }

  show(machine: Machine, entry: Entry): void {
    const text = JSON.stringify([machine, entry.path]);
    if (text === this.#shown) {
      return;
    }
    this.#shown = text;
    const { path, kind, target = "", end } = entry;
    fill(
      this.element,
      h("h3", {}, kind === "link" ? "Link " : kind === "file" ? "File " : "Directory ", h("code", {}, path)),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: () => this.#usePath(path) }, "Use it in the call"),
        path !== "/" && h("button", { type: "button", onclick: () => this.#remove(machine, path) }, "Remove"),
      ),
      path === "/" && [
        this.#text("Home directory", machine.home, (home) => this.#write({ ...machine, home })),
        this.#text("Current directory", machine.cwd, (cwd) => this.#write({ ...machine, cwd })),
      ],
      path !== "/" && this.#text("Name", entry.name, (name) => this.#rename(machine, path, name)),
      kind === "link" && this.#text("Leads to", target, (text) => this.#try(() => withTarget(machine, path, text))),
      kind === "link" &&
        h("p", { class: "quiet" }, end === undefined ? "Nothing is there." : `In the end that is ${end}.`),
      kind === "directory" && this.#adding(machine, path),
      kind === "directory" && this.#git(machine, path),
    );
  }

  #text(label: string, value: string, change: (text: string) => void): HTMLElement {
    const input = h("input", {
      value,
      autocomplete: "off",
      spellcheck: "false",
      onchange: (event: Event) => change((event.target as HTMLInputElement).value),
    });
    return h("label", { class: "field" }, h("span", {}, label), input);
  }

  #adding(machine: Machine, directory: string): HTMLElement {
    const name = h("input", { "aria-label": "Name of what is added", placeholder: "name", autocomplete: "off" });
    const target = h("input", {
      "aria-label": "Where the new link leads",
      placeholder: "leads to (links only)",
      autocomplete: "off",
    });
    const add = (kind: Entry["kind"]): void => {
      if (name.value !== "") {
        this.#try(() => withEntry(machine, directory, kind, name.value, target.value));
      }
    };
    const button = (kind: Entry["kind"]) => h("button", { type: "button", onclick: () => add(kind) }, `Add ${kind}`);
    return h(
      "fieldset",
      {},
      h("legend", {}, "Add to this directory"),
      name,
      target,
      h("div", { class: "actions" }, button("file"), button("directory"), button("link")),
    );
  }

  #git(machine: Machine, path: string): HTMLElement {
    const found = machine.git?.[path];
    const write = (repository: MachineRepository | undefined): void => {
      const { [path]: _, ...rest } = machine.git ?? {};
      this.#write({ ...machine, git: repository === undefined ? rest : { ...rest, [path]: repository } });
    };
    const toggle = h("input", {
      type: "checkbox",
      checked: found !== undefined,
      onchange: () => write(found === undefined ? { branch: "main", remotes: {} } : undefined),
    });
    const fieldset = h("fieldset", {}, h("legend", {}, h("label", {}, toggle, " A git repository")));
    if (found !== undefined) {
      const remotes = Object.entries(found.remotes ?? {}).flatMap(([name, urls]) =>
        [urls].flat().map((url) => `${name} ${url}`),
      );
      fieldset.append(
        this.#text("Branch", found.branch ?? "", (branch) =>
          write({ ...found, branch: branch === "" ? null : branch }),
        ),
        h(
          "label",
          { class: "field" },
          h("span", {}, "Remotes, one name and URL a line"),
          h("textarea", {
            rows: Math.max(2, remotes.length),
            spellcheck: "false",
            value: remotes.join("\n"),
            onchange: (event: Event) =>
              write({ ...found, remotes: remotesOf((event.target as HTMLTextAreaElement).value) }),
          }),
        ),
      );
    }
    return fieldset;
  }

  #remove(machine: Machine, path: string): void {
    this.#select(path.slice(0, path.lastIndexOf("/")) || "/");
    this.#try(() => withoutEntry(machine, path));
  }

  #rename(machine: Machine, path: string, name: string): void {
    if (name === "" || name.includes("/")) {
      announce("a name is not empty and holds no `/`");
      return;
    }
    const to = `${path.slice(0, path.lastIndexOf("/"))}/${name}`;
    this.#select(to);
    this.#try(() => withMoved(machine, path, to));
  }

  #try(change: () => Machine): void {
    try {
      this.#write(change());
    } catch (thrown) {
      announce(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }
}

function remotesOf(text: string): Record<string, string[]> {
  const remotes: Record<string, string[]> = {};
  for (const line of text.split("\n")) {
    const [name = "", url = ""] = line.trim().split(/\s+/, 2);
    if (url !== "") {
      remotes[name] = [...(remotes[name] ?? []), url];
    }
  }
  return remotes;
}
