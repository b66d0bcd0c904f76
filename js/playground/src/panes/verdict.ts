import { fill, h } from "../dom.js";
import type { Judged } from "../engine/protocol.js";
import type { Decision } from "../state.js";

/** The sign beside a colour, for those who do not see it. */
export const SIGNS: Readonly<Record<Decision, string>> = { allow: "✓", escalate: "?", deny: "✕" };

const WORDS: Readonly<Record<Decision, string>> = {
  allow: "The call is made.",
  escalate: "A person is asked.",
  deny: "The call is refused.",
};

/** A decision as a small label. */
export function badge(decision: string): HTMLElement {
  const sign = SIGNS[decision as Decision] ?? "";
  return h("span", { class: `badge ${decision}` }, h("span", { "aria-hidden": "true" }, `${sign} `), decision);
}

/** The verdict about the call. */
export class VerdictPane {
  readonly element = h("div", { class: "verdict", role: "status" }, "Loading the engine…");

  constructor() {
    // An element that has to be scrolled has to be reached by keys.
    const isCut = () => this.element.scrollHeight > this.element.clientHeight + 1;
    const reach = () =>
      isCut() ? this.element.setAttribute("tabindex", "0") : this.element.removeAttribute("tabindex");
    new ResizeObserver(reach).observe(this.element);
    new MutationObserver(reach).observe(this.element, { childList: true });
  }

  show(judged: Judged): void {
    if ("faults" in judged) {
      this.element.dataset.decision = "none";
      fill(
        this.element,
        h("p", { class: "decision" }, "No verdict"),
        judged.faults.map(({ message, help, line }) =>
          h("p", {}, line === undefined ? message : `line ${line}: ${message}`, help ? ` (${help})` : undefined),
        ),
      );
      return;
    }
    const { decision, rule, reason } = judged.verdict;
    this.element.dataset.decision = decision;
    const roles = "escalatedRoles" in judged.verdict ? (judged.verdict.escalatedRoles ?? []) : [];
    fill(
      this.element,
      h(
        "p",
        { class: "decision" },
        h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[decision]),
        h("strong", {}, decision),
        h("span", { class: "means" }, WORDS[decision]),
      ),
      h("p", {}, h("span", { class: "label" }, "rule "), h("code", { class: "rule-name" }, rule)),
      h("p", { class: "reason" }, reason),
      roles.length > 0 && h("p", {}, h("span", { class: "label" }, "asks about "), roles.join(", ")),
    );
  }

  fail(message: string): void {
    this.element.dataset.decision = "none";
    fill(this.element, h("p", { class: "decision" }, "The engine does not run"), h("p", {}, message));
  }
}
