import { fill, h, svg } from "../dom.js";
import type { Entry } from "./machine-tree.js";

const SIGNS = { directory: "▸", file: "·", link: "↗" } as const;

/** How many rows are drawn. */
const ROWS_SHOWN = 1000;
/** Rows that lie deeper than this are not indented further. */
const INDENTED = 40;

interface Row {
  readonly entry: Entry;
  readonly level: number;
}

/** A filesystem as a tree, as the ARIA pattern has it: one stop for Tab, arrow keys within. Links are drawn. */
export class TreeView {
  readonly element: HTMLElement;
  readonly #select: (entry: Entry) => void;
  readonly #list = h("ul", { role: "tree", "aria-label": "Filesystem", class: "tree" });
  readonly #more = h("p", { class: "quiet" });
  readonly #drawing = svg("svg", { class: "links", "aria-hidden": "true" });
  readonly #closed = new Set<string>();
  #root: Entry | undefined;
  #rows: readonly Row[] = [];
  #selected = "/";

  constructor(select: (entry: Entry) => void) {
    this.#select = select;
    this.element = h("div", { class: "tree-box" }, this.#list, this.#more);
    this.element.append(this.#drawing);
    this.#list.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.drawLinks()).observe(this.#list);
  }

  show(root: Entry): void {
    this.#root = root;
    const hadFocus = this.#list.contains(document.activeElement);
    const rows = rowsOf(root, this.#closed);
    this.#rows = rows.slice(0, ROWS_SHOWN);
    if (!this.#rows.some(({ entry }) => entry.path === this.#selected)) {
      this.#selected = "/";
    }
    fill(
      this.#list,
      this.#rows.map((row) => this.#item(row)),
    );
    const more = rows.length - this.#rows.length;
    this.#more.textContent = more > 0 ? `and ${more.toLocaleString("en")} more; the JSON has all of them` : "";
    this.#mark(hadFocus);
    this.drawLinks();
  }

  select(path: string): void {
    this.#selected = path;
    this.#mark(false);
  }

  #item({ entry, level }: Row): HTMLElement {
    const { path, name, kind, isRepository, children } = entry;
    const isOpen = !this.#closed.has(path);
    const hasChildren = children.length > 0;
    const item = h(
      "span",
      {
        role: "treeitem",
        class: `entry ${kind}`,
        "aria-level": level,
        "data-path": path,
        tabindex: "-1",
        onclick: () => this.#click(path),
        "aria-expanded": hasChildren ? String(isOpen) : undefined,
      },
      h(
        "span",
        { class: "sign", "aria-hidden": "true", onclick: () => hasChildren && this.#toggle(path) },
        kind === "directory" && hasChildren && isOpen ? "▾" : SIGNS[kind],
      ),
      h("span", { class: "name" }, name),
      isRepository && h("span", { class: "tag" }, "git"),
      ...(kind === "link" ? leadsTo(entry) : []),
    );
    const row = h("li", { role: "none" }, item);
    // A style attribute is forbidden by the content security policy, a property of the style is not.
    row.style.setProperty("--level", String(Math.min(level, INDENTED)));
    return row;
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
    const row = this.#rows.find(({ entry }) => entry.path === this.#selected);
    if (row !== undefined) {
      this.#select(row.entry);
    }
  }

  #items(): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>("[role=treeitem]")];
  }

  #key(event: KeyboardEvent): void {
    const at = this.#rows.findIndex(({ entry }) => entry.path === this.#selected);
    const row = this.#rows[at];
    const hasChildren = row !== undefined && row.entry.children.length > 0;
    const isOpen = hasChildren && !this.#closed.has(this.#selected);
    const parent = this.#selected.slice(0, this.#selected.lastIndexOf("/")) || "/";
    const go = (to: Row | undefined): void => this.#click(to?.entry.path ?? this.#selected);
    if (event.key === "ArrowDown") {
      go(this.#rows[at + 1]);
    } else if (event.key === "ArrowUp") {
      go(this.#rows[at - 1]);
    } else if (event.key === "Home") {
      go(this.#rows[0]);
    } else if (event.key === "End") {
      go(this.#rows.at(-1));
    } else if (event.key === "ArrowRight") {
      isOpen ? go(this.#rows[at + 1]) : hasChildren && this.#toggle(this.#selected);
    } else if (event.key === "ArrowLeft") {
      isOpen ? this.#toggle(this.#selected) : this.#click(parent);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Draws a line from each link to where it leads, if both can be seen, and a stub if it leads nowhere. */
  drawLinks(): void {
    this.#drawing.replaceChildren();
    // The drawing must not hold the box as wide as it was.
    this.#drawing.setAttribute("width", "0");
    this.#drawing.setAttribute("height", "0");
    const box = this.element.getBoundingClientRect();
    if (box.width === 0) {
      return;
    }
    const ends = this.#items().map((row) => {
      const { right, top, height } = row.getBoundingClientRect();
      return {
        x: right - box.left - this.element.clientLeft + this.element.scrollLeft,
        y: top + height / 2 - box.top - this.element.clientTop + this.element.scrollTop,
      };
    });
    const places = new Map(this.#rows.map(({ entry }, at) => [entry.path, at]));
    for (const [at, { entry }] of this.#rows.entries()) {
      if (entry.kind !== "link") {
        continue;
      }
      const to = entry.end === undefined ? undefined : places.get(entry.end);
      if (to !== undefined) {
        const between = ends.slice(Math.min(at, to), Math.max(at, to) + 1);
        this.#drawing.append(...line(ends[at], ends[to], Math.max(...between.map(({ x }) => x))));
      } else if (entry.end === undefined) {
        this.#drawing.append(...stub(ends[at]));
      }
    }
    this.#drawing.setAttribute("width", String(this.element.scrollWidth));
    this.#drawing.setAttribute("height", String(this.#list.offsetTop + this.#list.offsetHeight));
  }
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A line between two rows, past those that lie between them and reach as far as `side`. */
function line(from: Point | undefined, to: Point | undefined, side: number): SVGElement[] {
  if (from === undefined || to === undefined) {
    return [];
  }
  const bend = side + 20 + Math.min(48, Math.abs(from.y - to.y) / 6);
  return [
    svg("path", { d: `M${from.x + 4} ${from.y}C${bend} ${from.y} ${bend} ${to.y} ${to.x + 6} ${to.y}` }),
    svg("path", { d: `M${to.x + 12} ${to.y - 4}l-6 4 6 4`, class: "head" }),
  ];
}

/** A line that ends at once, with a cross. */
function stub(from: Point | undefined): SVGElement[] {
  if (from === undefined) {
    return [];
  }
  const { x, y } = from;
  return [
    svg("path", { d: `M${x + 4} ${y}h18`, class: "broken" }),
    svg("path", { d: `M${x + 24} ${y - 4}l8 8m0 -8l-8 8`, class: "head broken" }),
  ];
}

/** The text in a link, and what becomes of it. */
function leadsTo({ target, end, isLoop }: Entry): HTMLElement[] {
  const shown = h("span", { class: end === undefined ? "target broken" : "target" }, ` → ${target}`);
  return end === undefined ? [shown, h("span", { class: "tag" }, isLoop ? "a loop" : "leads nowhere")] : [shown];
}

/** The rows from the root on, without what is closed. */
function rowsOf(root: Entry, closed: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const pending: Row[] = [{ entry: root, level: 1 }];
  for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
    rows.push(row);
    const { entry, level } = row;
    if (!closed.has(entry.path)) {
      pending.push(...[...entry.children].reverse().map((one) => ({ entry: one, level: level + 1 })));
    }
  }
  return rows;
}
