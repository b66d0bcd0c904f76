import { firstOf } from "../../../src/api/pointer.js";
import { child, type JsonNode, plainValue } from "../jsonc.js";
import type { Argument, Tool } from "./protocol.js";

/** The annotated tools, from the text of the annotations: what a form for a call is made of. */
export function toolsOf(annotations: JsonNode | undefined): Tool[] {
  const servers = child(annotations, "servers");
  if (servers?.kind !== "object") {
    return [];
  }
  return servers.members.flatMap(({ key: server, value }) => {
    const tools = child(value, "tools");
    return tools?.kind === "array" ? tools.items.map((tool) => toolOf(server, record(plainValue(tool)))) : [];
  });
}

function toolOf(server: string, tool: Readonly<Record<string, unknown>>): Tool {
  const args = record(tool.args);
  const schema = record(tool.inputSchema);
  const properties = record(schema.properties);
  const semantics = record(tool.arg_schema);
  const required = [...strings(schema.required), ...strings(semantics.required)];
  // A name that begins with a slash is a place within an argument.
  const named = [...Object.keys(args), ...strings(semantics.path_params)].map(firstOf);
  const names = [...new Set([...Object.keys(properties), ...named])];
  const needed = new Set(required);
  const specs = new Map<string, unknown[]>();
  for (const [key, spec] of Object.entries(args)) {
    const known = specs.get(firstOf(key));
    if (known === undefined) {
      specs.set(firstOf(key), [spec]);
    } else {
      known.push(spec);
    }
  }
  return {
    server,
    tool: typeof tool.toolName === "string" ? tool.toolName : "",
    comment: typeof tool.comment === "string" ? tool.comment : "",
    arguments: names.map((name): Argument => {
      const within = specs.get(name) ?? [];
      return {
        name,
        roles: [...new Set(within.flatMap(rolesOf))],
        isConditional: within.some((spec) => Array.isArray(record(spec).when)),
        schema: record(properties[name]),
        isRequired: needed.has(name),
      };
    }),
  };
}

/** Every role that an argument may have. */
function rolesOf(given: unknown): string[] {
  if (typeof given === "string") {
    return [given];
  }
  if (Array.isArray(given)) {
    return strings(given);
  }
  const { roles, default: otherwise, when } = record(given);
  const clauses = Array.isArray(when) ? when.flatMap((clause) => rolesOf(record(clause).roles)) : [];
  return [
    ...(roles === undefined ? [] : rolesOf(roles)),
    ...(otherwise === undefined ? [] : rolesOf(otherwise)),
    ...clauses,
  ];
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
