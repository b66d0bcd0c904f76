import type { Engine } from "../api/create-engine.js";
import { errorFor, INTERNAL_ERROR, isObject, type Members } from "./message.js";
import { engineOf, type GatedTool, type ToolsFilter } from "./options.js";
import { PARTS, type Pins, pinsOf } from "./pins.js";
import { misnamed } from "./strict.js";

/**
 * The tools that a model may know of: those whose every call is denied, as {@link Engine.deniesEveryCall} says, or that are
 * held back by the lock file are left out.
 *
 * @throws `CallgateError` `invalid-document` if the lock file is not one.
 */
export function filterTools<Tool extends GatedTool>(tools: readonly Tool[], options: ToolsFilter): Tool[] {
  const pins = pinsOf(options.lock, options.serverName);
  const engine = engineOf(options);
  return tools.filter((tool) => !isHidden(engine, options.serverName, tool.name, tool, pins));
}

function isHidden(engine: Engine, serverName: string, name: string, tool: unknown, pins: Pins | undefined): boolean {
  const isHeldBack = pins?.lists(name, tool) ?? false;
  return isHeldBack || engine.deniesEveryCall(serverName, name);
}

/** The answer to `tools/list` without the tools that are hidden. One whose tools cannot be read is an error. */
export function filteredAnswer(answer: Members, engine: Engine, serverName: string, pins: Pins | undefined): Members {
  const { result } = answer;
  if (result === undefined) {
    return answer;
  }
  const refused = (reason: string): Members =>
    errorFor(answer.id, INTERNAL_ERROR, `the server's answer to \`tools/list\` ${reason}`);
  const listed = isObject(result) && misnamed(result, ["tools"]) === undefined ? result.tools : undefined;
  if (!Array.isArray(listed)) {
    return refused("has no readable `result.tools`");
  }
  const names = new Set<string>();
  const shown: unknown[] = [];
  for (const tool of listed as unknown[]) {
    // What was accepted would be the one member, and what a model is shown the other.
    const name = isObject(tool) && misnamed(tool, PARTS) === undefined ? tool.name : undefined;
    if (typeof name !== "string") {
      return refused("has no readable `result.tools`");
    }
    if (names.has(name)) {
      return refused("has a tool twice");
    }
    names.add(name);
    if (!isHidden(engine, serverName, name, tool, pins)) {
      shown.push(tool);
    }
  }
  return shown.length === listed.length ? answer : { ...answer, result: { ...(result as Members), tools: shown } };
}
