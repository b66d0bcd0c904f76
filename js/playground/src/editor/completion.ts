import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import { h } from "../dom.js";
import { cursorAt, readJson } from "../jsonc.js";
import { describe, keysOf, type Schema, schemasAt, skeleton, valuesOf } from "./schema.js";

/** Texts beyond this are not read for a completion at every key. */
const MAX_TEXT = 1_000_000;

/** The schema of the bundle, loaded when it is first needed. */
let bundleSchema: Promise<Schema> | undefined;

function load(): Promise<Schema> {
  bundleSchema ??= import("../../../schemas/bundle.json").then(({ default: schema }) => schema as Schema);
  return bundleSchema;
}

/** Completion and descriptions from the package's JSON Schema. `root` says which part of a bundle the text is. */
export function schemaHelp(root: () => readonly string[]): Extension {
  return [
    autocompletion({ override: [(context) => complete(context, root)], icons: false }),
    hoverTooltip(async (view, offset) => {
      if (view.state.doc.length > MAX_TEXT) {
        return null;
      }
      const text = view.state.doc.toString();
      const cursor = cursorAt(readJson(text), offset);
      if (!cursor.isKey || cursor.from === cursor.to) {
        return null;
      }
      const key = text.slice(cursor.from, cursor.to).replace(/^"|"$/g, "");
      const schema = await load();
      const told = schemasAt(schema, [...root(), ...cursor.path, key])
        .map(describe)
        .find((one) => one !== "");
      return told === undefined
        ? null
        : { pos: cursor.from, end: cursor.to, create: () => ({ dom: h("div", { class: "hint" }, told) }) };
    }),
  ];
}

async function complete(context: CompletionContext, rootOf: () => readonly string[]): Promise<CompletionResult | null> {
  if (context.state.doc.length > MAX_TEXT) {
    return null;
  }
  const text = context.state.doc.toString();
  const root = rootOf();
  const { path, from, to, isKey, siblings } = cursorAt(readJson(text), context.pos);
  const isWritten = from < to;
  if (!isWritten && !context.explicit) {
    return null;
  }
  const schema = await load();
  const schemas = schemasAt(schema, [...root, ...path]);
  const own = text.slice(from, to).replace(/^"|"$/g, "");
  const options: Completion[] = isKey
    ? keysOf(schemas)
        .filter(({ name }) => name === own || !siblings.includes(name))
        .map(({ name, description, isRequired, schema: of }) => ({
          label: JSON.stringify(name),
          ...(description !== "" && { info: description }),
          ...(isRequired && { detail: "required" }),
          boost: isRequired ? 1 : 0,
          apply: /^\s*:/.test(text.slice(to, to + 20))
            ? JSON.stringify(name)
            : `${JSON.stringify(name)}: ${skeleton(schema, of)}`,
        }))
    : valuesOf(schemas).map(({ value, description }) => ({
        label: JSON.stringify(value),
        ...(description !== "" && { info: description }),
      }));
  return options.length === 0 ? null : { from, to, options, validFor: /^"?[\w$-]*"?$/ };
}
