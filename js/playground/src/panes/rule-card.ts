import { ruleOf } from "../documents.js";
import { h } from "../dom.js";
import type { Results } from "../engine/protocol.js";
import { plainValue } from "../jsonc.js";
import { numberOf } from "../scenario-numbers.js";
import type { Store } from "../state.js";
import { callTitle } from "./call-title.js";
import { badge } from "./verdict.js";

/** How many calls a card lists. */
const CALLS_SHOWN = 8;

/** The decisions of a rule: its conditions in words, and the scenarios that it decided. */
export class RuleCard {
  readonly #store: Store;
  readonly #reveal: (file: string, from: number, to: number) => void;
  readonly #open: (call: string) => void;
  #results: Results = new Map();

  constructor(store: Store, reveal: (file: string, from: number, to: number) => void, open: (call: string) => void) {
    this.#store = store;
    this.#reveal = reveal;
    this.#open = open;
  }

  /** Takes the results of the scenarios. */
  tried(results: Results): void {
    this.#results = results;
  }

  draw(name: string): HTMLElement {
    const { files, scenarios } = this.#store.state;
    const { file, node } = ruleOf(files, name);
    const rule = recordOf(plainValue(node));
    const decided = scenarios.filter((scenario) => {
      const result = this.#results.get(numberOf(scenario));
      return result !== undefined && "verdict" in result && result.verdict.rule === name;
    });
    const conditions = conditionsOf(recordOf(rule.if));
    return h(
      "div",
      { class: "card" },
      typeof rule.description === "string" && h("p", {}, rule.description),
      typeof rule.reason === "string" && h("p", { class: "quiet" }, `Its reason: ${rule.reason}`),
      h(
        "p",
        {},
        typeof rule.then === "string" ? badge(rule.then) : undefined,
        " if ",
        conditions.length === 0 ? "anything" : "all of these hold:",
      ),
      conditions.length > 0 &&
        h(
          "ul",
          {},
          conditions.map((text) => h("li", {}, text)),
        ),
      h(
        "p",
        { class: "quiet" },
        decided.length === 0 ? "It decides none of the scenarios." : "Scenarios that it decides:",
      ),
      h(
        "ul",
        { class: "calls" },
        decided
          .slice(0, CALLS_SHOWN)
          .map(({ call }) =>
            h(
              "li",
              {},
              h("button", { type: "button", class: "text", onclick: () => this.#open(call) }, callTitle(call)),
            ),
          ),
      ),
      node !== undefined &&
        h("button", { type: "button", onclick: () => this.#reveal(file, node.from, node.to) }, "Show it in the policy"),
    );
  }
}

/** The conditions of a rule, in words. */
function conditionsOf(conditions: Readonly<Record<string, unknown>>): string[] {
  const { server, tool, roles, paths, domains, lists, args } = conditions;
  const told: string[] = [];
  const say = (given: unknown, words: (list: string) => string): void => {
    if (given !== undefined) {
      told.push(words(listed(given)));
    }
  };
  say(server, (names) => `the server is ${names}`);
  say(tool, (names) => `the tool is ${names}`);
  say(roles, (names) => `the tool has an argument that is a ${names}`);
  const { roles: pathRoles, within } = recordOf(paths);
  say(within, (directory) => `a ${listed(pathRoles)} lies in ${directory}`);
  const { roles: urlRoles, allowed } = recordOf(domains);
  say(allowed, (patterns) => `a ${listed(urlRoles)} is of ${patterns}`);
  for (const list of Array.isArray(lists) ? lists.map(recordOf) : []) {
    told.push(`a ${listed(list.roles)} is ${listed(list.allowed)} (compared as ${listed(list.matchType)})`);
  }
  for (const { arg, equals, in: among, is } of Array.isArray(args) ? args.map(recordOf) : []) {
    const what = among === undefined ? (is === undefined ? JSON.stringify(equals) : String(is)) : listed(among);
    told.push(`the argument ${String(arg)} is ${what}`);
  }
  return told;
}

function listed(given: unknown): string {
  const names = (Array.isArray(given) ? given : [given]).map((one) =>
    typeof one === "string" ? one : JSON.stringify(one),
  );
  return names.length > 8 ? `${names.slice(0, 8).join(", ")} or one of ${names.length - 8} others` : names.join(" or ");
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
