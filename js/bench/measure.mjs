// Ratios of two ways to spend time, taken in turns: what else the machine does falls on both alike.

/** Nanoseconds a run, of `work` done `count` times. */
function spent(work, count) {
  const start = process.hrtime.bigint();
  for (let index = 0; index < count; index++) {
    work();
  }
  return Number(process.hrtime.bigint() - start) / count;
}

/** How often `work` must be done to last about `milliseconds`. */
function calibrated(work, milliseconds) {
  let count = 1;
  for (;;) {
    const each = spent(work, count);
    if (each * count > milliseconds * 1e5) {
      return Math.max(1, Math.ceil((milliseconds * 1e6) / each));
    }
    count *= 4;
  }
}

/**
 * Compares `ours` with `theirs` in many short rounds: the least nanoseconds of each, which is what it takes when
 * nothing else runs, and their ratio.
 */
export function compare(ours, theirs, { rounds = 151, milliseconds = 3 } = {}) {
  for (const work of [ours, theirs]) {
    spent(work, calibrated(work, 10 * milliseconds));
  }
  const counts = [ours, theirs].map((work) => calibrated(work, milliseconds));
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round++) {
    least[0] = Math.min(least[0], spent(ours, counts[0]));
    least[1] = Math.min(least[1], spent(theirs, counts[1]));
  }
  return { ours: least[0], theirs: least[1], ratio: least[0] / least[1] };
}
