/** The tokens of a JSON Pointer (RFC 6901). */
export function tokensOf(pointer: string): string[] {
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The top-level member that a name or a JSON Pointer begins at. */
export function firstOf(name: string): string {
  return name.startsWith("/") ? (tokensOf(name)[0] ?? "") : name;
}
