import { child, type JsonNode, readJson } from "./jsonc.js";
import { BUNDLE, type State } from "./state.js";

/** The documents that a bundle holds or names the file of. */
export const DOCUMENTS = ["policy", "annotations", "lists", "programs", "ceiling", "world"] as const;

export type DocumentKey = (typeof DOCUMENTS)[number];

/** A file that the bundle names, and for which document. */
export interface NamedFile {
  readonly key: DocumentKey;
  readonly file: string;
}

/** A document of the bundle: the file in which it stands, and its place there. */
export interface Found {
  readonly file: string;
  readonly node: JsonNode | undefined;
  /** The value in the bundle: the document, or the name of its file. */
  readonly written: JsonNode | undefined;
}

/** A text as it was last read. */
interface Read {
  readonly text: string;
  readonly node: JsonNode | undefined;
}

let whole: Read | undefined;
let outline: Read | undefined;

function bundleNode(files: State["files"]): JsonNode | undefined {
  const text = files[BUNDLE] ?? "";
  if (whole?.text !== text) {
    whole = { text, node: readJson(text) };
  }
  return whole.node;
}

/** The bundle without what its documents hold. It is wanted after every key, and the documents may be long. */
function outlineNode(files: State["files"]): JsonNode | undefined {
  const text = files[BUNDLE] ?? "";
  if (outline?.text !== text) {
    outline = { text, node: readJson(text, 1) };
  }
  return outline.node;
}

/** A document by its key in the bundle, which holds or names it. */
export function documentOf(files: State["files"], name: string): Found {
  const node = child(bundleNode(files), name);
  if (node?.kind === "value" && typeof node.value === "string" && name !== "sandbox") {
    const file = node.value.replace(/^\.\//, "");
    return { file, node: readJson(files[file] ?? ""), written: node };
  }
  return { file: BUNDLE, node, written: node };
}

/** The keys of the bundle that a file is the document of. The bundle itself is the document of none. */
export function keyOf(files: State["files"], file: string): readonly string[] {
  const bundle = file === BUNDLE ? undefined : outlineNode(files);
  const member = bundle?.kind === "object" ? bundle.members.find(({ value }) => named(value) === file) : undefined;
  return member === undefined ? [] : [member.key];
}

/** The files that the bundle names, whether they are there or not. */
export function namedIn(files: State["files"]): NamedFile[] {
  const bundle = outlineNode(files);
  return DOCUMENTS.flatMap((key) => {
    const file = named(child(bundle, key));
    return file === undefined ? [] : [{ key, file }];
  });
}

/** The bundle's value for a document: the document, or the name of its file. */
export function writtenAt(files: State["files"], key: DocumentKey): JsonNode | undefined {
  return child(outlineNode(files), key);
}

function named(node: JsonNode | undefined): string | undefined {
  return node?.kind === "value" && typeof node.value === "string" ? node.value.replace(/^\.\//, "") : undefined;
}

/** A rule of the policy by its name. */
export function ruleOf(files: State["files"], name: string): Omit<Found, "written"> {
  const { file, node } = documentOf(files, "policy");
  const rules = child(node, "rules");
  const items = rules?.kind === "array" ? rules.items : [];
  const rule = items.find((item) => {
    const found = child(item, "name");
    return found?.kind === "value" && found.value === name;
  });
  return { file, node: rule };
}
