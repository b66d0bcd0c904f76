import type { Scenario } from "./state.js";

const numbers = new WeakMap<Scenario, number>();
let last = 0;

/** The number by which the engine's worker knows a scenario. A scenario is never changed, only replaced. */
export function numberOf(scenario: Scenario): number {
  let number = numbers.get(scenario);
  if (number === undefined) {
    last += 1;
    number = last;
    numbers.set(scenario, number);
  }
  return number;
}
