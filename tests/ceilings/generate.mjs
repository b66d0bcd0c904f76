// Writes the case files of this folder: `node tests/ceilings/generate.mjs`. What each case expects stands in the modules
// beside this one, worked out from SPEC §5 (the last paragraph), §6.1, §8.3.4 and §12 by hand; no engine is asked.
// tests/README.md has the format.
import { writeFileSync } from "node:fs";
import "./limits.mjs";
import "./constraints.mjs";
import "./documents.mjs";
import "./sandbox.mjs";
import { files } from "./vocabulary.mjs";

for (const [name, groups] of Object.entries(files)) {
  const text = groups.map((one) => `${JSON.stringify(one)}\n`).join("");
  writeFileSync(new URL(`./${name}.jsonl`, import.meta.url), text);
  console.log(name, groups.reduce((count, { cases }) => count + cases.length, 0));
}
