import { CallgateError } from "../errors.js";
import { ask, type Looked, listen, type Telling } from "../tools/policy.js";
import { EXIT } from "./exit.js";
import { answer, Failure, note } from "./output.js";
import { type Doubt, sarif } from "./sarif.js";
import { type Setup, sound } from "./setup.js";
import { packageVersion } from "./version.js";

/** The documents, and how they are looked at. */
interface Look extends Setup {
  /** `true`: with the links and repositories of this machine. */
  readonly disk?: boolean | undefined;
}

/** Writes what the module tells, each line as it comes. */
function write(tell: Telling): void {
  listen(tell, answer);
}

/** Shows what the documents allow. */
export function map(look: Look, tools: readonly string[], to: string | undefined, only: readonly string[]): number {
  const asked = JSON.stringify({ tools, to, only });
  try {
    ask(sound(look).config, ({ policy }) => write((listener) => policy.tellMap(asked, look.disk ?? false, listener)));
  } catch (thrown) {
    // That a target or a verdict finds nothing is an answer.
    const isEmpty = thrown instanceof CallgateError && thrown.code === "invalid-argument";
    if (isEmpty && (to !== undefined || only.length > 0)) {
      return EXIT.allow;
    }
    throw isEmpty ? new Failure(thrown.message) : thrown;
  }
  return EXIT.allow;
}

/** Shows what is doubtful. */
export function lint(look: Look, denies: boolean, asSarif: boolean): number {
  const { config } = sound(look);
  const doubts: Doubt[] = [];
  ask(config, ({ policy }: Looked) =>
    listen(
      (listener) => policy.tellFindings(look.disk ?? false, listener),
      (line) => {
        const doubt = JSON.parse(line) as Doubt;
        const file = config.files?.[doubt.path.split(/[.[]/, 1)[0] as keyof NonNullable<typeof config.files>];
        doubts.push(file === undefined ? doubt : { ...doubt, file });
        if (!asSarif) {
          answer(file === undefined ? line : `{"file":${JSON.stringify(file)},${line.slice(1)}`);
        }
      },
    ),
  );
  if (asSarif) {
    answer(sarif(doubts, packageVersion()));
  }
  return denies && doubts.length > 0 ? EXIT.invalid : EXIT.allow;
}

/** Proves the statements about all calls, or refutes them. */
export function check(look: Look): number {
  const found = new Set<string>();
  ask(sound(look).config, ({ policy }) =>
    listen(
      (listener) => policy.tellStatements(look.disk ?? false, listener),
      (line) => {
        found.add((JSON.parse(line) as { readonly result: string }).result);
        answer(line);
      },
    ),
  );
  if (found.size === 0) {
    note("the bundle has no `invariants`");
  }
  if (found.has("refuted")) {
    return EXIT.deny;
  }
  return found.has("unknown") || found.has("empty") ? EXIT.fault : EXIT.allow;
}

/** The same for two bundles. */
interface DiffLook extends Look {
  /** `true`: the first is an earlier state of the second, checked out elsewhere. */
  readonly "same-folder"?: boolean | undefined;
}

/** The changes for which `diff` can be told to fail. */
const WAYS = ["looser", "stricter", "any"];

/** Shows what changes between two bundles. */
export function diff(before: string, after: string, look: DiffLook, fails: readonly string[]): number {
  const unknown = fails.find((way) => !WAYS.includes(way));
  if (unknown !== undefined) {
    throw new Failure(`\`--fail-on\` is \`${unknown}\`, expected \`${WAYS.join("`, `")}\``);
  }
  const quiet = { ...look, verbose: false };
  const now = sound({ ...quiet, bundle: after }).config;
  const own = look["same-folder"] && now.folder !== undefined ? { folder: now.folder } : {};
  const old = { ...sound({ ...quiet, bundle: before }).config, ...own };
  let last = "{}";
  ask(old, (earlier) =>
    ask(now, (later) =>
      listen(
        (listener) => earlier.policy.tellChanges(later.policy, look.disk ?? false, listener),
        (line) => {
          last = line;
          answer(line);
        },
      ),
    ),
  );
  const counts = JSON.parse(last) as Readonly<Record<"looser" | "stricter" | "otherRule" | "unknown", number>>;
  const { looser, stricter, otherRule } = counts;
  const changed = { looser, stricter, any: looser + stricter + otherRule } as Readonly<Record<string, number>>;
  if (fails.some((way) => (changed[way] ?? 0) > 0)) {
    return EXIT.deny;
  }
  return counts.unknown > 0 ? EXIT.fault : EXIT.allow;
}
