/** Everything that a person edits. It is what a link holds, and it is all text, so nothing in it can be half a value. */
export interface State {
  /** The texts of the bundle and of the files that it names. The first is the bundle. */
  readonly files: Readonly<Record<string, string>>;
  /** The machine that calls are judged on: JSON text of a `Machine`. */
  readonly machine: string;
  /** The call: JSON text. */
  readonly call: string;
  readonly scenarios: readonly Scenario[];
  /** The texts of the bundle that this one is compared with. */
  readonly before?: Readonly<Record<string, string>> | undefined;
}

/** A call with what is expected of it. */
export interface Scenario {
  /** JSON text. */
  readonly call: string;
  readonly name?: string | undefined;
  readonly expect?: Expectation | undefined;
  /** The rule that is expected to decide. */
  readonly rule?: string | undefined;
  /** The machine that the call is judged on, where it is not that of the page: JSON text of a `Machine`. */
  readonly world?: string | undefined;
  /** The host's answers when the call was made: JSON text of a `Recording`. By default the machine answers. */
  readonly recording?: string | undefined;
}

export const DECISIONS = ["allow", "escalate", "deny"] as const;

export type Decision = (typeof DECISIONS)[number];

/** `not-allow` is met by what escalates and by what is denied. */
export const EXPECTATIONS = [...DECISIONS, "not-allow"] as const;

export type Expectation = (typeof EXPECTATIONS)[number];

/** Returns `true` if a decision is what was expected. */
export function meets(decision: Decision, expected: Expectation): boolean {
  return expected === "not-allow" ? decision !== "allow" : decision === expected;
}

/** The name of the bundle among the files. */
export const BUNDLE = "callgate.json";

/** A part of the state that changed. */
export type Part = keyof State;

type Listener = (state: State, changed: ReadonlySet<Part>, source: unknown) => void;

/** Holds the state, and tells everybody what changed. */
export class Store {
  #state: State;
  readonly #listeners: Listener[] = [];

  constructor(state: State) {
    this.#state = state;
  }

  get state(): State {
    return this.#state;
  }

  /** Calls the listener after every change, with the one who made it, so that an editor does not write into itself. */
  subscribe(listener: Listener): void {
    this.#listeners.push(listener);
  }

  update(change: Partial<State>, source?: unknown): void {
    const changed = new Set((Object.keys(change) as Part[]).filter((part) => change[part] !== this.#state[part]));
    if (changed.size === 0) {
      return;
    }
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) {
      listener(this.#state, changed, source);
    }
  }
}
