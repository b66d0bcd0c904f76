// How the page looks, and whether everybody can use it. `SCREENSHOTS=write` keeps new pictures; look at them first.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { startChromium } from "../../test/tools/hosts.mjs";
import { check, DIST, open, skip, stop } from "./page.mjs";
import { STATES } from "./states.mjs";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const KEPT = fileURLToPath(new URL("screenshots", import.meta.url));
const SEEN = join(
  process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../../target", import.meta.url)),
  "playground",
);

/** Pictures are kept at half their size. Within a pixel of that, letters may differ from machine to machine. */
const SCALE = 0.5;
/** How much of a picture may differ, and how much a pixel may, of 255. */
const PART = 0.003;
const SHADE = 48;

after(stop);

check("arrow keys move between tabs, and the first link leads to the call", async (page) => {
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.getByRole("tab", { name: "Scenarios" }).getAttribute("aria-selected"), "true");
  assert.ok(await page.locator("#panel-call").isHidden());
  await page.keyboard.press("ArrowRight");
  assert.ok(await page.locator("#panel-call").isVisible());
});

check("a theme is chosen and kept", async (page) => {
  const dark = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  assert.equal(await dark(), "light dark");
  await page.locator("#theme").click();
  await page.locator("#theme").click();
  assert.equal(await dark(), "dark");
  await page.reload();
  await page.locator("#theme", { hasText: "Theme: dark" }).click();
});

check(
  "at 320 pixels every cell of a scenario is on the screen, and rows are high enough for a finger",
  async (page) => {
    await page.setViewportSize({ width: 320, height: 700 });
    await page.getByRole("tab", { name: "Machine" }).click();
    const rows = await page.locator(".entry").evaluateAll((all) => all.map(({ offsetHeight }) => offsetHeight));
    assert.ok(Math.min(...rows) >= 24, `${Math.min(...rows)} pixels`);
    await page.getByRole("button", { name: "↓ Trial" }).click();
    await page.getByRole("tab", { name: "Scenarios" }).click();
    await page.locator("tbody tr.met").first().waitFor();
    const right = await page
      .locator("tbody :is(.badge, .icon, select, .plain)")
      .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().right));
    assert.ok(Math.max(...right) <= 320, `${Math.max(...right)} of 320`);
    // Stacked cells are still those of a table.
    assert.equal(await page.getByRole("row").count(), 15);
    assert.equal(await page.getByRole("row").first().getByRole("cell").count(), 3);
  },
  { wide: false },
);

check(
  "on a narrow page the tabs and the way to the other half are one row, and on a phone so are the buttons",
  async (page) => {
    await page.locator("#tab-scenarios", { hasText: "15 of 15 as expected" }).waitFor();
    for (const width of [360, 390, 480, 820]) {
      await page.setViewportSize({ width, height: 844 });
      const boxes = (of) =>
        page.locator(of).evaluateAll((all) =>
          all.map((element) => {
            const { left, right, top, bottom } = element.getBoundingClientRect();
            return { left, right, middle: (top + bottom) / 2 };
          }),
        );
      const isRow = (found, what) => {
        assert.ok(found.length > 1, what);
        for (const [at, { left, middle }] of found.entries()) {
          assert.ok(Math.abs(middle - found[0].middle) < 12, `${what} at ${width}`);
          assert.ok(at === 0 || left >= found[at - 1].right, `${what} at ${width}`);
        }
        assert.ok(found.at(-1).right <= width, `${what} at ${width}`);
      };
      isRow(await boxes("#documents .bar button"), "documents");
      isRow(await boxes("#trial .bar button"), "trial");
      isRow(await boxes("header .actions button"), "actions");
    }
    // What is not shown is read aloud.
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Export bundle" }).waitFor();
    await page.getByRole("button", { name: "↑ Documents" }).waitFor();
    await page.getByRole("tab", { name: "Scenarios 15 of 15 as expected" }).waitFor();
  },
  { wide: false },
);

