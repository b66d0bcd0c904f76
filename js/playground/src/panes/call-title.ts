/** A call in one line: its server, its tool, and the beginning of its arguments. */
export function callTitle(text: string): string {
  try {
    const { serverName, toolName, arguments: args } = JSON.parse(text) as Record<string, unknown>;
    const values = typeof args === "object" && args !== null ? Object.values(args) : [args];
    const shown = values
      .filter((value) => value !== undefined)
      .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
      .join(" ");
    return `${String(serverName)}/${String(toolName)} ${shown.length > 90 ? `${shown.slice(0, 90)}…` : shown}`.trim();
  } catch {
    return text.slice(0, 90);
  }
}
