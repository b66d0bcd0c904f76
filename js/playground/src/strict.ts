import { isTooDeep, type JsonMember, type JsonNode, readJson, TOO_DEEP } from "./jsonc.js";

/**
 * The value of JSON text. Where a name occurs twice in an object, `JSON.parse` would keep the second value and hide the first,
 * and another parser might do the opposite.
 *
 * @throws An error if the text is not JSON, a name occurs twice, or it is nested too deep to tell.
 */
export function parseStrictly(text: string): unknown {
  if (isTooDeep(text)) {
    throw new SyntaxError(TOO_DEEP);
  }
  const value: unknown = JSON.parse(text);
  const fault = repetitionIn(readJson(text), text);
  if (fault !== undefined) {
    throw new SyntaxError(fault());
  }
  return value;
}

/**
 * Says what is wrong with a text in which a name occurs twice in an object, and where; else `undefined`. To count the lines takes
 * long where it is done for each item of a list.
 */
export function repetitionIn(node: JsonNode | undefined, text: string): (() => string) | undefined {
  const member = repeated(node);
  if (member === undefined) {
    return undefined;
  }
  return () => {
    const before = text.slice(0, member.keyFrom).split("\n");
    const place = `line ${before.length}, column ${[...(before.at(-1) ?? "")].length + 1}`;
    return `the name \`${member.key}\` occurs twice, the second time in ${place}`;
  };
}

function repeated(node: JsonNode | undefined): JsonMember | undefined {
  if (node?.kind === "array") {
    return firstOf(node.items, repeated);
  }
  if (node?.kind !== "object") {
    return undefined;
  }
  const names = new Set<string>();
  return firstOf(node.members, (member) => {
    const isRepeated = names.has(member.key);
    names.add(member.key);
    return isRepeated ? member : repeated(member.value);
  });
}

function firstOf<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}
