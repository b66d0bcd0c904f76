import { type JsonNode, readJson } from "../jsonc.js";

/** The members of an object, each as its name and the text of its value, which may say more than the value. */
export type Members = readonly (readonly [name: string, text: string])[];

/** The members of an object in a text; `undefined` if it is not one. */
export function membersIn(text: string, node: JsonNode | undefined = readJson(text)): Members | undefined {
  return node?.kind === "object"
    ? node.members.map(({ key, value }) => [key, value === undefined ? "null" : text.slice(value.from, value.to)])
    : undefined;
}

/** The text of a member. */
export function textOf(members: Members, name: string): string | undefined {
  return members.find(([key]) => key === name)?.[1];
}

/** The members with another text under a name, in its place; without the name where there is no text. */
export function withMember(members: Members, name: string, text: string | undefined): Members {
  const isThere = members.some(([key]) => key === name);
  const all = isThere ? members : [...members, [name, ""] as const];
  return all.flatMap(([key, old]) => (key !== name ? [[key, old] as const] : text === undefined ? [] : [[key, text]]));
}

/** The text of an object, a line for each member. */
export function objectText(members: Members, indent = ""): string {
  const lines = members.map(([key, text]) => `${indent}  ${JSON.stringify(key)}: ${text}`);
  return lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n${indent}}`;
}
