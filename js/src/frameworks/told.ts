// What a model is told of a verdict, where it may learn nothing of the host. The services of the command say the same.
import type { Verdict } from "../types.js";

/** Rules whose reasons the engine words. */
const OF_THE_ENGINE = /^(structural-.*|default-deny|trusted-server)$/;

/** What stands in place of a path. */
const HIDDEN = "…";

/**
 * The reason of a verdict without paths that the agent did not give itself. A rule's own words stay: whoever wrote the policy chose
 * them for agents to read.
 */
export function reasonForAgent({ rule, reason }: Verdict, given: unknown): string {
  return OF_THE_ENGINE.test(rule) ? withoutPaths(reason, JSON.stringify(given) ?? "") : reason;
}

/** A path goes to the quote that ends it, or to the end where it is not quoted: it may have spaces. */
function withoutPaths(reason: string, given: string): string {
  let told = "";
  let rest = reason;
  let before = " ";
  while (rest !== "") {
    const first = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    if (first !== "/" || /[\p{Alphabetic}\p{N}]/u.test(before)) {
      told += first;
      before = first;
      rest = rest.slice(first.length);
      continue;
    }
    const path = rest.slice(0, lengthOf(rest, told));
    told += isUrl(rest, told) || given.includes(path) ? path : HIDDEN;
    before = " ";
    rest = rest.slice(path.length);
  }
  return told;
}

function isUrl(rest: string, told: string): boolean {
  return told.endsWith(":") && rest.startsWith("//") && !told.endsWith("file:");
}

function lengthOf(rest: string, told: string): number {
  const last = told.slice(-1);
  const [quote] = ['"', "`", "'"].filter((mark) => mark === last);
  const end = isUrl(rest, told)
    ? rest.search(/["` ]/)
    : quote !== undefined
      ? rest.indexOf(quote)
      : told.endsWith("file:")
        ? rest.search(/["`]/)
        : -1;
  return end < 0 ? rest.length : end;
}
