import type { ArgumentRole } from "./documents.js";

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

/** A tool and one of its commands. */
export type WorldCommand = readonly [tool: string, command: string];

/** A row of the table that says what a mode sees; without a subdirectory it is about the whole root. */
export interface WorldVisibility {
  readonly mode: string;
  readonly root: string;
  readonly subdirectory: string | null;
  readonly when: readonly WorldCondition[];
}

/** A row of the table that says what may be done; the rules of a subdirectory come before those of its root. */
export interface WorldOperations {
  readonly mode: string;
  readonly root: string;
  readonly subdirectory: string | null;
  /** The first rule that holds the command decides; `"exec"` holds every command of the exec tool. */
  readonly rules: readonly {
    readonly commands: readonly WorldCommand[] | "exec";
    readonly when: readonly WorldCondition[];
  }[];
}

/** A world: places that an agent names by address, which of them a mode sees, and what may be done there. */
export interface WorldDocument {
  /** Directories by the key that addresses have for them: `root:<key>/…`. */
  readonly roots: Readonly<Record<string, string>>;
  /** Directories of mods by their name: `mod:<name>/…`. */
  readonly mounts?: Readonly<Record<string, string>>;
  readonly visibility: readonly WorldVisibility[];
  readonly operations: readonly WorldOperations[];
  /** The tool that `"exec"` stands for; `exec` where this is not given. */
  readonly execTool?: string;
  /** What commands are, for the codes of replies; else what no rule sets a condition for is read, and the rest write. */
  readonly areas?: { readonly [area in "read" | "write" | "delete" | "git"]?: readonly WorldCommand[] };
}

/**
 * What a host says about a call: the mode, the command, and what conditions look at. An agent must never write one.
 *
 * What is not there, or of another type, makes conditions fail.
 */
export interface CallContext {
  readonly mode?: string;
  readonly command?: string;
  readonly has_contract?: boolean;
  /** The key of the contract's signatures, at least 16 bytes. */
  readonly contract_key?: string;
  readonly script_host_path?: string;
  /** 64 hexadecimal digits. */
  readonly content_sha256?: string;
  /** HMAC-SHA-256 of the script's path, a NUL and the content's hash in lower case, as 64 hexadecimal digits. */
  readonly script_signature?: string;
  readonly command_whitelist?: readonly string[];
  /** The mounted mods that the session has; all of them where this is not given. */
  readonly session_mods?: readonly string[];
  readonly mod_name?: string;
  /** What predicates of the host are handed as it is. */
  readonly host?: unknown;
}

type Area = "READ" | "WRITE" | "DELETE" | "GIT" | "EXEC";

/** What a world answers with. */
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

/** A world's answer. It never holds a path of the host. */
export interface Reply {
  readonly code: ReplyCode;
  readonly status: "success" | "invalid" | "denied" | "error";
  readonly message: string;
  readonly data: ReplyData;
}

/** What a reply is about. */
export type ReplyData =
  | { readonly [nothing in never]: never }
  | { readonly reason: "form" | "unknown-root" | "unknown-mod" | "unresolvable" }
  | {
      /** The address in the form that is written, without links. */
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
 * A place that was resolved. It holds nothing: only the engine that gave it knows the path, and no text stands for it,
 * so it cannot be forged.
 */
export interface VisibilityRef {
  readonly [isReference]: true;
}

/** A reply, and a reference where there is a place. */
export interface Resolution {
  readonly reply: Reply;
  readonly ref: VisibilityRef | undefined;
}

/** How an address is resolved. */
export interface ResolveOptions {
  /** Whether something must be there already. Default `true`. */
  readonly requireExists?: boolean | undefined;
}

/** What is to be done, and where. */
export interface Enforcement {
  readonly mode: string | undefined;
  readonly tool: string;
  readonly command: string;
  readonly root: string;
  readonly subdirectory?: string | null | undefined;
  /** The address of the place, for conditions about a path or a mod; it must lie at that root and subdirectory. */
  readonly address?: string | undefined;
  readonly context?: CallContext | undefined;
}
