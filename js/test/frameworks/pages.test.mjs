// The first program of each page prints what its last comment says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const pages = fileURLToPath(new URL("../pages", import.meta.url));

for (const name of readdirSync(pages).filter((name) => name.endsWith(".md"))) {
  test(`the program of ${name}`, () => {
    const [, program] = /^```js\n(.*?)^```$/ms.exec(readFileSync(join(pages, name), "utf8"));
    const [, expected] = /^\/\/ Prints:\n((?:\/\/ .*\n)+)$/m.exec(program);
    const file = join(pages, name.replace(".md", ".mjs"));
    writeFileSync(file, program);
    assert.equal(execFileSync(process.execPath, [file], { encoding: "utf8" }), expected.replaceAll(/^\/\/ /gm, ""));
  });
}
