import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";

interface State {
  isInComment: boolean;
}

/** JSON with comments, by its tokens: a text that is being written has colours too. */
const language = StreamLanguage.define<State>({
  name: "jsonc",
  startState: () => ({ isInComment: false }),
  token(stream, state) {
    if (state.isInComment || stream.match("/*")) {
      state.isInComment = !stream.skipTo("*/") || !stream.match("*/");
      if (state.isInComment) {
        stream.skipToEnd();
      }
      return "comment";
    }
    if (stream.eatSpace()) {
      return null;
    }
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    return token(stream);
  },
  languageData: { commentTokens: { line: "//" }, closeBrackets: { brackets: ["[", "{", '"'] } },
});

function token(stream: StringStream): string | null {
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) {
    return stream.match(/^\s*:/, false) ? "propertyName" : "string";
  }
  if (stream.match(/^-?\d[\d.eE+-]*/)) {
    return "number";
  }
  if (stream.match(/^(?:true|false|null)\b/)) {
    return "bool";
  }
  stream.next();
  return null;
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--key)" },
  { tag: tags.string, color: "var(--string)" },
  { tag: [tags.number, tags.bool], color: "var(--literal)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
]);

export const json: Extension = [language, syntaxHighlighting(colours)];
