import {
  CallgateError,
  createVirtualHost,
  type Diagnostic,
  type EngineConfig,
  type Host,
  type Machine,
} from "callgate";
import { parseBundle } from "callgate/tools";
import { BUNDLE, type State } from "../state.js";
import { parseStrictly } from "../strict.js";

/** What the texts configure. */
export type Config = Omit<EngineConfig, "host">;

/**
 * Reads the texts of a bundle.
 *
 * @throws {@link CallgateError} with every fault of the bundle itself.
 */
export function configOf(files: State["files"], folder: string): Config {
  return parseBundle(files[BUNDLE] ?? "", { folder, read: (path) => textOf(files, path) });
}

/** How many answers are kept. A path that is typed is another question with each key. */
const MOST_ANSWERS = 100_000;

/**
 * The machine as a host, which is asked once: the machine is data, so its answers stay as they are, whatever becomes of the
 * call and the documents.
 *
 * @throws An error if the text describes no machine.
 */
export function hostOf(machine: string): Host {
  const host = createVirtualHost(parseStrictly(machine) as Machine);
  return Object.freeze({
    ...host,
    realpath: once((path) => host.realpath(path)),
    readLink: once((path) => host.readLink(path)),
    isDirectory: once((path) => host.isDirectory(path)),
    gitDefaultRemoteUrls: once((repository) => host.gitDefaultRemoteUrls(repository)),
    gitBranch: once((repository) => host.gitBranch(repository)),
  });
}

/** The function, which finds each answer once. What it throws is found anew. */
function once<Answer>(ask: (question: string) => Answer): (question: string) => Answer {
  const answers = new Map<string, Answer>();
  return (question) => {
    const known = answers.get(question);
    if (known !== undefined || answers.has(question)) {
      return known as Answer;
    }
    const answer = ask(question);
    if (answers.size >= MOST_ANSWERS) {
      answers.clear();
    }
    answers.set(question, answer);
    return answer;
  };
}

/** Whatever was thrown, as faults of documents. */
export function faultsOf(thrown: unknown): readonly Diagnostic[] {
  if (thrown instanceof CallgateError && thrown.diagnostics.length > 0) {
    return thrown.diagnostics;
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return [{ code: thrown instanceof CallgateError ? thrown.code : "fault", severity: "error", path: "", message }];
}

function textOf(files: State["files"], path: string): string {
  const name = path.replace(/^\.\//, "");
  const text = Object.hasOwn(files, name) ? files[name] : undefined;
  if (text === undefined) {
    throw new Error(`the file \`${path}\` is not there`);
  }
  return text;
}
