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

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}

/**
 * Compares `ours` with `theirs`: the medians in nanoseconds, and the median of the ratios of rounds that lie next to
 * each other.
 */
export function compare(ours, theirs, { rounds = 41, milliseconds = 8 } = {}) {
  for (const work of [ours, theirs]) {
    spent(work, calibrated(work, 4 * milliseconds));
  }
  const counts = [ours, theirs].map((work) => calibrated(work, milliseconds));
  const times = Array.from({ length: rounds }, () => [spent(ours, counts[0]), spent(theirs, counts[1])]);
  return {
    ours: median(times.map(([one]) => one)),
    theirs: median(times.map(([, other]) => other)),
    ratio: median(times.map(([one, other]) => one / other)),
  };
}
