import { fill, h, svg } from "../dom.js";
import type { Explained, ExplainedRole } from "../engine/protocol.js";
import type { RuleCard } from "./rule-card.js";
import { badge } from "./verdict.js";

/** How many checks are drawn. */
const CHECKS_SHOWN = 200;

type Rule = ExplainedRole["walks"][number]["rules"][number];

/** How a verdict came about, as a picture: values, checks, rules, and how they are joined. */
export class ExplanationPane {
  readonly element = h("div", { class: "explanation" });
  readonly #card: RuleCard;
  #explained: Explained | undefined;

  constructor(card: RuleCard) {
    this.#card = card;
  }

  show(explained: Explained | undefined): void {
    this.#explained = explained;
    if (explained === undefined) {
      fill(this.element);
      return;
    }
    const { values, resolved, checks, roles, commands, verdict, stepsLeftOut } = explained;
    fill(
      this.element,
      h("h2", {}, "How it came about"),
      h(
        "ol",
        { class: "stages" },
        stage(
          "Values",
          "what each argument names, once it is resolved",
          values.length === 0
            ? quiet("No argument has a role.")
            : h("ul", { class: "values" }, values.map(valueRow), more(resolved - values.length)),
        ),
        stage(
          "Structural checks",
          "what is decided before any rule",
          checks.length === 0
            ? quiet("None was needed.")
            : h(
                "ul",
                { class: "checks" },
                checks.slice(0, CHECKS_SHOWN).map(checkRow),
                more(checks.length - CHECKS_SHOWN),
              ),
        ),
        stage(
          "Rules",
          "tried in order for each role; the first that holds decides",
          roles.length === 0
            ? quiet("No rule was asked: a structural check had decided.")
            : h(
                "div",
                { class: "lanes" },
                roles.map((role) => this.#lane(role)),
              ),
        ),
        commands.length > 0 &&
          stage(
            "Command",
            "each program is judged as a call of the server shell",
            h(
              "ul",
              { class: "checks" },
              commands.slice(0, CHECKS_SHOWN).map(partRow),
              more(commands.length - CHECKS_SHOWN),
            ),
          ),
        stage("Verdict", "the most restrictive one stands", combination(roles, verdict)),
      ),
      stepsLeftOut > 0 && quiet(`The engine left out ${stepsLeftOut.toLocaleString("en")} steps.`),
      this.#asked(),
    );
  }

  #lane({ role, walks, walked }: ExplainedRole): HTMLElement {
    return h(
      "section",
      { class: "lane", "aria-label": role === null ? "No role" : `Role ${role}` },
      h("h4", {}, role === null ? "no resource" : h("span", { class: "role" }, role)),
      walks.map(({ alone, rules, considered, decision, rule }) =>
        h(
          "div",
          { class: "walk" },
          alone !== undefined && h("p", { class: "quiet" }, "by itself: ", h("code", {}, alone)),
          considered === 0 && quiet("No rule is about this."),
          h(
            "ol",
            { class: "rules" },
            rules.map((one) => this.#rule(one)),
          ),
          considered > rules.length &&
            quiet(`and ${(considered - rules.length).toLocaleString("en")} more that do not hold`),
          h("p", { class: "outcome" }, badge(decision), h("span", {}, " by "), h("code", {}, rule)),
        ),
      ),
      walked > walks.length && quiet(`and ${(walked - walks.length).toLocaleString("en")} more`),
    );
  }

  /** A rule; opened, it says what it decides. */
  #rule({ rule, effect, holds, condition, detail }: Rule): HTMLElement {
    const details = h(
      "details",
      { class: holds ? `rule holds ${effect}` : "rule" },
      h(
        "summary",
        {},
        h("span", { class: "sign", "aria-hidden": "true" }, holds ? "●" : "○"),
        h("span", { class: "rule-name" }, rule),
        h(
          "span",
          { class: "why" },
          holds
            ? detail === "holds"
              ? detail
              : `holds: ${detail}`
            : `${condition === undefined ? "" : `${condition}: `}${detail}`,
        ),
      ),
    );
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) {
        details.append(this.#card.draw(rule));
      }
    });
    return h("li", {}, details);
  }

  #asked(): HTMLElement | false {
    const { exchanges = [], asked = 0 } = this.#explained ?? {};
    if (asked === 0) {
      return false;
    }
    const rows = exchanges.map(({ ask, answer, ...rest }) =>
      h("li", {}, h("code", {}, `${ask} ${Object.values(rest).join(" ")}`), " → ", h("code", {}, shown(answer))),
    );
    const more = asked > exchanges.length && quiet(`and ${(asked - exchanges.length).toLocaleString("en")} more`);
    return h(
      "details",
      { class: "asked" },
      h("summary", {}, `What the machine was asked (${asked})`),
      h("ul", {}, rows),
      more,
    );
  }
}

