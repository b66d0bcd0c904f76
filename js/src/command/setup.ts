import { lstatSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { EngineConfig } from "../api/create-engine.js";
import { DocumentText } from "../api/text.js";
import { CallgateError, type Diagnostic } from "../errors.js";
import { readBundle, reasonOf } from "../host/node/bundle.js";
import { createNodeHost } from "../node.js";
import type { DocumentName } from "../types.js";
import { createHandle, type WasmHandle } from "../wasm/handle.js";
import { within } from "../wasm/module.js";
import { GET_NATIVE } from "./native.js";
import { Failure, note, Refused, Unloaded } from "./output.js";

const BUNDLE_FILE = "callgate.json";

/** The sources of the documents and the host. */
export interface Setup {
  readonly bundle?: string | undefined;
  readonly home?: string | undefined;
  readonly cwd?: string | undefined;
  readonly verbose?: boolean | undefined;
}

/** An engine, if the documents are not refused, and everything that is wrong with them. */
interface Loaded {
  readonly handle: WasmHandle | undefined;
  readonly faults: readonly Diagnostic[];
  /** What an engine is built from elsewhere. */
  readonly config: EngineConfig<string, string>;
  /** The bundle. */
  readonly file: string;
}

/** Reads the documents and builds their engine. */
export function load(setup: Setup): Loaded {
  const { home, cwd, verbose } = setup;
  const host = createNodeHost({
    ...((home ?? cwd) !== undefined && { homeDir: home === undefined ? homedir() : directory(home) }),
    ...((home ?? cwd) !== undefined && { currentDir: directory(cwd ?? ".") }),
  });
  const file = setup.bundle === undefined ? usualBundle() : inFolder(setup.bundle);
  if (verbose) {
    note(`the bundle is \`${resolve(file)}\``);
  }
  const { documents, files, folder, faults } = readable(file);
  const parts = documents.map(({ name, text }) => [name, new DocumentText(text)]);
  const config = { ...Object.fromEntries(parts), folder, files, host } as EngineConfig<string, string>;
  const texts = new Map<string, string>(documents.map(({ name, text }) => [name, text]));
  const located = (found: readonly Diagnostic[]): Diagnostic[] =>
    found.map((fault) => {
      const name = fault.path.split(/[.[]/, 1)[0] as DocumentName;
      const of = files[name];
      if (of === undefined || documents.some((document) => document.name === name)) {
        return of === undefined ? fault : { file: of, ...fault };
      }
      // A bundle that lacks a document lacks it from its beginning.
      const { code, severity, path, ...others } = fault;
      return { file: of, code, severity, path, line: 1, column: 1, ...others };
    });
  try {
    const handle = createHandle(texts.set("folder", JSON.stringify(folder)), { host, roles: new Map() });
    const warnings = within("engine-fault", () => handle.built?.engine.warnings() as readonly Diagnostic[]);
    const isRefused = faults.length > 0;
    return { handle: isRefused ? undefined : handle, faults: [...faults, ...located(warnings)], config, file };
  } catch (thrown) {
    if (!(thrown instanceof CallgateError && thrown.diagnostics.length > 0)) {
      throw thrown;
    }
    // A document that could not be read is reported already, and must not be reported as missing too.
    const repeats = ({ code, path }: Diagnostic): boolean =>
      faults.length > 0 && code === "missing-field" && NAMES.has(path) && !texts.has(path);
    const found = thrown.diagnostics.filter((fault) => !repeats(fault));
    return { handle: undefined, faults: [...faults, ...located(found)], config, file };
  }
}

/** A configuration whose documents are in order, and its bundle. */
export function sound(setup: Setup): Pick<Loaded, "config" | "file"> {
  const { handle, faults, config, file } = load(setup);
  if (handle === undefined) {
    throw new Refused(faults);
  }
  return { config, file };
}

/** The documents that an engine must have. */
const NAMES: ReadonlySet<string> = new Set(["policy", "annotations"]);

function readable(file: string): ReturnType<typeof readBundle> {
  try {
    return readBundle(file);
  } catch (thrown) {
    throw thrown instanceof CallgateError && thrown.code === "invalid-document"
      ? new Unloaded(thrown.message, "expected the file of a document, as the bundle or a flag names it")
      : thrown;
  }
}

/** The bundle that `named` is, or the one of the folder that it is. */
function inFolder(named: string): string {
  if (/^(https?|oci):\/\//.test(named)) {
    throw new Unloaded(`the bundle \`${named}\` has to be fetched, which WebAssembly does not`, GET_NATIVE);
  }
  try {
    if (!statSync(named).isDirectory()) {
      return named;
    }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") {
      return named;
    }
    const expected = `expected a bundle, or a folder with a \`${BUNDLE_FILE}\``;
    const help = `${expected}; \`callgate init\` writes one`;
    throw new Unloaded(`cannot read \`${named}\`: ${reasonOf(thrown)}`, help);
  }
  const file = named.endsWith("/") ? `${named}${BUNDLE_FILE}` : `${named}/${BUNDLE_FILE}`;
  if (isThere(file)) {
    return file;
  }
  throw new Unloaded(`the folder \`${named}\` has no \`${BUNDLE_FILE}\``, `\`callgate init ${named}\` writes one`);
}

/** The bundle of the current folder. Nothing is looked for in the folders above; one that has a bundle is named. */
function usualBundle(): string {
  if (isThere(BUNDLE_FILE)) {
    return BUNDLE_FILE;
  }
  let help = "expected `--bundle FILE`, or `--policy FILE --annotations FILE`; `callgate init` writes a bundle";
  for (let folder = process.cwd(); dirname(folder) !== folder; folder = dirname(folder)) {
    if (statSync(join(dirname(folder), BUNDLE_FILE), { throwIfNoEntry: false })?.isFile()) {
      help = `\`${dirname(folder)}\` has one: --bundle takes it`;
      break;
    }
  }
  throw new Unloaded(`there are no documents: the current folder has no \`${BUNDLE_FILE}\``, help);
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** The directory as an absolute path, where the kernel finds it. */
function directory(path: string): string {
  let found: string;
  try {
    found = realpathSync.native(path);
  } catch (thrown) {
    throw new Failure(`cannot use the directory \`${path}\`: ${reasonOf(thrown)}`);
  }
  if (!statSync(found).isDirectory()) {
    throw new Failure(`cannot use \`${path}\`: it is not a directory`);
  }
  return found;
}
