import type { ArgumentRole, Word } from "./documents.js";

/** A role of an engine that has a world. */
export type WorldRole = ArgumentRole | "address";

/** The conditions that are built in; `host:<name>` is a predicate of the host. */
export type WorldCondition =
  | "has_contract"
  | "mod_in_session"
  | "path_in_session_mods"
  | "command_whitelisted"
  | "exec_signed"
  | `host:${string}`;

/** A row of the table of what a mode sees. If the subdirectory is `null`, it applies to the whole root. */
export interface WorldVisibility<Found extends string = never> {
  readonly mode: string;
  readonly root: string;
  readonly subdirectory: string | null;
  readonly when: readonly Word<WorldCondition, Found>[];
}

/** A row of the table of what may be done. The rules of a subdirectory come before those of its root. */
export interface WorldOperations<Found extends string = never> {
  readonly mode: string;
  readonly root: string;
  readonly subdirectory: string | null;
  /** The first rule that contains the command, `[tool, command]`, decides. `"exec"` contains every command of the exec tool. */
  readonly rules: readonly {
    readonly commands: readonly (readonly string[])[] | Word<"exec", Found>;
    readonly when: readonly Word<WorldCondition, Found>[];
  }[];
}

/** A world: places that agents name by address, which of them each mode sees, and what may be done there. */
export interface WorldDocument<Found extends string = never> {
  /** For editors. */
  readonly $schema?: string | undefined;
  /** Directories by their key in addresses: `root:<key>/…`. */
  readonly roots: Readonly<Record<string, string | undefined>>;
  /** Directories of mods by their name: `mod:<name>/…`. */
  readonly mounts?: Readonly<Record<string, string | undefined>> | undefined;
  readonly visibility: readonly WorldVisibility<Found>[];
  readonly operations: readonly WorldOperations<Found>[];
  /** The tool that `"exec"` stands for. Default `exec`. */
  readonly execTool?: string | undefined;
  /**
   * The kind of each command, for the codes of replies. Default: a command that rules name without conditions is a
   * read, and any other is a write.
   */
  readonly areas?:
    | { readonly [area in "read" | "write" | "delete" | "git"]?: readonly (readonly string[])[] | undefined }
    | undefined;
}

/**
 * The context of a call as the host knows it: the mode, the command, and the values that conditions read. An agent must never write
 * one.
 *
 * A condition fails if a member that it reads is missing or has another type.
 */
export interface CallContext {
  readonly mode?: string;
  readonly command?: string;
  /** The person or the service that asks; 256 bytes at most, as the next two. Rules look at them by `if.context`. */
  readonly subject?: string;
  /** The program that acts for one. */
  readonly agent?: string;
  /** A conversation of that program. */
  readonly session?: string;
  /** How many calls each counter of the policy has counted. Rules look at them by `if.counts`. */
  readonly counts?: Readonly<Record<string, number>>;
  readonly has_contract?: boolean;
  /** The key of the contract's signatures; at least 16 bytes. */
  readonly contract_key?: string;
  readonly script_host_path?: string;
  /** 64 hexadecimal digits. */
  readonly content_sha256?: string;
  /** HMAC-SHA-256 of the script's path, a NUL and the content's hash in lower case, as 64 hexadecimal digits. */
  readonly script_signature?: string;
  readonly command_whitelist?: readonly string[];
  /** The mounted mods that the session has. Default: all of them. */
  readonly session_mods?: readonly string[];
  readonly mod_name?: string;
  /** Passed to the host's predicates unchanged. */
  readonly host?: unknown;
}

type Area = "READ" | "WRITE" | "DELETE" | "GIT" | "EXEC";

/** The code of a reply. */
export type ReplyCode =
  | "WA-SYS-I-001"
  | "WA-RES-S-001"
  | "WA-RES-I-001"
  | "WA-RES-I-003"
  | "WA-RES-I-004"
  | "WA-RES-E-001"
  | `EN-${Area}-S-001`
  | `EN-${Area}-D-001`
  | `EN-${Area}-D-002`;

/** A world's answer. It never contains a host path. */
export interface Reply {
  readonly code: ReplyCode;
  readonly status: "success" | "invalid" | "denied" | "error";
  readonly message: string;
  readonly data: ReplyData;
}

/** The details of a reply. */
export type ReplyData =
  | { readonly [nothing in never]: never }
  | { readonly reason: "form" | "unknown-root" | "unknown-mod" | "unresolvable" }
  | {
      /** The address in canonical form, with links resolved. */
      readonly resolved: string;
      readonly root_key: string;
      readonly subdirectory: string | null;
      readonly relative_path: string;
      readonly mod_name: string | null;
    }
  | {
      readonly mode: string;
      readonly root_key: string;
      readonly subdirectory: string | null;
      readonly failed_conditions: readonly string[];
    };

declare const isReference: unique symbol;

/**
 * A place that was resolved. It cannot be forged: it is an empty object, and only the engine that made it knows the
 * path.
 */
export interface VisibilityRef {
  readonly [isReference]: true;
}

/** A reply, and a reference if there is a place. */
export interface Resolution {
  readonly reply: Reply;
  readonly ref: VisibilityRef | undefined;
}

/** How an address is resolved. */
export interface ResolveOptions {
  /** `true` if something must already exist there. Default `true`. */
  readonly requireExists?: boolean | undefined;
}

/** An operation, and the place for it. */
export interface Enforcement {
  readonly mode: string | undefined;
  readonly tool: string;
  readonly command: string;
  readonly root: string;
  readonly subdirectory?: string | null | undefined;
  /** The address of the place, for conditions about a path or a mod. It must lie in that root and subdirectory. */
  readonly address?: string | undefined;
  readonly context?: CallContext | undefined;
}
