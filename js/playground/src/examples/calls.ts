import type { Machine } from "callgate";
import type { Expectation, Scenario } from "../state.js";

/** Lines of calls as scenarios. */
export function fromLines(lines: string, expected: readonly Expectation[]): Scenario[] {
  return lines
    .trim()
    .split("\n")
    .map((line, at) => ({ call: pretty(JSON.parse(line)), expect: expected[at] }));
}

export function scenario(name: string, expect: Expectation, rule: string, call: object): Scenario {
  return { name, call: pretty(call), expect, rule };
}

export function pretty(value: object | Machine): string {
  return JSON.stringify(value, null, 2);
}
