import type { Judged } from "../engine/protocol.js";
import { meets, type Scenario } from "../state.js";

/** The result of a scenario; `none` if nothing can be judged, since the documents have faults. */
export type ScenarioState = "open" | "none" | "met" | "unmet";

export function stateOf({ expect, rule }: Scenario, result: Judged | undefined): ScenarioState {
  if (result === undefined) {
    return "open";
  }
  if (!("verdict" in result)) {
    return result.faults.some(({ code }) => code === "not-ready") ? "none" : "unmet";
  }
  const { decision, rule: found } = result.verdict;
  return (expect === undefined || meets(decision, expect)) && (rule === undefined || rule === found) ? "met" : "unmet";
}
