import { beginReading, type GitAnswers, type Reading } from "../host/reading.js";
import { failureOf, type GitIgnore, type Host, HostError, type RealpathFailure } from "../host.js";
import { member, members } from "../members.js";
import { platform } from "./platform.js";
import { isWellFormed } from "./text.js";

/** A host and the callbacks of roles. */
export interface Answers {
  readonly host: Host;
  /** By the role's name. */
  readonly roles: ReadonlyMap<string, RoleCallbacks>;
}

/** The steps of a host-defined role that are callbacks. */
export interface RoleCallbacks {
  readonly canonicalize?: (value: string) => string;
  readonly extractPolicyValue?: (value: string) => string;
}

/** The questions, named after a host's methods. The module uses the same numbers. */
enum Question {
  realpath = 0,
  readLink = 1,
  isDirectory = 2,
  gitRemoteUrls = 3,
  gitDefaultRemoteUrls = 4,
  gitUrl = 5,
  canonicalize = 6,
  extractPolicyValue = 7,
  condition = 8,
  gitBranch = 9,
  gitPushRefs = 10,
  gitCheckIgnore = 11,
}

/** The types of answers. The module uses the same numbers. */
enum Kind {
  Text = 0,
  Nothing = 1,
  Yes = 2,
  No = 3,
  Strings = 4,
  NotFound = 5,
  Loop = 6,
  Denied = 7,
  NotUtf8 = 8,
  Other = 9,
  Failed = 10,
  Missing = 11,
}

const FAILURES: ReadonlyMap<unknown, Kind> = new Map<unknown, Kind>([
  ["not-found", Kind.NotFound],
  ["loop", Kind.Loop],
  ["denied", Kind.Denied],
  ["not-utf8", Kind.NotUtf8],
  ["other", Kind.Other],
]);

const IGNORES: ReadonlySet<unknown> = new Set<GitIgnore>(["ignored", "included", "unmentioned"]);

const encoder = new TextEncoder();
const EMPTY = new Uint8Array(0);

/**
 * The module's access to a host. Neither method throws: a callback's mistake is an answer too.
 *
 * The module keeps its bridges alive, so a bridge refers to its host weakly. Otherwise a host that refers to its engine
 * would keep both alive forever.
 */
export class Bridge {
  readonly #answers: WeakRef<Answers>;
  readonly #view: () => Uint8Array;
  #text = "";
  #bytes = EMPTY;
  #isEvaluating = false;
  #reading: Reading | undefined;

  /** `view` returns the module's memory, as it is now. */
  constructor(answers: Answers, view: () => Uint8Array) {
    this.#answers = new WeakRef(answers);
    this.#view = view;
  }

  /** An evaluation begins, in which a host may read git's configuration once. */
  begin(): void {
    // Out of stack, an earlier evaluation may not have come to its end.
    this.end();
    this.#isEvaluating = true;
  }

  /** The evaluation has ended: the next one reads anew. */
  end(): void {
    const reading = this.#reading;
    this.#isEvaluating = false;
    this.#reading = undefined;
    reading?.end();
  }

