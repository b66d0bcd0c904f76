import type { Engine } from "../api/create-engine.js";
import { CallgateError } from "../errors.js";
import { member, reading } from "../members.js";
import { errorFor, INTERNAL_ERROR, isObject, type Members } from "./message.js";
import { checkedFilter, engineOf, type GatedTool, type ToolsFilter } from "./options.js";
import { PARTS, type Pins, pinsOf } from "./pins.js";
import { misnamed, unclearName } from "./strict.js";

/**
 * The tools that a model may know of: those whose every call is denied, as {@link Engine.deniesEveryCall} says, or that are
 * held back by the lock file are left out.
 *
 * @throws `CallgateError` `invalid-document` if the lock file is not one.
 */
export function filterTools<Tool extends GatedTool>(tools: readonly Tool[], options: ToolsFilter): Tool[] {
  return reading("tools", () => {
    const { lock, serverName, ...filter } = checkedFilter(options);
    const pins = pinsOf(lock, serverName);
    const engine = engineOf({ serverName, ...filter });
    if (!Array.isArray(tools)) {
      throw new CallgateError("invalid-argument", "the tools are not an array");
    }
    return tools.filter((tool) => {
      const name: unknown = isObject(tool) ? member(tool, "name") : undefined;
      if (typeof name !== "string") {
        throw new CallgateError("invalid-argument", "a tool has no `name` that is a string");
      }
      return misnamed(tool, PARTS) === undefined && !isHidden(engine, serverName, { name, tool }, pins, 0);
    });
  });
}

function isHidden(
  engine: Engine,
  serverName: string,
  { name, tool }: ListedTool,
  pins: Pins | undefined,
  edition: number,
): boolean {
  const isHeldBack = pins?.lists(name, tool, edition) ?? false;
  // A client in C takes a name with a NUL for the one that ends there.
  return isHeldBack || unclearName(name) !== undefined || engine.deniesEveryCall(serverName, name);
}

/** A tool as a server lists it. */
interface ListedTool {
  readonly name: string;
  readonly tool: unknown;
}

/** The tools of a server's answer to `tools/list`, or why they cannot be read. */
export function readTools(result: unknown): readonly ListedTool[] | string {
  const isClear = isObject(result) && misnamed(result, ["tools", "nextCursor"]) === undefined;
  const listed = isClear ? member(result, "tools") : undefined;
  if (!Array.isArray(listed)) {
    return "has no readable `result.tools`";
  }
  const tools: ListedTool[] = [];
  for (const tool of listed as unknown[]) {
    // What was accepted would be the one member, and what a model is shown the other.
    const name = isObject(tool) && misnamed(tool, PARTS) === undefined ? member(tool, "name") : undefined;
    if (typeof name !== "string") {
      return "has no readable `result.tools`";
    }
    tools.push({ name, tool });
  }
  return new Set(tools.map(({ name }) => name)).size < tools.length ? "has a tool twice" : tools;
}

/**
 * The answer to a `tools/list` of this edition without the tools that are hidden. One whose tools cannot be read is an error.
 */
export function filteredAnswer(
  answer: Members,
  engine: Engine,
  serverName: string,
  pins: Pins | undefined,
  edition: number,
): Members {
  const result = member(answer, "result");
  if (result === undefined) {
    return answer;
  }
  const listed = readTools(result);
  if (typeof listed === "string") {
    return errorFor(answer.id, INTERNAL_ERROR, `the server's answer to \`tools/list\` ${listed}`);
  }
  const shown = listed.filter((one) => !isHidden(engine, serverName, one, pins, edition));
  if (shown.length === listed.length) {
    return answer;
  }
  return { ...answer, result: { ...(result as Members), tools: shown.map(({ tool }) => tool) } };
}