function stage(title: string, about: string, content: Node): HTMLElement {
  return h("li", { class: "stage" }, h("h3", {}, title, h("small", {}, about)), content);
}

/** How many there are besides those that are drawn. */
function more(count: number): HTMLElement | false {
  return count > 0 && h("li", { class: "quiet" }, `and ${count.toLocaleString("en")} more`);
}

function quiet(text: string): HTMLElement {
  return h("p", { class: "quiet" }, text);
}

/** From what was written to what is judged, with the links on the way. */
function valueRow({ argument, role, raw, canonical, links }: Explained["values"][number]): HTMLElement {
  return h(
    "li",
    { class: "value" },
    h("span", { class: "argument" }, argument === "" ? "filled in" : argument.slice(1)),
    h("code", { class: "raw" }, raw),
    links.flatMap(({ link, target }) => [
      arrow("link"),
      h("span", { class: "link" }, h("small", {}, "link "), h("code", {}, link), " → ", h("code", {}, target)),
    ]),
    arrow("is"),
    canonical === null
      ? h("span", { class: "unresolved" }, "has no canonical form")
      : h("code", { class: canonical === raw ? "canonical same" : "canonical" }, canonical),
    h("span", { class: "role" }, role),
  );
}

function arrow(label: string): HTMLElement {
  const drawn = svg("svg", { viewBox: "0 0 24 10", width: 24, height: 10, "aria-hidden": "true" });
  drawn.append(svg("path", { d: "M0 5H22M18 1l4 4-4 4", fill: "none", stroke: "currentColor" }));
  const element = h("span", { class: "arrow" }, h("span", { class: "visually-hidden" }, label));
  element.append(drawn);
  return element;
}

function checkRow({ check, passed, detail }: Explained["checks"][number]): HTMLElement {
  return h(
    "li",
    { class: passed ? "check passed" : "check stopped" },
    h("span", { class: "sign", "aria-hidden": "true" }, passed ? "✓" : "✕"),
    h("span", { class: "visually-hidden" }, passed ? "passed: " : "stopped the call: "),
    h("span", { class: "name" }, check),
    h("span", { class: "why" }, detail),
  );
}

function partRow({ text, notUnderstood, verdict }: Explained["commands"][number]): HTMLElement {
  const passed = verdict?.decision === "allow";
  return h(
    "li",
    { class: passed ? "check passed" : "check stopped" },
    h("span", { class: "sign", "aria-hidden": "true" }, passed ? "✓" : "✕"),
    h("code", { class: "name" }, text),
    h(
      "span",
      { class: "why" },
      verdict === undefined
        ? `not understood: ${notUnderstood}`
        : `${verdict.decision} by ${verdict.rule}: ${verdict.reason}`,
    ),
  );
}

/** The outcome of each role, joined into one. */
function combination(roles: Explained["roles"], verdict: Explained["verdict"]): HTMLElement {
  const outcomes = roles.flatMap(({ role, walks }) =>
    walks.map(({ alone, decision }) => ({ what: alone ?? role ?? "the call", decision })),
  );
  const total = h("span", { class: "total" }, badge(verdict.decision), " ", h("code", {}, verdict.rule));
  if (outcomes.length === 0) {
    return h("div", { class: "combination" }, total);
  }
  const height = outcomes.length * 32;
  const join = svg("svg", { viewBox: `0 0 48 ${height}`, width: 48, height, "aria-hidden": "true", class: "join" });
  for (const [at, { decision }] of outcomes.entries()) {
    const from = at * 32 + 16;
    join.append(svg("path", { d: `M0 ${from}C24 ${from} 24 ${height / 2} 48 ${height / 2}`, class: decision }));
  }
  const parts = h(
    "ul",
    {},
    outcomes.map(({ what, decision }) => h("li", {}, h("code", {}, what), badge(decision))),
  );
  const element = h("div", { class: "combination" }, parts);
  element.append(join, total);
  return element;
}

/** An answer of the machine, as short as it can be said. */
function shown(answer: unknown): string {
  const members = typeof answer === "object" && answer !== null ? Object.values(answer) : [answer];
  return members.map((member) => (typeof member === "string" ? member : JSON.stringify(member))).join(" ");
}
