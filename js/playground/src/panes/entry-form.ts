import { createVirtualHost, type Machine, type MachineRepository } from "callgate";
import { announce, fill, h } from "../dom.js";
import { lexical } from "../engine/links.js";
import { type Entry, withEntry, withMoved, withoutEntry, withTarget } from "./machine-tree.js";

/** The form for one place of the machine. */
export class EntryForm {
  readonly element = h("form", { class: "form entry-form", onsubmit: (event: Event) => event.preventDefault() });
  readonly #write: (machine: Machine) => void;
  readonly #select: (path: string) => void;
  readonly #usePath: (path: string) => void;
  #shown = "";
  /** Draws the fields as they were. */
  #redraw: () => void = () => {};

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
    this.#redraw = () => {
      this.#shown = "";
      this.show(machine, entry);
    };
    const { path, kind, target = "", end, isLoop } = entry;
    fill(
      this.element,
      h("h2", {}, kind === "link" ? "Link " : kind === "file" ? "File " : "Directory ", h("code", {}, path)),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: () => this.#usePath(path) }, "Use it in the call"),
        path !== "/" && h("button", { type: "button", onclick: () => this.#remove(machine, path) }, "Remove"),
      ),
      path === "/" && [
        this.#text("Home directory", machine.home, (home) => this.#try(() => ({ ...machine, home }))),
        this.#text("Current directory", machine.cwd, (cwd) => this.#try(() => ({ ...machine, cwd }))),
      ],
      path !== "/" && this.#text("Name", entry.name, (name) => this.#rename(machine, path, name)),
      kind === "link" && this.#text("Leads to", target, (text) => this.#try(() => withTarget(machine, path, text))),
      kind === "link" && h("p", { class: "quiet" }, isLoop ? "It is a loop: it leads back to itself." : endOf(end)),
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
      this.#try(() => ({ ...machine, git: repository === undefined ? rest : { ...rest, [path]: repository } }));
    };
    const toggle = h("input", {
      type: "checkbox",
      checked: found !== undefined,
      onchange: () => write(found === undefined ? { branch: "main", remotes: {} } : undefined),
    });
    const fieldset = h("fieldset", {}, h("legend", {}, h("label", {}, toggle, " A git repository")));
    if (found !== undefined) {
      fieldset.append(
        this.#text("Branch", found.branch ?? "", (branch) =>
          write({ ...found, branch: branch === "" ? null : branch }),
        ),
        remotesField("Remotes, one name and URL a line", found.remotes, (remotes) => write({ ...found, remotes })),
        remotesField("Push URLs, if they are others", found.pushUrls, (pushUrls) => write({ ...found, pushUrls })),
        h(
          "p",
          { class: "quiet" },
          "Only the JSON has the rest: the remotes of branches, ",
          h("code", {}, "pushDefault"),
          " and ",
          h("code", {}, "insteadOf"),
          ".",
        ),
      );
    }
    return fieldset;
  }

  #remove(machine: Machine, path: string): void {
    this.#try(() => withoutEntry(machine, path), path.slice(0, path.lastIndexOf("/")) || "/");
  }

  #rename(machine: Machine, path: string, name: string): void {
    const to = `${path.slice(0, path.lastIndexOf("/"))}/${name}`;
    this.#try(() => {
      if (name === "" || name === "." || name === ".." || name.includes("/")) {
        throw new Error("A name is not empty, `.` or `..`, and has no `/` in it");
      }
      return withMoved(machine, path, to);
    }, to);
  }

  /** Writes a machine, and selects a place in it. One that cannot be is not written, and the fields show what is. */
  #try(change: () => Machine, selected?: string): void {
    try {
      const machine = change();
      assertPossible(machine);
      if (selected !== undefined) {
        this.#select(selected);
      }
      this.#write(machine);
    } catch (thrown) {
      announce(thrown instanceof Error ? thrown.message : String(thrown));
      this.#redraw();
    }
  }
}

/** @throws An error if no engine would judge on the machine. */
function assertPossible(machine: Machine): void {
  if (lexical(machine.home) !== machine.home || lexical(machine.cwd) !== machine.cwd) {
    throw new Error("A directory is an absolute path without `.`, `..` and `//`");
  }
  createVirtualHost(machine);
}

function endOf(end: string | undefined): string {
  return end === undefined ? "Nothing is there." : `In the end that is ${end}.`;
}

function remotesField(
  label: string,
  given: MachineRepository["remotes"],
  change: (remotes: Record<string, string[]>) => void,
): HTMLElement {
  const lines = Object.entries(given ?? {}).flatMap(([name, urls]) => [urls].flat().map((url) => `${name} ${url}`));
  const area = h("textarea", {
    rows: Math.max(2, lines.length),
    spellcheck: "false",
    value: lines.join("\n"),
    onchange: () => change(remotesOf(area.value)),
  });
  return h("label", { class: "field" }, h("span", {}, label), area);
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
