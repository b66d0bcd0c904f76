import type { MapNode, Variant } from "../analysis/nodes.js";
import { listed } from "../analysis/nodes.js";
import { fill, h } from "../dom.js";
import { DECISIONS } from "../state.js";
import { badge } from "./verdict.js";

/** How many rows are drawn. */
const ROWS_SHOWN = 400;

interface Row {
  readonly element: HTMLElement;
  readonly level: number;
  readonly open: () => void;
  /** Present if further arguments make a difference: their rows can be hidden. */
  readonly node?: MapNode;
}

/** Regions as a tree, as the ARIA pattern has it: one stop for Tab, arrow keys within, Enter opens a region's call. */
export class RegionTree {
  readonly element: HTMLElement;
  readonly #nodes: readonly MapNode[];
  readonly #open: (variant: Variant) => void;
  /** The nodes whose variants are shown. */
  readonly #expanded = new Set<MapNode>();
  #rows: readonly Row[] = [];

  constructor(label: string, nodes: readonly MapNode[], open: (variant: Variant) => void) {
    this.#nodes = nodes;
    this.#open = open;
    this.element = h("ul", { role: "tree", "aria-label": label, class: "regions" });
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.#draw();
  }

  #draw(): void {
    this.#rows = this.#nodes.flatMap((node) => this.#rowsOf(node)).slice(0, ROWS_SHOWN);
    fill(
      this.element,
      this.#rows.map(({ element }) => element),
    );
    this.#rows[0]?.element.setAttribute("tabindex", "0");
  }

  #rowsOf(node: MapNode): Row[] {
    const { name, title, level, variants } = node;
    const shown = h("span", { class: "name", title }, name);
    const [only] = variants;
    if (only !== undefined && variants.length === 1) {
      return [this.#row([shown], level, only)];
    }
    const isOpen = this.#expanded.has(node);
    const decisions = DECISIONS.filter((decision) => variants.some((variant) => variant.decision === decision));
    const whole = h(
      "li",
      { role: "treeitem", class: "region mixed", "aria-level": level, "aria-expanded": String(isOpen), tabindex: "-1" },
      h("span", { class: "sign", "aria-hidden": "true" }, isOpen ? "▾" : "▸"),
      decisions.map(badge),
      shown,
      h("span", { class: "quiet" }, decisions.length > 1 ? "it depends" : "by several rules"),
    );
    const row: Row = { element: whole, level, node, open: () => this.#toggle(node) };
    whole.addEventListener("click", row.open);
    indent(whole, level);
    return [
      row,
      ...(isOpen ? variants.map((variant) => this.#row(described(variant.places), level + 1, variant)) : []),
    ];
  }

  #row(what: readonly Node[], level: number, variant: Variant): Row {
    const open = () => this.#open(variant);
    const element = h(
      "li",
      { role: "treeitem", class: `region ${variant.decision}`, "aria-level": level, tabindex: "-1", onclick: open },
      badge(variant.decision),
      what,
      h("code", { class: "rule-name" }, variant.rule),
    );
    indent(element, level);
    return { element, level, open };
  }

  #toggle(node: MapNode): void {
    if (!this.#expanded.delete(node)) {
      this.#expanded.add(node);
    }
    this.#draw();
    this.#focus(this.#rows.findIndex((row) => row.node === node));
  }

  #focus(at: number): void {
    const row = this.#rows[at];
    if (row === undefined) {
      return;
    }
    for (const { element } of this.#rows) {
      element.tabIndex = element === row.element ? 0 : -1;
    }
    row.element.focus();
  }

  #key(event: KeyboardEvent): void {
    const at = this.#rows.findIndex(({ element }) => element === event.target);
    const row = this.#rows[at];
    if (row === undefined) {
      return;
    }
    const last = this.#rows.length - 1;
    switch (event.key) {
      case "ArrowDown":
        this.#focus(Math.min(at + 1, last));
        break;
      case "ArrowUp":
        this.#focus(Math.max(at - 1, 0));
        break;
      case "Home":
        this.#focus(0);
        break;
      case "End":
        this.#focus(last);
        break;
      case "ArrowLeft":
        if (row.node !== undefined && this.#expanded.has(row.node)) {
          row.open();
          break;
        }
        this.#focus(this.#rows.slice(0, at).findLastIndex(({ level }) => level < row.level));
        break;
      case "ArrowRight":
        if (row.node !== undefined && !this.#expanded.has(row.node)) {
          row.open();
        } else if ((this.#rows[at + 1]?.level ?? 0) > row.level) {
          this.#focus(at + 1);
        }
        break;
      case "Enter":
      case " ":
        row.open();
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}

/** A style attribute is forbidden by the content security policy, a property of the style is not. */
function indent(element: HTMLElement, level: number): void {
  element.style.setProperty("--level", String(level));
}

/** Describes the other arguments, one below the other. */
function described(places: Variant["places"]): HTMLElement[] {
  return [
    h(
      "span",
      { class: "others" },
      places.map((place) => h("span", {}, h("span", { class: "argument" }, place.argument), ` ${listed(place.is)}`)),
    ),
  ];
}
