import { CallgateError, type Diagnostic } from "../errors.js";
import { EXIT } from "./exit.js";

/** Why a command cannot answer. */
export class Failure extends Error {
  override readonly name = "Failure";
  /** A way to mend it, if one is known. */
  readonly help: string | undefined;
  /** The exit code of the process. */
  readonly exit: number = EXIT.fault;

  constructor(message: string, help?: string) {
    super(message);
    this.help = help;
  }
}

/** Documents that cannot be read. */
export class Unloaded extends Failure {
  override readonly exit: number = EXIT.invalid;
}

/** Documents that are refused. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly faults: readonly Diagnostic[];

  constructor(faults: readonly Diagnostic[]) {
    super("the documents are refused");
    this.faults = faults;
  }
}

/** Writes an answer: a line of JSON. */
export function answer(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Tells whoever watches. */
export function note(message: string): void {
  process.stderr.write(`note: ${clean(message)}\n`);
}

/** Tells why there is no answer, and returns what the process ends with. */
export function report(thrown: unknown): number {
  if (thrown instanceof Refused) {
    process.stderr.write(thrown.faults.map(diagnosis).join(""));
    return EXIT.invalid;
  }
  const help = thrown instanceof Failure ? thrown.help : undefined;
  const isOwn = thrown instanceof Failure || thrown instanceof CallgateError;
  const message = isOwn ? thrown.message : String(thrown);
  process.stderr.write(`error: ${clean(message)}\n${help === undefined ? "" : `  help: ${clean(help)}\n`}`);
  return thrown instanceof Failure ? thrown.exit : EXIT.fault;
}

/** A fault on two or three lines. */
function diagnosis(fault: Diagnostic): string {
  const { code, severity, path, file, line, column, message } = fault;
  const place = line === undefined ? "" : `:${line}:${column}`;
  const where = file === undefined ? "" : ` in ${clean(file)}${place}`;
  const help = fault.help ?? whereToGive(fault);
  const helping = help === undefined ? "" : `  help: ${clean(help)}\n`;
  return `${severity}[${code}] ${clean(path)}${where}\n  ${clean(message)}\n${helping}`;
}

/** How a document is given that is missing as a whole. */
function whereToGive({ code, path, message }: Diagnostic): string | undefined {
  const isWhole = (path === "policy" || path === "annotations") && message.startsWith(`\`${path}\` is missing`);
  return code === "missing-field" && isWhole ? `the bundle's key \`${path}\`, or --${path} FILE, gives it` : undefined;
}

/** Control characters, line separators, and the invisible characters that change how others are shown. */
const UNFIT =
  /[\p{Cc}\u{ad}\u{61c}\u{180e}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{fff9}-\u{fffb}\u{e0000}-\u{e007f}]/gu;
const SHORT: ReadonlyMap<string, string> = new Map([
  ["\0", "\\0"],
  ["\t", "\\t"],
  ["\r", "\\r"],
  ["\n", "\\n"],
]);

/** Text from elsewhere, fit for a terminal: nothing in it moves the cursor, hides or reorders other text. */
function clean(text: string): string {
  return text.replace(UNFIT, (one) => SHORT.get(one) ?? `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
}
