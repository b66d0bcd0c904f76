import { fill, h, svg } from "../dom.js";
import type { Entry } from "./machine-tree.js";

const SIGNS = { directory: "▸", file: "·", link: "↗" } as const;

/** A filesystem as a tree, as the ARIA pattern has it: one stop for Tab, arrow keys within. Links are drawn. */
export class TreeView {
  readonly element: HTMLElement;
  readonly #select: (entry: Entry) => void;
  readonly #list = h("ul", { role: "tree", "aria-label": "Filesystem", class: "tree" });
  readonly #drawing = svg("svg", { class: "links", "aria-hidden": "true" });
  readonly #closed = new Set<string>();
  #root: Entry | undefined;
  #selected = "/";

  constructor(select: (entry: Entry) => void) {
    this.#select = select;
    this.element = h("div", { class: "tree-box" }, this.#list);
    this.element.append(this.#drawing);
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.drawLinks()).observe(this.#list);
  }

  show(root: Entry): void {
    this.#root = root;
    const hadFocus = this.#list.contains(document.activeElement);
    if (find(root, this.#selected) === undefined) {
      this.#selected = "/";
    }
    fill(this.#list, this.#item(root, 1));
    this.#mark(hadFocus);
    this.drawLinks();
  }

  select(path: string): void {
    this.#selected = path;
    this.#mark(false);
  }

  #item(entry: Entry, level: number): HTMLElement {
    const { path, name, kind, target, end, isRepository, children } = entry;
    const isOpen = !this.#closed.has(path);
    const hasChildren = children.length > 0;
    const group = hasChildren && isOpen ? `group-${path}` : undefined;
    // The group stands beside its item, so that an item is called by its own row only.
    return h(
      "li",
      { role: "none" },
      h(
        "span",
        {
          role: "treeitem",
          class: `entry ${kind}`,
          "aria-level": level,
          "data-path": path,
          tabindex: "-1",
          onclick: () => this.#click(path),
          "aria-owns": group,
          "aria-expanded": hasChildren ? String(isOpen) : undefined,
        },
        h(
          "span",
          { class: "sign", "aria-hidden": "true", onclick: () => hasChildren && this.#toggle(path) },
          kind === "directory" && hasChildren && isOpen ? "▾" : SIGNS[kind],
        ),
        h("span", { class: "name" }, name),
        isRepository && h("span", { class: "tag" }, "git"),
        kind === "link" && h("span", { class: end === undefined ? "target broken" : "target" }, ` → ${target}`),
        kind === "link" && end === undefined && h("span", { class: "tag" }, "leads nowhere"),
      ),
      group !== undefined &&
        h(
          "ul",
          { role: "group", id: group },
          children.map((one) => this.#item(one, level + 1)),
        ),
    );
  }

  #click(path: string): void {
    this.#selected = path;
    this.#mark(true);
  }

  #toggle(path: string): void {
    if (!this.#closed.delete(path)) {
      this.#closed.add(path);
    }
    if (this.#root !== undefined) {
      this.show(this.#root);
    }
  }

  #mark(isFocused: boolean): void {
    for (const item of this.#items()) {
      const isSelected = item.dataset.path === this.#selected;
      item.setAttribute("aria-selected", String(isSelected));
      item.tabIndex = isSelected ? 0 : -1;
      if (isSelected && isFocused) {
        item.focus();
      }
    }
    const entry = this.#root && find(this.#root, this.#selected);
    if (entry !== undefined) {
      this.#select(entry);
    }
  }

  #items(): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>("[role=treeitem]")];
  }

  #key(event: KeyboardEvent): void {
    const items = this.#items();
    const at = items.findIndex(({ dataset }) => dataset.path === this.#selected);
    const item = items[at];
    const isOpen = item?.getAttribute("aria-expanded");
    const parent = this.#selected.slice(0, this.#selected.lastIndexOf("/")) || "/";
    const go = (path: string | undefined): void => this.#click(path ?? this.#selected);
    if (event.key === "ArrowDown") {
      go(items[at + 1]?.dataset.path);
    } else if (event.key === "ArrowUp") {
      go(items[at - 1]?.dataset.path);
    } else if (event.key === "Home") {
      go(items[0]?.dataset.path);
    } else if (event.key === "End") {
      go(items.at(-1)?.dataset.path);
    } else if (event.key === "ArrowRight") {
      isOpen === "false" ? this.#toggle(this.#selected) : isOpen === "true" && go(items[at + 1]?.dataset.path);
    } else if (event.key === "ArrowLeft") {
      isOpen === "true" ? this.#toggle(this.#selected) : go(parent);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Draws a line from each link to where it leads, if both can be seen. */
  drawLinks(): void {
    this.#drawing.replaceChildren();
    const box = this.element.getBoundingClientRect();
    if (this.#root === undefined || box.width === 0) {
      return;
    }
    const rows = new Map(this.#items().map((item) => [item.dataset.path, item]));
    const middle = (row: HTMLElement) => {
      const { left, width, top, height } = row.getBoundingClientRect();
      return {
        x: left + width - box.left + this.element.scrollLeft,
        y: top + height / 2 - box.top + this.element.scrollTop,
      };
    };
    for (const link of linksIn(this.#root)) {
      const [from, to] = [rows.get(link.path), link.end === undefined ? undefined : rows.get(link.end)];
      if (from === undefined || to === undefined) {
        continue;
      }
      const [a, b] = [middle(from), middle(to)];
      const bend = Math.max(a.x, b.x) + 24 + Math.min(60, Math.abs(a.y - b.y) / 6);
      this.#drawing.append(
        svg("path", { d: `M${a.x + 4} ${a.y}C${bend} ${a.y} ${bend} ${b.y} ${b.x + 6} ${b.y}` }),
        svg("path", { d: `M${b.x + 12} ${b.y - 4}l-6 4 6 4`, class: "head" }),
      );
    }
    this.#drawing.setAttribute("height", String(this.#list.scrollHeight));
  }
}

function find(entry: Entry, path: string): Entry | undefined {
  if (entry.path === path) {
    return entry;
  }
  return entry.children.map((one) => find(one, path)).find((one) => one !== undefined);
}

function linksIn(entry: Entry): Entry[] {
  return [...(entry.kind === "link" ? [entry] : []), ...entry.children.flatMap(linksIn)];
}
