/** Settings of an engine. Each has a default. */
export interface EngineOptions {
  /** For editors. */
  readonly $schema?: string | undefined;
  /**
   * `"runtime"`: decides as the existing runtime does where that differs from the careful defaults. Default
   * `"careful"`; {@link PolicyEngine} sets `"runtime"`.
   */
  readonly compatibility?: "careful" | "runtime" | undefined;
  /** `"on"`: arguments that look like a path are checked against the protected paths too. Default `"on"`. */
  readonly heuristicPaths?: "on" | "off" | undefined;
  /** The treatment of an argument that the annotation does not name. Default `"schema"`: the tool's schema decides. */
  readonly unknownArguments?: "schema" | "ignore" | "escalate" | "deny" | undefined;
  /** Arguments that clients add to the calls of every tool, such as `toolCallId`: they are not unknown. Default none. */
  readonly clientArguments?: readonly string[] | undefined;
  /** `"insensitive"`: names that differ in case may be one file. Default: as the host says. */
  readonly pathCase?: "sensitive" | "insensitive" | undefined;
  /**
   * When the directories of rules are resolved: `"fresh"` in every evaluation, `"pinned"` when the engine is built and
   * on `refresh()`. Default `"fresh"`, where what a changed link adds to an allow rule counts from `refresh()` on.
   */
  readonly directories?: "fresh" | "pinned" | undefined;
  /**
   * The treatment of relative paths by `gate`; a server would read them in its own working directory. `"canonical"`
   * sends their canonical form, `"as-given"` sends them as they came where there is a sandbox, `"deny"` refuses them.
   * Default `"canonical"`, with `compatibility: "runtime"` it is `"as-given"`.
   */
  readonly relativePaths?: "canonical" | "as-given" | "deny" | undefined;
  /**
   * For servers that see the disk under other names, as in a container: what they call the host's directories. Paths are
   * judged in the host's names and sent in the server's; a path that has none there is denied.
   */
  readonly serverPaths?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  /** The server of the tools in a file of Harn annotations. Default `"harn"`. */
  readonly harnServer?: string | undefined;
  /**
   * `"sandbox"`: the ceiling's workspace roots are the sandbox too, and relative paths are relative to the first one.
   * Default `"bounds"`: roots grant nothing.
   */
  readonly workspaceRoots?: "bounds" | "sandbox" | undefined;
  /** Servers that are file or git servers under another name, which then have the same structural rules. */
  readonly serverAliases?: Readonly<Record<string, "filesystem" | "git">> | undefined;
  /** The servers, or kinds of servers, on which the sandbox decides. Default `["filesystem", "git"]`. */
  readonly sandboxServers?: readonly string[] | undefined;
  /** The roles that the sandbox decides about. Default: all of these. */
  readonly sandboxRoles?:
    | readonly ("read-path" | "write-path" | "delete-path" | "write-history" | "delete-history")[]
    | undefined;
  /**
   * `"before-rules"`: rules that deny are heard about paths in the sandbox, and rules that ask about places are not.
   * `"after-rules"`: all rules are, and the sandbox decides where none has.
   * Default `"before-rules"`.
   */
  readonly sandbox?: "before-rules" | "after-rules" | undefined;
  /**
   * The directory that a server is started in, absolute or `~/…`, by server: the repository of calls that name none. It is not
   * a base of relative paths.
   */
  readonly workingDirectory?: Readonly<Record<string, string>> | undefined;
  /** `true` if warnings stop loading too. Default `false`. */
  readonly strict?: boolean | undefined;
  /** Limits by name, for example `{ value_bytes: 4096 }`. */
  readonly limits?: Readonly<Record<string, number>> | undefined;
}
