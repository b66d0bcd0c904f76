import type { Host } from "../host.js";

/** The part of a host that answers about git. */
export type GitAnswers = Pick<Host, Extract<keyof Host, `git${string}`>>;

/** A host's answers about git for one evaluation: a configuration is read once. */
export interface Reading extends GitAnswers {
  /** Frees what was read. */
  end(): void;
}

/**
 * How to begin a reading, by host. It belongs to one host and not to its methods: a host that was made from another one's
 * methods, with some of its own, must be asked itself.
 */
const readings = new WeakMap<Host, () => Reading>();

/** Says how the host reads git's configuration once in an evaluation. */
export function setReading(host: Host, begin: () => Reading): void {
  readings.set(host, begin);
}

/** Begins a reading; `undefined` if the host has none, and is asked itself. */
export function beginReading(host: Host): Reading | undefined {
  return readings.get(host)?.();
}
