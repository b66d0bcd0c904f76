// Writes the case files of this folder: `node tests/ceilings/generate.mjs`. What each case expects stands in the modules
// beside this one, worked out from SPEC §5 (the last paragraph), §6.1, §8.3.4 and §12 by hand; no engine is asked.
// With `--check` it writes nothing, and fails if a file is not what the tables say. tests/README.md has the format.
import { readFileSync, writeFileSync } from "node:fs";
import "./limits.mjs";
import "./constraints.mjs";
import "./documents.mjs";
import "./sandbox.mjs";
import { files } from "./vocabulary.mjs";

const isCheck = process.argv.includes("--check");
for (const [name, groups] of Object.entries(files)) {
  const text = groups.map((one) => `${JSON.stringify(one)}\n`).join("");
  const file = new URL(`./${name}.jsonl`, import.meta.url);
  if (!isCheck) {
    writeFileSync(file, text);
    console.log(name, groups.reduce((count, { cases }) => count + cases.length, 0));
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`tests/ceilings/${name}.jsonl is not what the tables say: change those, and run the generator`);
    process.exitCode = 1;
  }
}
