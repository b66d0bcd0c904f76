import { faultOfContext, readLine } from "../../wasm/callgate.js";
import type { Explanation, Verdict } from "../types.js";
import { ask, type WasmHandle } from "../wasm/handle.js";
import { within } from "../wasm/module.js";
import { type Line, linesOf, MOST_BYTES, openCalls } from "./calls.js";
import { EXIT } from "./exit.js";
import { answer, Failure, note, Refused } from "./output.js";
import { load, type Setup } from "./setup.js";

/** The calls to judge, and the setup for it. */
export interface Question extends Setup {
  readonly server?: string | undefined;
  readonly prepared?: boolean | undefined;
  readonly "container-workspace-dir"?: string | undefined;
  readonly context?: string | undefined;
  readonly contexts?: boolean | undefined;
}

function isFault(found: Answer | Fault): found is Fault {
  return Object.hasOwn(found, "message");
}

/** Where a line is not a call, and why. */
interface Fault {
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
  readonly help?: string | null;
}

/** The call in a line. `id`, `call` and `context` are JSON text. */
interface Asked {
  readonly id: string | null;
  readonly call: string | null;
  readonly context: string | null;
  readonly other: string | null;
  readonly error: Fault | null;
}

/** The answer to a call. `arguments` is JSON text, in which each value stands as it was given. */
interface Answer {
  readonly server: string;
  readonly tool: string;
  readonly verdict: Verdict;
  readonly arguments: string | null;
  readonly help: string | null;
  readonly explanation: Explanation | null;
}

/** From what lets a call pass to what cannot even judge it: where there are several answers, the last of these stands. */
const BY_WEIGHT = [EXIT.allow, EXIT.escalate, EXIT.deny, EXIT.fault] as const;

/** Judges the calls one by one, and returns what the process ends with. */
export async function judge(calls: string | undefined, question: Question, explains: boolean): Promise<number> {
  const { handle, faults } = load(question);
  if (handle === undefined) {
    throw new Refused(faults);
  }
  const { context } = question;
  const fault = context === undefined ? undefined : faultOfContext(context);
  if (fault !== undefined) {
    throw new Failure(`\`--context\`: ${fault}`);
  }
  const input = openCalls(calls);
  const exits = new Set<number>();
  const others: Others = { count: 0, kinds: new Set() };
  for await (const line of linesOf(input)) {
    const asked = read(line, question.server);
    if (asked.other !== null && !input.isWhole) {
      pass(others, asked.other);
      continue;
    }
    exits.add(answered(handle, line.line, asked, question, explains));
  }
  const passedOver = whatWasPassedOver(others);
  if (passedOver !== undefined) {
    note(passedOver);
  }
  // An empty input must not look like an allowed call.
  if (exits.size === 0) {
    throw new Failure(`found no call in ${input.name}, expected at least one`);
  }
  return BY_WEIGHT.findLast((exit) => exits.has(exit)) ?? EXIT.fault;
}

/** Reads a line. It is never parsed as JavaScript would: a name that is given twice would be lost. */
function read({ bytes }: Line, server: string | undefined): Asked {
  if (bytes === undefined) {
    const error = { message: `found more than ${MOST_BYTES} bytes, expected a call of at most that` };
    return { id: null, call: null, context: null, other: null, error };
  }
  return within("invalid-call", () => readLine(bytes, server)) as Asked;
}

function answered(
  handle: WasmHandle,
  line: number,
  { id, call, context, other, error }: Asked,
  question: Question,
  explains: boolean,
): number {
  // An id is written as it was read: a number may have more digits than JavaScript keeps.
  const beginning = `{"line":${line}${id === null ? "" : `,"id":${id}`},`;
  const refuse = ({ message, help, ...at }: Fault): number => {
    const place = at.line === undefined ? line : line + Math.max(at.line - 1, 0);
    const written = { line: place, column: at.column, message, help: help ?? undefined };
    answer(`${beginning}"error":${JSON.stringify(written)}}`);
    return EXIT.fault;
  };
  if (error !== null) {
    return refuse(error);
  }
  if (call === null) {
    return refuse({ message: `found ${other}, expected a call of a tool (\`tools/call\`)` });
  }
  const given = (question.contexts ? context : question.context) ?? undefined;
  const { prepared = false, "container-workspace-dir": container } = question;
  const found = ask(
    handle,
    "invalid-call",
    ({ engine }) => engine.answerText(call, given, prepared, container, explains) as Answer | Fault,
  );
  if (isFault(found)) {
    return refuse(found);
  }
  const { server, tool, verdict, arguments: sent, help, explanation } = found;
  const members = JSON.stringify({ server, tool, ...verdict }).slice(1, -1);
  const after = [
    ...(sent === null ? [] : [`"arguments":${sent}`]),
    ...(help === null ? [] : [`"help":${JSON.stringify(help)}`]),
    ...(explanation === null ? [] : [`"explanation":${JSON.stringify(explanation)}`]),
  ];
  answer(`${beginning}${[members, ...after].join(",")}}`);
  return EXIT[verdict.decision];
}

/** The frames that call no tool, and the first few kinds of them. */
interface Others {
  count: number;
  readonly kinds: Set<string>;
}

/** Kinds of frames that are named. */
const MOST_KINDS = 3;

function pass(others: Others, what: string): void {
  others.count += 1;
  if (others.kinds.size <= MOST_KINDS) {
    others.kinds.add(what);
  }
}

function whatWasPassedOver({ count, kinds }: Others): string | undefined {
  const frames = count === 1 ? "1 frame that calls no tool" : `${count} frames that call no tool`;
  const more = kinds.size > MOST_KINDS ? ", …" : "";
  return count === 0 ? undefined : `passed over ${frames}: ${[...kinds].slice(0, MOST_KINDS).join(", ")}${more}`;
}
