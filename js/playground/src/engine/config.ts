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

/**
 * The machine as a host, which walks a path once: the machine is data, so its answers stay as they are.
 *
 * @throws An error if the text describes no machine.
 */
export function hostOf(machine: string): Host {
  const host = createVirtualHost(JSON.parse(machine) as Machine);
  const once = <Found>(ask: (path: string) => Found): ((path: string) => Found) => {
    const answers = new Map<string, Found>();
    return (path) => {
      if (!answers.has(path)) {
        answers.set(path, ask(path));
      }
      return answers.get(path) as Found;
    };
  };
  return Object.freeze({
    ...host,
    realpath: once((path) => host.realpath(path)),
    readLink: once((path) => host.readLink(path)),
  });
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
