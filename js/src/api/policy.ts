import * as wasm from "../../wasm/tools.js";
import type { Diagnostic } from "../errors.js";
import { reading } from "../members.js";
import { within } from "../tools/module.js";
import type { CompiledPolicyFile, CompiledRule, ListDefinition } from "../types.js";
import { jsonText } from "./json.js";
import { withHost } from "./plain.js";
import { checkedText } from "./text.js";

/** The result of validating compiled rules. */
export interface CompiledRulesValidation {
  readonly valid: boolean;
  /** Faults for which an engine would refuse the policy, and list references that cannot be right. */
  readonly errors: string[];
  /** Parts that deserve a second look. */
  readonly warnings: string[];
}

/** A diagnostic as one line. */
function describe({ code, severity, path, message, help }: Diagnostic): string {
  return `${severity}[${code}] at ${path}: ${message}${help === undefined ? "" : ` (help: ${help})`}`;
}

/** Validates rules as an engine would, and their lists against the definitions. */
export function validateCompiledRules(
  rules: readonly CompiledRule[],
  listDefinitions: readonly ListDefinition[] = [],
): CompiledRulesValidation {
  const [rulesText, definitionsText] = [jsonText(rules, "rules"), jsonText(listDefinitions, "listDefinitions")];
  const [errors, warnings] = within(
    "invalid-document",
    () => wasm.validateCompiledRules(rulesText, definitionsText) as [Diagnostic[], Diagnostic[]],
  );
  return { valid: errors.length === 0, errors: errors.map(describe), warnings: warnings.map(describe) };
}

/** A directory and its display name. */
export interface PolicyRoot {
  /** The canonical path. */
  path: string;
  /** `sandbox`, or the name of the first rule that names the directory. */
  name: string;
}

/** A root as MCP's `roots/list` gives it. */
export interface McpRoot {
  /** A `file://` URI. */
  uri: string;
  name: string;
}

/**
 * The directories of the sandbox, all under one name, followed by those of the allow and escalate rules. Each directory
 * occurs once.
 */
export function extractPolicyRoots(
  compiledPolicy: Pick<CompiledPolicyFile, "rules">,
  allowedDirectory: string | readonly string[],
): PolicyRoot[] {
  return reading("policy", () => {
    const policy = jsonText({ rules: compiledPolicy.rules }, "compiledPolicy");
    const given: readonly unknown[] = Array.isArray(allowedDirectory) ? allowedDirectory : [allowedDirectory];
    const sandbox = Array.from(given, (directory) => checkedText(directory, "allowedDirectory"));
    return withHost((host) => wasm.extractPolicyRoots(host, policy, sandbox) as PolicyRoot[]);
  });
}

/** The roots as `file://` URIs. */
export function toMcpRoots(roots: readonly Readonly<PolicyRoot>[]): McpRoot[] {
  const given = jsonText(roots, "roots");
  return within("invalid-argument", () => wasm.toMcpRoots(given) as McpRoot[]);
}

/** The servers that rules name, in order of first mention, except those that a runtime provides itself. */
export function extractRequiredServers(compiledPolicy: Pick<CompiledPolicyFile, "rules">): Set<string> {
  return reading("policy", () => {
    const policy = jsonText({ rules: compiledPolicy.rules }, "compiledPolicy");
    return new Set(within("invalid-document", () => wasm.extractRequiredServers(policy)));
  });
}

/** Replaces the host's directory with the container's in the text of a tool's result. Only whole names match. */
export function rewriteResultContent(content: unknown, hostDir: string, containerDir: string): unknown {
  return reading("content", () => {
    if (!Array.isArray(content)) {
      return content;
    }
    const [host, container] = [checkedText(hostDir, "hostDir"), checkedText(containerDir, "containerDir")];
    return content.map((block: unknown) => rewriteBlock(block, host, container));
  });
}

function rewriteBlock(block: unknown, hostDir: string, containerDir: string): unknown {
  if (typeof block !== "object" || block === null) {
    return block;
  }
  const { type, text } = block as { type?: unknown; text?: unknown };
  if (type !== "text" || typeof text !== "string") {
    return block;
  }
  const rewritten = within("invalid-argument", () => wasm.rewriteText(text, hostDir, containerDir));
  return rewritten === undefined ? block : { ...block, text: rewritten };
}
