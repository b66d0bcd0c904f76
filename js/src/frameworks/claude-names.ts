// The names that Claude Code has for tools: those of its own, and `mcp__SERVER__TOOL`.
import { isObject } from "../mcp/message.js";
import { denied, type FrameworkOptions, type Judged, judgeOf, type NamedTool } from "./judging.js";

/** The judge of calls by the names that Claude Code has for tools, of which it may say what MCP server they belong to. */
export function claudeJudge(options: FrameworkOptions) {
  const judge = judgeOf(options);
  const isNaming = typeof options.serverName === "function";
  return (name: unknown, given: unknown, server: unknown): Judged => {
    if (typeof name !== "string" || !name.startsWith("mcp__") || isNaming) {
      return judge(name, given);
    }
    const named = namedBy(name, isObject(server) ? server.name : undefined);
    return named === undefined
      ? denied("structural-unknown-tool", `\`${name}\` is not the name of one tool of a known MCP server`)
      : judge(name, given, named);
  };
}

/** The tool of a name `mcp__SERVER__TOOL`, where that is clear: the SDK says which server it is, or the name has one reading. */
function namedBy(name: string, server: unknown): NamedTool | undefined {
  if (typeof server === "string") {
    const prefix = `mcp__${server.replaceAll(/[^\w-]/gu, "_")}__`;
    return name.startsWith(prefix) ? { serverName: server, toolName: name.slice(prefix.length) } : undefined;
  }
  const [, serverName = "", toolName = "", ...more] = name.split("__");
  const isClear = more.length === 0 && serverName !== "" && toolName !== "" && !name.includes("___");
  return isClear ? { serverName, toolName } : undefined;
}
