import { CallgateError } from "../errors.js";
import { isObject, type Members } from "./message.js";

/** The parts of a tool that are pinned: what a model sees of it. */
const PARTS = ["name", "title", "description", "inputSchema", "annotations"];

const UNPINNED = "The tool is not pinned: nobody has accepted it yet";
const CHANGED = "The tool has changed since it was pinned: nobody has accepted the change yet";

/** The tools of one server that were accepted, and those that it listed last. */
export interface Pins {
  /** Remembers a tool as the server lists it, and says whether it is held back. */
  lists(name: string, tool: unknown): boolean;
  /** Why a tool may not be called until a person has accepted it, if it may not. */
  heldBack(name: string): string | undefined;
}

/**
 * The pins of a server in a lock file.
 *
 * @throws {@link CallgateError} `invalid-document` if it is not a lock file. That is not the same as one without tools.
 */
export function pinsOf(lock: unknown, serverName: string): Pins | undefined {
  if (lock === undefined) {
    return undefined;
  }
  const accepted = new Map<string, string>();
  for (const [name, pin] of Object.entries(toolsIn(lock, serverName))) {
    const tool = isObject(pin) ? pin.tool : undefined;
    if (!isObject(tool)) {
      throw refused(`the tool \`${name}\` of \`${serverName}\` is not an object`);
    }
    accepted.set(name, shown(tool));
  }
  const changed = new Set<string>();
  const heldBack = (name: string): string | undefined => {
    if (!accepted.has(name)) {
      return UNPINNED;
    }
    return changed.has(name) ? CHANGED : undefined;
  };
  return {
    lists(name, tool) {
      if (accepted.has(name)) {
        if (accepted.get(name) === shown(tool)) {
          changed.delete(name);
        } else {
          changed.add(name);
        }
      }
      return heldBack(name) !== undefined;
    },
    heldBack,
  };
}

function toolsIn(lock: unknown, serverName: string): Members {
  let read = lock;
  if (typeof lock === "string") {
    try {
      read = JSON.parse(lock);
    } catch (thrown) {
      throw refused(`it is not JSON: ${(thrown as Error).message}`);
    }
  }
  if (!isObject(read) || read.format !== "callgate-lock/1" || !isObject(read.servers)) {
    throw refused("expected an object of the format `callgate-lock/1`");
  }
  const tools = Object.hasOwn(read.servers, serverName) ? read.servers[serverName] : {};
  if (!isObject(tools)) {
    throw refused(`the tools of \`${serverName}\` are not an object`);
  }
  return tools;
}

function refused(reason: string): CallgateError {
  return new CallgateError("invalid-document", `the lock file: ${reason}`);
}

/** The pinned parts of a tool as text, members by name. */
function shown(tool: unknown): string {
  const members = isObject(tool) ? Object.entries(tool).filter(([name]) => PARTS.includes(name)) : [];
  return JSON.stringify(sorted(Object.fromEntries(members)));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (!isObject(value)) {
    return value;
  }
  // Entries, because an object may have a member `__proto__`.
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return entries.sort(([one], [other]) => (one < other ? -1 : 1));
}