test("a page that is opened as a file says why nothing happens", { skip }, async () => {
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(DIST, "index.html")).href);
    await page.getByText("browsers run it only from a web server").waitFor();
  } finally {
    await browser.close();
  }
});

for (const [name, options, run] of STATES) {
  test(`${name}: everybody can use it, and it looks as it did`, { skip }, async (t) => {
    const page = await open(options);
    try {
      await run(page);
      await t.test("axe finds nothing", () => usable(page));
      await t.test("nothing is cut off at the side", () => fits(page));
      await t.test("it looks as it did", () => looks(page, name));
    } finally {
      await page.done();
    }
  });
}

async function usable(page) {
  // Not a script of the page, so its policy does not forbid it.
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.map(({ html }) => html.slice(0, 200)),
    }));
  });
  assert.deepEqual(
    violations.filter(({ impact }) => impact !== "minor"),
    [],
  );
}

async function fits(page) {
  const [content, window] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    document.documentElement.clientWidth,
  ]);
  assert.ok(content <= window, `${content} pixels in ${window}`);
}

async function looks(page, name) {
  await page.evaluate(() => {
    document.querySelector("#announcement").textContent = "";
    document.querySelector("#announcement").className = "";
  });
  const taken = await page.screenshot({ animations: "disabled" });
  const file = join(KEPT, `${name}.webp`);
  const small = Buffer.from(await drawn(page, taken.toString("base64"), SCALE), "base64");
  if (process.env.SCREENSHOTS === "write") {
    await mkdir(KEPT, { recursive: true });
    await writeFile(file, small);
    if (name === "denied") {
      // The picture in the README.
      const picture = await drawn(page, taken.toString("base64"), 1);
      await writeFile(fileURLToPath(new URL("../playground.webp", import.meta.url)), Buffer.from(picture, "base64"));
    }
    return;
  }
  assert.ok(existsSync(file), `there is no picture of ${name}; look at one, then keep it with SCREENSHOTS=write`);
  const part = await differing(page, small.toString("base64"), (await readFile(file)).toString("base64"));
  if (part > PART) {
    await mkdir(SEEN, { recursive: true });
    await writeFile(join(SEEN, `${name}.webp`), small);
  }
  assert.ok(
    part <= PART,
    `${(part * 100).toFixed(2)} % of the picture differs; the new one is ${join(SEEN, name)}.webp`,
  );
}

/** The picture in another size, made by the browser, so that no library for pictures is needed. */
function drawn(page, picture, scale) {
  return blank(page, async (other) =>
    other.evaluate(
      async ([picture, scale]) => {
        const image = new Image();
        image.src = `data:image/png;base64,${picture}`;
        await image.decode();
        const canvas = document.createElement("canvas");
        canvas.width = image.width * scale;
        canvas.height = image.height * scale;
        const context = canvas.getContext("2d");
        context.imageSmoothingQuality = "high";
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        return canvas.toDataURL("image/webp", 0.9).split(",")[1];
      },
      [picture, scale],
    ),
  );
}

/** The part of two pictures' pixels that differ. */
function differing(page, one, other) {
  return blank(page, (drawing) =>
    drawing.evaluate(
      async ([pictures, shade]) => {
        const pixels = await Promise.all(
          pictures.map(async (picture) => {
            const image = new Image();
            image.src = `data:image/webp;base64,${picture}`;
            await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height);
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            return context.getImageData(0, 0, image.width, image.height);
          }),
        );
        const [one, other] = pixels;
        if (one.width !== other.width || one.height !== other.height) {
          return 1;
        }
        let count = 0;
        for (let at = 0; at < one.data.length; at += 4) {
          count += [0, 1, 2].some((colour) => Math.abs(one.data[at + colour] - other.data[at + colour]) > shade);
        }
        return count / (one.width * one.height);
      },
      [[one, other], SHADE],
    ),
  );
}

/** Does something in an empty page, which has no policy. */
async function blank(page, run) {
  const other = await page.context().newPage();
  try {
    return await run(other);
  } finally {
    await other.close();
  }
}
