import {
  CallgateError,
  createVirtualHost,
  type Diagnostic,
  type EngineConfig,
  type Host,
  type Machine,
  parseBundle,
} from "callgate";
import { BUNDLE, type State } from "../state.js";
import { parseStrictly } from "../strict.js";
import { editedInner, type Inner, innerOf } from "./inner.js";

/** The configuration in the texts. */
export type Config = Omit<EngineConfig, "host">;

/**
 * Reads the texts of a bundle.
 *
 * @throws {@link CallgateError} with every fault of the bundle itself.
 */
export function configOf(files: State["files"], folder: string): Config {
  return parseBundle(files[BUNDLE] ?? "", { folder, read: (path) => textOf(files, path) });
}

/** A bundle that was read without faults. */
export interface ReadBundle {
  readonly files: State["files"];
  readonly folder: string;
  readonly config: Config;
  /** Its longest document, if that stands in the bundle. */
  readonly inner: Inner | undefined;
}

/** A bundle of less text is taken apart at once. */
const LONG = 100_000;

/** The parts of a long bundle besides its texts: taking one apart takes as long as reading it. */
export function readBundle(files: State["files"], folder: string, config: Config): ReadBundle {
  const text = files[BUNDLE] ?? "";
  const inner = text.length < LONG ? undefined : innerOf(text);
  const isSame = inner !== undefined && String(config[inner.key]).endsWith(text.slice(inner.from, inner.to));
  return { files, folder, config, inner: isSame ? inner : undefined };
}

/**
 * The bundle after an edit within its longest document. It is right if the document is one, so whoever uses it has to read the
 * whole anew where an engine finds a fault.
 */
export function withEdit(known: ReadBundle, files: State["files"], folder: string): ReadBundle | undefined {
  const { inner, config } = known;
  const names = Object.keys(files);
  const isInner =
    folder === known.folder &&
    names.length === Object.keys(known.files).length &&
    names.every((name) => name === BUNDLE || files[name] === known.files[name]);
  const [before, after] = [known.files[BUNDLE] ?? "", files[BUNDLE] ?? ""];
  const next = inner === undefined || !isInner ? undefined : editedInner(before, inner, after);
  if (inner === undefined || next === undefined) {
    return undefined;
  }
  const document = String(config[inner.key]);
  const head = document.slice(0, document.length - (inner.to - inner.from));
  const text = head + after.slice(next.from, next.to);
  return { files, folder, config: { ...config, [inner.key]: text }, inner: next };
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
    gitCheckIgnore: once((path) => host.gitCheckIgnore(path)),
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
