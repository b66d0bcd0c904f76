import type { Diagnostic } from "../errors.js";

/** Something doubtful, and the call that shows it. */
export type Doubt = Diagnostic & { readonly call?: unknown };

/** What is doubtful as a log of SARIF 2.1.0, with the bytes that the program writes. */
export function sarif(doubts: readonly Doubt[], version: string): string {
  const rules = [...new Set(doubts.map(({ code }) => code))].map((id) => ({ id }));
  return JSON.stringify({
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "callgate", version, rules } }, results: doubts.map(result) }],
  });
}

function result({ code, path, message, help, file, line, column, call }: Doubt): object {
  const region = line === undefined ? {} : { region: { startLine: line, startColumn: column } };
  const place = file === undefined ? undefined : { artifactLocation: { uri: reference(file) }, ...region };
  return {
    ruleId: code,
    level: "warning",
    message: { text: `${path}: ${message}${help === undefined ? "" : ` (help: ${help})`}` },
    locations: place === undefined ? [] : [{ physicalLocation: place }],
    properties: { call: call ?? null },
  };
}

/** The path as a reference (RFC 3986, section 4.2), in which every other character than those of names is escaped. */
function reference(path: string): string {
  const escaped = path
    .split("/")
    .map((name) =>
      encodeURIComponent(name).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
    );
  // A relative one must not begin with what could be a scheme.
  return `${path.split("/", 1)[0]?.includes(":") ? "./" : ""}${escaped.join("/")}`;
}
