import type { Region, ToolRegions } from "callgate/tools";
import { Analyst } from "../analysis/analyst.js";
import { isAboutForm, nodesOf } from "../analysis/nodes.js";
import type { Asked, Told } from "../analysis/protocol.js";
import { fill, h } from "../dom.js";
import type { Tool } from "../engine/protocol.js";
import { DECISIONS, type Decision, type Store } from "../state.js";
import { RegionTree } from "./region-tree.js";
import { badge, SIGNS } from "./verdict.js";

const WORDS: Readonly<Record<Decision, string>> = { allow: "allowed", escalate: "asked about", deny: "denied" };

/** How many tools, or calls that reach something, are listed. */
const LISTED = 300;

/** The map of the tools: the regions of their calls, each with its verdict and a call that can be opened. */
export class MapPane {
  readonly element: HTMLElement;
  readonly #store: Store;
  readonly #open: (call: string) => void;
  readonly #analyst = new Analyst();
  readonly #tool = h("select", { id: "map-tool", onchange: () => this.#choose() });
  readonly #to = h("input", {
    id: "map-to",
    type: "text",
    placeholder: "a path, a URL or a host",
    spellcheck: "false",
  });
  readonly #status = h("p", { class: "count", role: "status" });
  readonly #filter = h("div", { class: "files", role: "group", "aria-label": "Verdicts that are shown" });
  readonly #body = h("div", { class: "map-body" });
  readonly #hidden = new Set<Decision>();
  /** The tool that is shown, `server/tool`; empty for all of them. */
  #chosen: string | undefined;
  #tools: readonly Tool[] = [];
  #names: readonly string[] = [];
  #found: ToolRegions[] = [];
  #isShown = false;

  constructor(store: Store, open: (call: string) => void) {
    this.#store = store;
    this.#open = open;
    this.element = h(
      "div",
      { class: "map" },
      h(
        "div",
        { class: "row" },
        h("div", { class: "field" }, h("label", { for: "map-tool" }, "What may be done with"), this.#tool),
        h("div", { class: "field" }, h("label", { for: "map-to" }, "Only calls that reach"), this.#to),
      ),
      this.#status,
      this.#filter,
      this.#body,
    );
    this.#to.addEventListener("input", () => this.#ask(true));
    store.subscribe((_, changed) => {
      if (this.#isShown && (changed.has("files") || changed.has("machine"))) {
        this.#ask(true);
      }
    });
  }

  /** Takes the annotations of the tools. */
  describe(tools: readonly Tool[]): void {
    if (tools !== this.#tools) {
      this.#tools = tools;
      this.#names = tools.map(({ server, tool }) => `${server}/${tool}`);
      if (this.#isShown) {
        this.#drawTools();
      }
    }
  }

  /** The map is looked at, or not any more. */
  look(isShown: boolean): void {
    this.#isShown = isShown;
    if (isShown) {
      this.#chosen ??= toolOf(this.#store.state.call);
      this.#drawTools();
      this.#ask(false);
    } else {
      this.#analyst.stop();
    }
  }

  #drawTools(): void {
    if (this.#chosen !== undefined && !this.#names.includes(this.#chosen)) {
      this.#chosen = "";
    }
    const option = (value: string, text: string) =>
      h("option", { value, selected: value === (this.#chosen ?? "") }, text);
    fill(this.#tool, option("", "every tool"), ...this.#names.map((name) => option(name, name)));
  }

  #choose(): void {
    this.#chosen = this.#tool.value;
    this.#ask(false);
  }

  #ask(isSoon: boolean): void {
    const to = this.#to.value.trim();
    const tools = this.#chosen ? [this.#chosen] : [];
    const asked: Asked = to === "" ? { kind: "regions", tools } : { kind: "regions", tools, to };
    this.#status.textContent = "Looking at all calls…";
    this.element.setAttribute("aria-busy", "true");
    const found: ToolRegions[] = [];
    const hear = (told: Told): void => {
      if (told.kind === "tool") {
        found.push(told.tool);
        return;
      }
      this.element.setAttribute("aria-busy", "false");
      this.#found = told.kind === "mapped" ? found : [];
      this.#draw(told.kind === "failed" ? told.message : undefined);
    };
    if (isSoon) {
      this.#analyst.askSoon(asked, this.#store.state, hear);
    } else {
      this.#analyst.ask(asked, this.#store.state, hear);
    }
  }

  #draw(failure?: string): void {
    const regions = this.#found.flatMap(regionsOf);
    if (failure !== undefined || regions.length === 0) {
      fill(this.#filter);
      fill(this.#body);
      const nothing = this.#to.value.trim() === "" ? "No tool is annotated" : "No call reaches it";
      this.#status.textContent = failure === undefined ? nothing : `There is no map: ${failure}`;
      return;
    }
    const count = (decision: Decision) => regions.filter((region) => region.decision === decision).length;
    const counts = DECISIONS.map((decision) => `${count(decision).toLocaleString("en")} ${WORDS[decision]}`);
    this.#status.textContent = `Kinds of calls: ${counts.join(", ")}`;
    fill(
      this.#filter,
      DECISIONS.map((decision) => this.#toggle(decision)),
    );
    const [only] = this.#found;
    const isOne = this.#chosen !== "" && this.#to.value.trim() === "" && only !== undefined;
    fill(this.#body, isOne ? this.#one(only) : this.#to.value.trim() === "" ? this.#all() : this.#reaching());
  }

  #toggle(decision: Decision): HTMLElement {
    const press = () => {
      if (!this.#hidden.delete(decision)) {
        this.#hidden.add(decision);
      }
      this.#draw();
      this.#filter.querySelector<HTMLElement>(`[data-decision=${decision}]`)?.focus();
    };
    return h(
      "button",
      {
        type: "button",
        "aria-pressed": String(!this.#hidden.has(decision)),
        "data-decision": decision,
        onclick: press,
      },
      h("span", { "aria-hidden": "true" }, `${SIGNS[decision]} `),
      WORDS[decision],
    );
  }

  #isWanted({ decision }: Region): boolean {
    return !this.#hidden.has(decision);
  }

  /** The regions of one tool: a tree for the arguments that rules look at together. */
  #one(tool: ToolRegions): HTMLElement[] {
    const form = tool.parts.flatMap(({ regions }) => regions.filter(isAboutForm)).length;
    const parts = tool.parts.map(({ when, regions }) => {
      const shown = regions.filter((region) => !isAboutForm(region) && this.#isWanted(region));
      const [first] = regions;
      if (shown.length === 0 || (first !== undefined && isIdle(tool, regions))) {
        return undefined;
      }
      const places = first?.places ?? [];
      const title = places.length === 0 ? "every call" : places.map(({ argument }) => argument).join(" and ");
      const condition = when.map(({ argument, is }) => `${argument} is ${is}`).join(", ");
      const label = condition === "" ? title : `${title}, where ${condition}`;
      const tree = new RegionTree(label, nodesOf(shown), (variant) => this.#call(tool, variant));
      return h(
        "section",
        { class: "map-part" },
        h(
          "h2",
          {},
          h("span", { class: "argument" }, title),
          places.flatMap(({ roles }) => roles).map((role) => h("span", { class: "role" }, role)),
        ),
        condition !== "" && h("p", { class: "quiet" }, `where ${condition}`),
        tree.element,
      );
    });
    return [
      ...parts.filter((part) => part !== undefined),
      ...(tool.readsBelow ?? []).map((argument) =>
        h("p", { class: "warning" }, `Everything below \`${argument}\` is read, what is protected there too.`),
      ),
      ...tool.inexact.map((why) => h("p", { class: "warning" }, `Not exact: ${why}`)),
      ...(form === 0
        ? []
        : [
            h(
              "p",
              { class: "quiet" },
              `Besides, ${form.toLocaleString("en")} kinds of calls are refused for their form, whatever the rules say.`,
            ),
          ]),
    ];
  }

  /** How many regions of each tool there are, by their verdicts. */
  #all(): HTMLElement[] {
    const rows = this.#found.map((tool) => {
      const regions = regionsOf(tool);
      const decisions = DECISIONS.filter((decision) => regions.some((region) => region.decision === decision));
      const name = `${tool.serverName}/${tool.toolName}`;
      return { name, decisions, isInexact: tool.inexact.length > 0 };
    });
    const shown = rows.filter(({ decisions }) => decisions.some((decision) => !this.#hidden.has(decision)));
    const choose = (name: string) => {
      this.#chosen = name;
      this.#drawTools();
      this.#ask(false);
      this.#tool.focus();
    };
    return [
      h(
        "ul",
        { class: "reached" },
        shown
          .slice(0, LISTED)
          .map(({ name, decisions, isInexact }) =>
            h(
              "li",
              {},
              h("button", { type: "button", class: "text", onclick: () => choose(name) }, name),
              decisions.map(badge),
              isInexact && h("span", { class: "tag" }, "not exact"),
            ),
          ),
      ),
      ...rest(shown.length),
    ];
  }

  /** The calls that reach what is asked for. */
  #reaching(): HTMLElement[] {
    const found = this.#found.flatMap((tool) =>
      regionsOf(tool)
        .filter((region) => this.#isWanted(region))
        .map((region) => ({ tool, region })),
    );
    return [
      h(
        "ul",
        { class: "reached" },
        found.slice(0, LISTED).map(({ tool, region }) => {
          const { places, decision, rule } = region;
          const name = `${tool.serverName}/${tool.toolName}`;
          const as = places.map(({ argument, roles }) => `${argument} (${roles.join(", ")})`).join(", ");
          return h(
            "li",
            { class: `region ${decision}` },
            badge(decision),
            h("button", { type: "button", class: "text", onclick: () => this.#call(tool, region) }, `${name} by ${as}`),
            h("code", { class: "rule-name" }, rule),
          );
        }),
      ),
      ...rest(found.length),
    ];
  }

  #call({ serverName, toolName }: ToolRegions, of: Pick<Region, "arguments" | "context">): void {
    const { arguments: args, context } = of;
    this.#open(JSON.stringify({ serverName, toolName, arguments: args, context }, null, 2));
  }
}

function rest(count: number): HTMLElement[] {
  return count > LISTED ? [h("p", { class: "quiet" }, `and ${(count - LISTED).toLocaleString("en")} more`)] : [];
}

/** The regions that say something of the policy. */
function regionsOf(tool: ToolRegions): Region[] {
  return tool.parts.flatMap(({ regions }) =>
    isIdle(tool, regions) ? [] : regions.filter((region) => !isAboutForm(region)),
  );
}

/** Arguments without a role say nothing where another part of the call says something. */
function isIdle({ parts }: ToolRegions, regions: readonly Region[]): boolean {
  const isAboutOthers = ({ places }: Region) => places.length > 0 && places.every(({ roles }) => roles.length === 0);
  return regions.every(isAboutOthers) && parts.some((part) => !part.regions.every(isAboutOthers));
}

/** The tool of a call, `server/tool`; empty if the text is not a call. */
function toolOf(call: string): string {
  try {
    const { serverName, toolName } = JSON.parse(call) as Record<string, unknown>;
    return `${String(serverName)}/${String(toolName)}`;
  } catch {
    return "";
  }
}