  #git(host: Host): GitAnswers {
    if (this.#isEvaluating) {
      this.#reading ??= beginReading(host);
    }
    return this.#reading ?? host;
  }

  /** Answers a question of the module, whose `host.rs` describes the parameters. */
  ask(
    question: Question,
    first: number,
    firstBytes: number,
    second: number,
    secondBytes: number,
    answer: number,
    room: number,
  ): Kind {
    let kind: Kind;
    this.#text = "";
    this.#bytes = EMPTY;
    try {
      const bytes = this.#view();
      const one = platform.readText(bytes, first, first + firstBytes);
      const other = secondBytes === 0 ? "" : platform.readText(bytes, second, second + secondBytes);
      kind = this.#answer(question, one, other);
    } catch (thrown) {
      kind = this.#failed(messageOf(question, thrown));
    }
    this.repeat(answer, room);
    return kind;
  }

  /** Writes the last answer, if there is room for it. Otherwise the module makes room and asks for it again. */
  repeat(answer: number, room: number): void {
    const bytes = this.#view();
    const text = this.#text;
    let length = 0;
    if (text.length * 3 <= room - 4) {
      length = text === "" ? 0 : platform.writeText(bytes, text, answer + 4);
    } else {
      this.#bytes = encoder.encode(text);
      this.#text = "";
    }
    if (this.#bytes.length > 0) {
      length = this.#bytes.length;
      if (length <= room - 4) {
        bytes.set(this.#bytes, answer + 4);
      }
    }
    bytes[answer] = length & 0xff;
    bytes[answer + 1] = (length >>> 8) & 0xff;
    bytes[answer + 2] = (length >>> 16) & 0xff;
    bytes[answer + 3] = length >>> 24;
  }

  #answer(question: Question, first: string, second: string): Kind {
    const answers = this.#answers.deref();
    if (answers === undefined) {
      return this.#failed("the host is gone");
    }
    const { host, roles } = answers;
    switch (question) {
      case Question.realpath:
        return this.#realpath(host, first);
      case Question.readLink:
        return this.#optional(question, host.readLink(first));
      case Question.isDirectory: {
        const answer: unknown = host.isDirectory(first);
        return answer === undefined ? Kind.Nothing : this.#boolean(question, answer);
      }
      case Question.gitRemoteUrls:
        return this.#strings(question, this.#git(host).gitRemoteUrls(first, second));
      case Question.gitDefaultRemoteUrls:
        return this.#strings(question, this.#git(host).gitDefaultRemoteUrls(first));
      case Question.gitUrl:
        return this.#strings(question, this.#git(host).gitUrl(first, second));
      case Question.gitBranch:
        return this.#required(question, this.#git(host).gitBranch(first));
      case Question.gitPushRefs: {
        const end = second.indexOf("\0");
        const answer: unknown = this.#git(host).gitPushRefs(first, second.slice(0, end), second.slice(end + 1));
        return answer === undefined ? Kind.Nothing : this.#strings(question, answer);
      }
      case Question.gitCheckIgnore: {
        const answer: unknown = this.#git(host).gitCheckIgnore(first);
        return answer === undefined || IGNORES.has(answer)
          ? this.#optional(question, answer)
          : this.#unexpected(question, answer, "`ignored`, `included` or `unmentioned`");
      }
      case Question.canonicalize:
        return this.#required(question, roles.get(first)?.canonicalize?.(second));
      case Question.extractPolicyValue:
        return this.#required(question, roles.get(first)?.extractPolicyValue?.(second));
      case Question.condition:
        return this.#boolean(question, conditionOf(host, first, second));
    }
  }

  #realpath(host: Host, path: string): Kind {
    let answer: unknown;
    try {
      answer = host.realpath(path);
    } catch (thrown) {
      const code: unknown = thrown instanceof Error ? member(thrown as { code?: unknown }, "code") : undefined;
      if (typeof code === "string") {
        return FAILURES.get(failureOf(code)) ?? Kind.Other;
      }
      throw thrown;
    }
    if (typeof answer === "object" && answer !== null) {
      const { error, nearest } = members(answer as Partial<RealpathFailure>, ["error", "nearest"]);
      const failure = FAILURES.get(error);
      if (failure === Kind.NotFound && typeof nearest === "string" && isAncestor(nearest, path)) {
        this.#text = nearest;
        return Kind.Missing;
      }
      if (failure !== undefined) {
        return failure;
      }
    }
    return this.#required(Question.realpath, answer);
  }

  #optional(question: Question, answer: unknown): Kind {
    return answer === undefined ? Kind.Nothing : this.#required(question, answer);
  }

  #required(question: Question, answer: unknown): Kind {
    if (typeof answer !== "string") {
      return this.#unexpected(question, answer, "a string");
    }
    if (!isWellFormed(answer)) {
      return this.#failed(`${Question[question]} answered a string that is not well-formed Unicode`);
    }
    this.#text = answer;
    return Kind.Text;
  }

  #boolean(question: Question, answer: unknown): Kind {
    return typeof answer === "boolean"
      ? answer
        ? Kind.Yes
        : Kind.No
      : this.#unexpected(question, answer, "a boolean");
  }

  #strings(question: Question, answer: unknown): Kind {
    if (!Array.isArray(answer) || !answer.every((one) => typeof one === "string" && isWellFormed(one))) {
      return this.#unexpected(question, answer, "an array of strings");
    }
    const texts = (answer as string[]).map((one) => encoder.encode(one));
    const bytes = new Uint8Array(texts.reduce((sum, text) => sum + text.length + 4, 0));
    let at = 0;
    for (const text of texts) {
      new DataView(bytes.buffer).setUint32(at, text.length, true);
      bytes.set(text, at + 4);
      at += text.length + 4;
    }
    this.#bytes = bytes;
    return Kind.Strings;
  }

  #unexpected(question: Question, answer: unknown, expected: string): Kind {
    return this.#failed(`${Question[question]} answered${described(answer)}, expected ${expected}`);
  }

  #failed(message: string): Kind {
    this.#text = isWellFormed(message) ? message : "the host failed";
    return Kind.Failed;
  }
}

/** The host's answer about a predicate, if it knows any. */
function conditionOf(host: Host, name: string, subject: string): unknown {
  return member(host, "condition") === undefined ? undefined : host.condition?.(name, subject);
}

/** Returns `true` if the path lies below the other one. */
function isAncestor(ancestor: string, path: string): boolean {
  return path.startsWith(ancestor) && (ancestor === "/" || path[ancestor.length] === "/");
}

function described(answer: unknown): string {
  if (answer === undefined) {
    return " nothing";
  }
  if (typeof answer === "object" && answer !== null && typeof (answer as { then?: unknown }).then === "function") {
    // An unhandled rejection would end a Node process.
    (answer as PromiseLike<unknown>).then(undefined, () => undefined);
    return " a promise";
  }
  return json(answer);
}

/** The message about something that a callback threw. A Proxy or an accessor may throw again. */
function messageOf(question: Question, thrown: unknown): string {
  try {
    return thrown instanceof HostError ? String(thrown.message) : `${Question[question]} threw${shown(thrown)}`;
  } catch {
    return `${Question[question]} threw something that cannot be read`;
  }
}

function shown(thrown: unknown): string {
  if (thrown instanceof Error) {
    return thrown.message === "" ? "" : `: ${thrown.message}`;
  }
  return thrown === undefined ? "" : json(thrown);
}

/** The value as JSON, shortened; its type if it cannot be written as JSON. */
function json(value: unknown): string {
  try {
    const text = JSON.stringify(value);
    return ` ${text === undefined ? typeof value : text.slice(0, 200)}`;
  } catch {
    return ` a value of type ${typeof value}`;
  }
}
