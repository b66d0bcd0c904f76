import { lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import * as wasm from "../../wasm/tools.js";
import type { EngineConfig } from "../api/create-engine.js";
import { DocumentText } from "../api/text.js";
import { CallgateError } from "../errors.js";
import { beside, readBundle, reasonOf } from "../host/node/bundle.js";
import { within } from "../tools/module.js";
import { ask } from "../tools/policy.js";
import { EXIT } from "./exit.js";
import { answer, Failure, Unloaded } from "./output.js";
import { replaceFile } from "./replace.js";

/** How annotations are drafted. */
interface Drafting {
  readonly format?: string | undefined;
  /** The file to add to: annotations, or a bundle. */
  readonly into?: string | undefined;
  /** The pack to hold the server against. */
  readonly pack?: string | undefined;
  /** `true`: nothing is written, and a difference is a fault. */
  readonly check?: boolean | undefined;
}

/** Drafts annotations from a list of tools that was saved. */
export function annotate(list: string, server: string, { format, into, pack, check = false }: Drafting): number {
  const tools = textOf(list, list === "-" ? 0 : list);
  if (tools === undefined) {
    throw unread(list, "No such file or directory (os error 2)");
  }
  const target = into === undefined ? undefined : opened(into);
  const { draft, text, differs } = drafted(() => {
    const draft = new wasm.WasmDraft(tools, server, target?.held?.annotations(), pack);
    return { draft, text: draft.text(), differs: draft.hasDrift() };
  });
  const doubts = target?.bundle === undefined ? undefined : doubtsOf(target.bundle, text, server);
  if (target !== undefined && !check) {
    write(target, text);
  }
  if (target !== undefined || format === "json") {
    answer(within("engine-fault", () => draft.answer(doubts, target !== undefined)));
  } else {
    process.stdout.write(text);
  }
  return check && differs ? EXIT.fault : EXIT.allow;
}

/** The file that annotations are added to. */
interface Target {
  readonly path: string;
  /** `undefined` if the file does not exist yet. */
  readonly held: wasm.WasmHeld | undefined;
  /** The bundle that was given, if one was. */
  readonly bundle: string | undefined;
}

/** Reads the file. If it is a bundle that names the file of its annotations, that file is meant. */
function opened(path: string): Target {
  const text = textOf(path);
  if (text === undefined) {
    return { path, held: undefined, bundle: undefined };
  }
  const { held, named, missing, isBundle } = within("engine-fault", () => {
    const held = new wasm.WasmHeld(text);
    return { held, named: held.named(), missing: held.missing(path), isBundle: held.isBundle() };
  });
  if (missing !== undefined) {
    throw new Unloaded(missing);
  }
  if (named === undefined) {
    return { path, held, bundle: isBundle ? path : undefined };
  }
  const file = beside(path, named);
  const inFile = textOf(file);
  const whole = inFile === undefined ? undefined : within("engine-fault", () => wasm.WasmHeld.whole(inFile));
  return { path: file, held: whole, bundle: path };
}

/** Writes the annotations where they were. */
function write({ path, held }: Target, annotations: string): void {
  const text = held === undefined ? annotations : within("engine-fault", () => held.replaced(annotations));
  if (text === undefined) {
    return;
  }
  try {
    replaceFile(path, text);
  } catch (thrown) {
    throw new Failure(`cannot write \`${path}\`: ${reasonOf(thrown)}`);
  }
}

/** What the bundle's policy makes of the server's tools, once they are annotated so. `callgate validate` reports what is refused. */
function doubtsOf(bundle: string, annotations: string, server: string): string | undefined {
  try {
    const { documents, folder, faults } = readBundle(bundle, "annotations");
    if (faults.length > 0) {
      return undefined;
    }
    const parts = documents.map(({ name, text }) => [name, new DocumentText(text)]);
    const all = { ...Object.fromEntries(parts), annotations: new DocumentText(annotations), folder };
    return ask(all as EngineConfig<string, string>, ({ policy }) =>
      within("engine-fault", () => policy.doubts(server)),
    );
  } catch (thrown) {
    if (thrown instanceof CallgateError && thrown.code !== "engine-fault") {
      return undefined;
    }
    throw thrown;
  }
}

/** What a draft is; a fault of its documents is the user's. */
function drafted<T>(draft: () => T): T {
  try {
    return within("invalid-document", draft);
  } catch (thrown) {
    if (!(thrown instanceof CallgateError && thrown.diagnostics.length > 0)) {
      throw thrown;
    }
    const [first] = thrown.diagnostics;
    if (first?.path === "packs") {
      throw new Failure(first.message, first.help);
    }
    // The first line says that nothing can be drafted; the others say why.
    throw new Unloaded(thrown.message.split("\n").slice(1).join("\n"));
  }
}

/** The text of a file; `undefined` if there is none. */
function textOf(path: string, file: string | 0 = path): string | undefined {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw unread(path, reasonOf(thrown));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unread(path, "stream did not contain valid UTF-8");
  }
}

function unread(path: string, reason: string): Failure {
  return new Failure(`cannot read \`${path}\`: ${reason}`);
}

/** Writes a bundle to begin with: for the servers that have these packs, or for any project. */
export function init(folder: string, packs: readonly string[], overwrites: boolean): number {
  if (!overwrites && hasHome(folder)) {
    throw new Failure(
      `your home directory lies in \`${folder}\`: as the sandbox, an agent could read and write all that is there`,
      "name the directory of a project, or for calls outside of projects one of its own, such as ~/.config/callgate; " +
        "--force writes it here",
    );
  }
  const { start, texts } = drafted(() => {
    const start = new wasm.WasmStart([...packs]);
    return { start, texts: start.files() };
  });
  const files = Array.from({ length: texts.length / 2 }, (_, at) => {
    const [name = "", text = ""] = texts.slice(2 * at);
    return [`${folder}${folder.endsWith("/") ? "" : "/"}${name}`, text] as const;
  });
  const there = files.filter(([path]) => !overwrites && lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  if (there.length > 0) {
    const shown = there.map(([path]) => `\`${path}\``).join(", ");
    throw new Failure(`found ${shown}, expected no such file (--force overwrites)`);
  }
  let at = folder;
  try {
    mkdirSync(folder, { recursive: true });
    for (const [path, text] of files) {
      at = path;
      writeFileSync(path, text, { flag: overwrites ? "w" : "wx" });
    }
  } catch (thrown) {
    throw new Failure(`cannot write \`${at}\`: ${reasonOf(thrown)}`);
  }
  const paths = files.map(([path]) => path);
  answer(within("engine-fault", () => start.report(paths)));
  return EXIT.allow;
}

/** Returns `true` if the user's home is the folder, or below it. */
function hasHome(folder: string): boolean {
  try {
    const [home, real] = [homedir(), folder].map((path) => realpathSync.native(path));
    return `${home}/`.startsWith(real === "/" ? "/" : `${real}/`);
  } catch {
    // What is not there holds nothing.
    return false;
  }
}
