// The time that the module takes to map a policy, once it is warm. The processor's time is shown beside the clock's, since other
// load on the machine lengthens the latter alone.
import { map } from "callgate/tools";

/** Nanoseconds of the quickest of `rounds` maps by the clock and by the processor's time, and how many tools and rows a map has. */
export function mapping(config, rounds = 15) {
  let tools = map(config);
  const least = { clock: Number.POSITIVE_INFINITY, processor: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round++) {
    const [start, before] = [process.hrtime.bigint(), process.cpuUsage()];
    tools = map(config);
    const { user, system } = process.cpuUsage(before);
    least.clock = Math.min(least.clock, Number(process.hrtime.bigint() - start));
    least.processor = Math.min(least.processor, (user + system) * 1000);
  }
  return { ...least, tools: tools.length, rows: tools.reduce((sum, tool) => sum + tool.rows.length, 0) };
}
