// Compares two functions in alternating rounds, so that other load on the machine affects both alike.

/** Nanoseconds per run of `work`, over `count` runs. */
function spent(work, count) {
  const start = process.hrtime.bigint();
  for (let index = 0; index < count; index++) {
    work();
  }
  return Number(process.hrtime.bigint() - start) / count;
}

/** How many runs of `work` take about `milliseconds`. */
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
 * Compares `ours` with `theirs` in many short rounds. Returns the minimum of each in nanoseconds, which is least affected
 * by other load, and the ratio.
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
