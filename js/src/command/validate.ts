import { EXIT } from "./exit.js";
import { answer } from "./output.js";
import { load, type Setup } from "./setup.js";

/** Checks the documents, and returns what the process ends with. */
export function validate(setup: Setup & { readonly strict?: boolean | undefined }): number {
  const { handle, faults } = load(setup);
  const errors = faults.filter(({ severity }) => severity === "error");
  const warnings = faults.filter(({ severity }) => severity !== "error");
  const valid = handle !== undefined && !(setup.strict && warnings.length > 0);
  answer(JSON.stringify({ valid, errors, warnings }));
  return valid ? EXIT.allow : EXIT.invalid;
}
