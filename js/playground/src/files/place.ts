import { type DocumentKey, type NamedFile, namedIn, writtenAt } from "../documents.js";
import { child, type JsonNode, plainValue, readJson } from "../jsonc.js";
import { BUNDLE, type State } from "../state.js";

/** A file that somebody chose. */
export interface Given {
  readonly name: string;
  readonly text: string;
}

/** The keys of each document that those of the others do not have. */
const KEYS: Readonly<Record<DocumentKey, readonly string[]>> = {
  policy: ["rules", "listDefinitions", "skippedServers"],
  annotations: ["servers"],
  lists: ["lists"],
  programs: ["programs", "variables"],
  ceiling: [
    "tool_arg_constraints",
    "capabilities",
    "workspace_roots",
    "side_effect_level",
    "recursion_limit",
    "unclassified_tools",
    "outer_workspace_roots",
  ],
  world: ["visibility", "roots", "mounts", "operations", "execTool", "areas"],
};

/** The files with one more, and where it went. */
export interface Placed {
  readonly files: State["files"];
  readonly as: string;
}

/**
 * Puts a document where the bundle has it: in the file that it names, by its path, its name, or what it holds; else in place of
 * the document in the bundle. If the bundle has none of the kind, it names the file from then on. `undefined` if the text is
 * not a document.
 */
export function withDocument(files: State["files"], given: Given): Placed | undefined {
  const node = readJson(given.text);
  const kind = kindOf(node);
  const named = fileOf(namedIn(files), given.name, kind);
  if (named !== undefined) {
    return { files: { ...files, [named]: given.text }, as: named };
  }
  if (kind === undefined || node === undefined) {
    return undefined;
  }
  const written = writtenAt(files, kind);
  const bundle = files[BUNDLE] ?? "";
  if (written !== undefined) {
    const text = bundle.slice(0, written.from) + given.text.slice(node.from, node.to) + bundle.slice(written.to);
    return { files: { ...files, [BUNDLE]: text }, as: `${kind} in ${BUNDLE}` };
  }
  const name = Object.hasOwn(files, given.name) ? `${kind}.json` : given.name;
  const text = withMember(bundle, `${JSON.stringify(kind)}: ${JSON.stringify(name)}`);
  return text === undefined ? undefined : { files: { ...files, [BUNDLE]: text, [name]: given.text }, as: name };
}

/** Returns `true` if the bundle holds a document of the text's kind, and names no file for it. */
export function isWrittenOut(files: State["files"], given: Given): boolean {
  const kind = kindOf(readJson(given.text));
  return (
    kind !== undefined && fileOf(namedIn(files), given.name, kind) === undefined && writtenAt(files, kind) !== undefined
  );
}

/** Which document a text is. */
function kindOf(node: JsonNode | undefined): DocumentKey | undefined {
  if (node?.kind !== "object") {
    return undefined;
  }
  const keys = Object.keys(KEYS) as DocumentKey[];
  const found = keys.find((kind) => KEYS[kind].some((key) => child(node, key) !== undefined));
  const tools = plainValue(child(node, "tools"));
  const isCeiling = Array.isArray(tools) && tools.every((tool) => typeof tool === "string");
  return found ?? (isCeiling ? "ceiling" : undefined);
}

/** Which of the named files a file is: a browser tells its name, and its folder only where a whole folder was chosen. */
function fileOf(named: readonly NamedFile[], name: string, kind: DocumentKey | undefined): string | undefined {
  const same = (isSame: (file: string) => boolean) => named.filter(({ file }) => isSame(file));
  for (const found of [
    same((file) => file === name),
    same((file) => name.endsWith(`/${file}`)),
    same((file) => baseOf(file) === baseOf(name)),
  ]) {
    const [one] = found.length === 1 ? found : found.filter(({ key }) => key === kind);
    if (one !== undefined) {
      return one.file;
    }
  }
  return named.find(({ key }) => key === kind)?.file;
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The text of an object with one more member, before the others. */
function withMember(text: string, member: string): string | undefined {
  const node = readJson(text);
  if (node?.kind !== "object" || text[node.from] !== "{") {
    return undefined;
  }
  const at = node.from + 1;
  return `${text.slice(0, at)}\n  ${member}${node.members.length > 0 ? "," : "\n"}${text.slice(at)}`;
}
