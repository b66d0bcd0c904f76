import { sha256 } from "../../wasm/callgate.js";
import { CallgateError } from "../errors.js";
import { member } from "../members.js";
import { within } from "../wasm/module.js";
import { canonical, canonicalExact, parseExact } from "./canonical.js";
import { isObject } from "./message.js";
import { ambiguity } from "./strict.js";

/** The parts of a tool that MCP has: no other member may be taken for one of them. All that is listed of a tool is pinned. */
export const PARTS = [
  "name",
  "title",
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "execution",
  "icons",
  "_meta",
];

const UNPINNED = "The tool is not pinned: nobody has accepted it yet";
const CHANGED = "The tool has changed since it was pinned: nobody has accepted the change yet";
const UNCLEAR = "Two programs may read the tool differently, so it cannot be compared with the one that was pinned";
const GONE = "The server does not list the tool any more, so it cannot be compared with the one that was pinned";
const NOT_LISTED = "The server has not listed its tools, so the pinned tool cannot be verified";

/** The tools of one server that were accepted, and those that it listed last. */
export interface Pins {
  /** Remembers a tool as the server lists it, in its answer to a request of this edition, and says whether it is held back. */
  lists(name: string, tool: unknown, edition: number): boolean;
  /** Why a tool may not be called until a person has accepted it, if it may not. */
  heldBack(name: string): string | undefined;
  /** Returns `true` if the server has to list its tools before it is known what the tool is. */
  isUnknown(name: string): boolean;
  /** Grows whenever the server says that its tools have changed. */
  readonly edition: number;
  /** The server says that its tools have changed: what it listed before does not count any more. */
  outdate(): void;
  /** All tools of this edition were listed. */
  complete(edition: number): void;
}

/**
 * The pins of a server in a lock file.
 *
 * @throws {@link CallgateError} `invalid-document` if it is not a lock file. That is not the same as one without tools.
 */
export function pinsOf(lock: unknown, serverName: string): Pins | undefined {
  return lock === undefined ? undefined : new ListedTools(acceptedIn(lock, serverName));
}

class ListedTools implements Pins {
  readonly #accepted: ReadonlyMap<string, string>;
  readonly #listed = new Map<string, { readonly edition: number; readonly differs: string | undefined }>();
  #complete = -1;
  edition = 0;

  constructor(accepted: ReadonlyMap<string, string>) {
    this.#accepted = accepted;
  }

  lists(name: string, tool: unknown, edition: number): boolean {
    const accepted = this.#accepted.get(name);
    if (accepted === undefined) {
      return true;
    }
    const differs = difference(accepted, tool);
    // An answer to an earlier request says nothing of the tools as they are now.
    if ((this.#listed.get(name)?.edition ?? -1) <= edition) {
      this.#listed.set(name, { edition, differs });
    }
    return differs !== undefined;
  }

  heldBack(name: string): string | undefined {
    if (!this.#accepted.has(name)) {
      return UNPINNED;
    }
    const found = this.#listed.get(name);
    if (found?.edition === this.edition) {
      return found.differs;
    }
    return this.#complete === this.edition ? GONE : NOT_LISTED;
  }

  isUnknown(name: string): boolean {
    return this.heldBack(name) === NOT_LISTED;
  }

  outdate(): void {
    this.edition += 1;
  }

  complete(edition: number): void {
    this.#complete = edition;
  }
}

/** Why a tool is not the one that was accepted, given as text. */
function difference(accepted: string, tool: unknown): string | undefined {
  if (ambiguity(tool, "exact") !== undefined) {
    return UNCLEAR;
  }
  return accepted === canonical(tool) ? undefined : CHANGED;
}

/** The tools of a server that were accepted, as text. */
function acceptedIn(lock: unknown, serverName: string): ReadonlyMap<string, string> {
  const [plain, exact] = readIn(lock);
  const servers = isObject(plain) ? member(plain, "servers") : undefined;
  if (!isObject(plain) || member(plain, "format") !== "callgate-lock/1" || !isObject(servers)) {
    throw refused("expected an object of the format `callgate-lock/1`");
  }
  const tools = Object.hasOwn(servers, serverName) ? servers[serverName] : {};
  if (!isObject(tools)) {
    throw refused(`the tools of \`${serverName}\` are not an object`);
  }
  const accepted = new Map<string, string>();
  for (const [name, pin] of Object.entries(tools)) {
    const tool = isObject(pin) ? member(pin, "tool") : undefined;
    if (!isObject(pin) || !isObject(tool)) {
      throw refused(`the tool \`${name}\` of \`${serverName}\` is not an object`);
    }
    const text = canonical(tool);
    const spelled = exact === undefined ? text : exactly(exact, serverName, name);
    const digest = within("invalid-document", () => sha256(spelled));
    if (pin.digest !== `sha256:${digest}`) {
      const help = exact === undefined ? "; give the file's text, in which numbers keep their spelling" : "";
      throw refused(`the digest of \`${serverName}/${name}\` is not that of its tool${help}`);
    }
    accepted.set(name, text);
  }
  return accepted;
}

/** The content of a lock, and the same with numbers as they are spelled, if it is a text. */
function readIn(lock: unknown): readonly [unknown, unknown] {
  if (typeof lock !== "string") {
    return [lock, undefined];
  }
  try {
    return [JSON.parse(lock), parseExact(lock)];
  } catch (thrown) {
    throw refused(`it is not JSON: ${(thrown as Error).message}`);
  }
}

/** An accepted tool as text, with numbers as they are spelled. */
function exactly(exact: unknown, serverName: string, name: string): string {
  const path = ["servers", serverName, name, "tool"];
  const tool = path.reduce((value, next) => (isObject(value) ? value[`s${next}`] : undefined), exact);
  return canonicalExact(tool);
}

function refused(reason: string): CallgateError {
  return new CallgateError("invalid-document", `the lock file: ${reason}`);
}
