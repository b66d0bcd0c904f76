// The playground in headless Chromium: how long a key takes to a verdict, and a first visit to the first one.
// `npm run bench` builds the page and prints medians and the longest times, in milliseconds.
import { readdirSync, readFileSync } from "node:fs";
import { argument, open, stop } from "../test/page.mjs";

const TIMES = 9;

const worst = (times) =>
  Math.max(...times)
    .toFixed(0)
    .padStart(6);

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

/** A process and all that it started. */
function* family(id) {
  yield id;
  for (const task of readdirSync(`/proc/${id}/task`)) {
    for (const child of readFileSync(`/proc/${id}/task/${task}/children`, "utf8").match(/\d+/g) ?? []) {
      yield* family(child);
    }
  }
}

/** Milliseconds that the workers of the pages have computed for. They depend less on what else the machine does; Linux tells them. */
function computed() {
  const names = process.platform === "linux" ? [...family("self")] : [];
  const tasks = names.flatMap((id) => readdirSync(`/proc/${id}/task`).map((task) => `/proc/${id}/task/${task}`));
  const workers = tasks.filter((task) => readFileSync(`${task}/comm`, "utf8").startsWith("DedicatedWorker"));
  return workers.reduce((sum, task) => sum + Number.parseInt(readFileSync(`${task}/schedstat`, "utf8"), 10) / 1e6, 0);
}

/** Milliseconds from a key to the verdict on the screen, by the page's own clock. `press` is waited for with `between` keys. */
async function keyTimes(page, press, between = 600) {
  await page.evaluate(() => {
    globalThis.times = [];
    globalThis.pressed ??= [];
    const { pressed } = globalThis;
    if (!globalThis.isWatched) {
      globalThis.isWatched = true;
      addEventListener("keydown", () => pressed.push(performance.now()), { capture: true });
      watch();
    }

    /** Looks before each frame whether it shows a verdict. An observer may be told of that after the frame, and would wait for another. */
    function watch() {
      requestAnimationFrame(() => {
        if (performance.getEntriesByName("judged").length > 0 && pressed.length > 0) {
          const shown = pressed.splice(0);
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => globalThis.times.push(...shown.map((begin) => performance.now() - begin));
          port2.postMessage(undefined);
        }
        performance.clearMarks("judged");
        watch();
      });
    }
  });
  for (let at = 0; at < TIMES; at += 1) {
    await press();
    await page.waitForTimeout(between);
  }
  await page.waitForFunction(() => globalThis.pressed.length === 0);
  await page.waitForTimeout(200);
  const times = await page.evaluate(() => globalThis.times);
  return `${median(times)}, at most ${worst(times)}`;
}

const cold = [];
for (let at = 0; at < 7; at += 1) {
  // A browser with a new profile has neither the files nor the compiled module.
  const page = await open();
  cold.push(await page.evaluate(() => performance.getEntriesByName("judged")[0].startTime));
  await page.close();
  await stop();
}
console.log(`first verdict of a new browser, from localhost ${median(cold)}, at most ${worst(cold)}`);

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
  const say = (what, time) => console.log(`${String(count).padStart(6)} rules by ${kind.padEnd(12)} ${what} ${time}`);
  await argument(page, "path").click();
  const key = () => page.keyboard.type("a");
  say("a key in the form      ", await keyTimes(page, key));
  say("keys 100 ms apart      ", await keyTimes(page, key, 100));
  await page.locator("#panel-call").getByRole("button", { name: "JSON" }).click();
  await page.getByLabel("Call as JSON").click();
  await page.keyboard.press("ControlOrMeta+End");
  say("a key in the call's JSON", await keyTimes(page, () => page.keyboard.type(" ")));
  await page.getByLabel("Text of the bundle").click();
  await longestTask(page);
  const before = computed();
  const text = await keyTimes(page, () => page.keyboard.type(" "));
  const work = `its worker computes for ${((computed() - before) / TIMES).toFixed(0)} a key`;
  const task = await longestTask(page);
  say(
    "a key in the bundle    ",
    `${text}, the page ${task === 0 ? "never busy for 50" : `busy for ${task.toFixed(0)} at most`}, ${work}`,
  );
  await page.close();
}
await stop();
