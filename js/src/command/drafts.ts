import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import * as wasm from "../../wasm/tools.js";
import { CallgateError } from "../errors.js";
import { reasonOf } from "../host/node/bundle.js";
import { within } from "../tools/module.js";
import { EXIT } from "./exit.js";
import { answer, Failure, Unloaded } from "./output.js";

/** Drafts annotations from a list of tools that was saved. */
export function annotate(list: string, server: string, asJson: boolean): number {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(list === "-" ? 0 : list);
  } catch (thrown) {
    throw new Failure(`cannot read \`${list}\`: ${reasonOf(thrown)}`);
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Failure(`cannot read \`${list}\`: stream did not contain valid UTF-8`);
  }
  let proposal: string;
  try {
    proposal = within("invalid-document", () => wasm.proposeAnnotations(text, server));
  } catch (thrown) {
    if (!(thrown instanceof CallgateError && thrown.diagnostics.length > 0)) {
      throw thrown;
    }
    // The first line says that nothing can be drafted; the others say why.
    throw new Unloaded(thrown.message.split("\n").slice(1).join("\n"));
  }
  if (asJson) {
    // What a bundle's policy makes of the tools is not asked here.
    answer(`${proposal.slice(0, -1)},"doubts":[],"rule":null}`);
  } else {
    process.stdout.write((JSON.parse(proposal) as { readonly text: string }).text);
  }
  return EXIT.allow;
}

/** The files of a bundle to begin with. */
const FILES = ["callgate.json", "calls.jsonl", "scenarios.jsonl"];

/** Commands to run then. */
const NEXT = [
  "callgate validate",
  "callgate test",
  "callgate eval calls.jsonl",
  'callgate explain \'{"serverName": "filesystem", "toolName": "read_text_file", "arguments": {"path": "~/.ssh/config"}}\'',
];

/** Writes a bundle to begin with. */
export function init(folder: string, overwrites: boolean): number {
  const paths = FILES.map((name) => [name, `${folder}${folder.endsWith("/") ? "" : "/"}${name}`] as const);
  const there = paths.filter(([, path]) => !overwrites && lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  if (there.length > 0) {
    const shown = there.map(([, path]) => `\`${path}\``).join(", ");
    throw new Failure(`found ${shown}, expected no such file (--force overwrites)`);
  }
  let at = folder;
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, path] of paths) {
      at = path;
      const text = readFileSync(new URL(`init/${name}`, import.meta.url));
      writeFileSync(path, text, { flag: overwrites ? "w" : "wx" });
    }
  } catch (thrown) {
    throw new Failure(`cannot write \`${at}\`: ${reasonOf(thrown)}`);
  }
  answer(JSON.stringify({ written: paths.map(([, path]) => path), next: NEXT }));
  return EXIT.allow;
}
