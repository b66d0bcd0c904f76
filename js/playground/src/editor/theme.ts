import { EditorView } from "@codemirror/view";

/** The page's colours; they change with its theme. */
export const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--field)", height: "100%", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".cm-gutters": { backgroundColor: "var(--field)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--line)" },
  "&.cm-focused .cm-matchingBracket, .cm-matchingBracket": { backgroundColor: "var(--selection)" },
  ".cm-tooltip, .cm-panels": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--border)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionInfo, .hint": { maxWidth: "40ch", padding: "6px 8px", fontFamily: "var(--sans)" },
  ".cm-completionDetail": { color: "inherit", opacity: "0.8" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--deny)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--escalate)" },
  ".cm-lintRange-error": { background: "none", textDecoration: "underline wavy var(--deny)" },
  ".cm-lintRange-warning": { background: "none", textDecoration: "underline wavy var(--escalate)" },
  // The marks would be images in the style sheet, which the content security policy forbids.
  ".cm-lint-marker": { width: "10px", height: "10px", borderRadius: "50%", marginTop: "5px" },
  ".cm-lint-marker.cm-lint-marker-error": { content: "normal", backgroundColor: "var(--deny)" },
  ".cm-lint-marker.cm-lint-marker-warning": { content: "normal", backgroundColor: "var(--escalate)" },
  ".cm-button": { background: "var(--raised)", color: "var(--text)", border: "1px solid var(--border)" },
  ".cm-textfield": { background: "var(--field)", color: "var(--text)", border: "1px solid var(--border)" },
  ".cm-searchMatch": { backgroundColor: "var(--selection)" },
});
