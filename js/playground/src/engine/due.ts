import type { Change } from "./protocol.js";

/** The steps after a change, in this order: a verdict waits for nothing else. */
const STEPS = ["documents", "verdict", "faults", "explanation", "scenarios"] as const;

export type Step = (typeof STEPS)[number];

/** The steps that need each part of the state. */
const NEEDED: Readonly<Record<keyof Change, readonly Step[]>> = {
  files: STEPS,
  edits: STEPS,
  machine: STEPS,
  call: ["verdict", "explanation"],
  scenarios: ["scenarios"],
  added: [],
};

/** The steps that are due. A step that is due twice is done once. */
export class Due {
  readonly #steps = new Set<Step>();

  changed(change: Change): void {
    for (const part of Object.keys(change) as (keyof Change)[]) {
      for (const step of NEEDED[part]) {
        this.#steps.add(step);
      }
    }
  }

  /** The first step that is due. It stays due until it is done. */
  get first(): Step | undefined {
    return STEPS.find((step) => this.#steps.has(step));
  }

  done(step: Step): void {
    this.#steps.delete(step);
  }
}
