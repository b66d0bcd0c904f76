// The playground in headless Chromium: how long a key takes to a verdict, and a first visit to the first one.
// `npm run bench:playground` builds the page and prints medians, in milliseconds.
import { argument, open, stop } from "../playground/test/page.mjs";

const TIMES = 9;

const median = (times) =>
  times
    .sort((one, other) => one - other)
    [times.length >> 1].toFixed(0)
    .padStart(6);

/** Rules that each name another directory, which the machine is asked about, or another tool, which an index passes over. */
const rules = (kind, count) =>
  Array.from({ length: count }, (_, at) => ({
    name: `rule-${at}`,
    if: kind === "directories" ? { paths: { roles: "read-path", within: `/srv/${at}` } } : { tool: `tool_${at}` },
    then: at % 2 === 0 ? "allow" : "escalate",
    reason: `Reason ${at}`,
  }));

const bundle = (kind, count) =>
  JSON.stringify(
    {
      policy: {
        rules: [...rules(kind, count), { name: "last", if: { roles: "read-path" }, then: "escalate", reason: "Ask" }],
      },
      annotations: {
        servers: {
          filesystem: {
            tools: [
              { toolName: "read_text_file", args: { path: "read-path" } },
              ...(kind === "tools" ? rules(kind, count).map(({ if: { tool } }) => ({ toolName: tool, args: {} })) : []),
            ],
          },
        },
      },
    },
    null,
    2,
  );

/** The longest time, of those above 50 milliseconds, in which the page answered nothing since this was last asked; 0 if none. */
function longestTask(page) {
  return page.evaluate(() => {
    globalThis.watching ??= new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries()));
    globalThis.watching.observe({ type: "longtask" });
    const longest = Math.max(0, ...(globalThis.tasks ?? []).map(({ duration }) => duration));
    globalThis.tasks = [];
    return longest;
  });
}

/** Milliseconds from a key to the verdict, by the page's own clock. */
async function keyTimes(page, press) {
  const times = [];
  for (let at = 0; at < TIMES; at += 1) {
    await page.evaluate(() => {
      globalThis.taken = new Promise((resolve) => {
        let begin;
        addEventListener(
          "keydown",
          () => {
            begin = performance.now();
          },
          { capture: true, once: true },
        );
        new PerformanceObserver((list, observer) => {
          if (begin !== undefined) {
            observer.disconnect();
            resolve(list.getEntries().at(-1).startTime - begin);
          }
        }).observe({ type: "mark" });
      });
    });
    await press();
    times.push(await page.evaluate(() => globalThis.taken));
    await page.waitForTimeout(600);
  }
  return median(times);
}

const cold = [];
for (let at = 0; at < 7; at += 1) {
  const page = await open();
  cold.push(await page.evaluate(() => performance.getEntriesByName("verdict")[0].startTime));
  await page.close();
}
console.log(`first verdict of a new page, from localhost   ${median(cold)}`);

for (const [kind, count] of [
  ["directories", 36],
  ["tools", 10_000],
  ["directories", 10_000],
]) {
  const page = await open();
  await page.locator("#file").setInputFiles({
    name: "callgate.json",
    mimeType: "application/json",
    buffer: Buffer.from(bundle(kind, count)),
  });
  await page.locator(".verdict .rule-name", { hasText: "last" }).waitFor();
  await page.waitForTimeout(3000);
  await argument(page, "path").click();
  const call = await keyTimes(page, () => page.keyboard.type("a"));
  console.log(`${String(count).padStart(6)} rules by ${kind.padEnd(12)} a key in the call    ${call}`);
  await page.getByLabel("Text of the bundle").click();
  await longestTask(page);
  const text = await keyTimes(page, () => page.keyboard.type(" "));
  const task = await longestTask(page);
  const busy = task === 0 ? "never busy for 50" : `busy for ${task.toFixed(0)} at most`;
  console.log(
    `${String(count).padStart(6)} rules by ${kind.padEnd(12)} a key in the bundle  ${text}, the page ${busy}`,
  );
  await page.close();
}
await stop();
