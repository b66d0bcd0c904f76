// A model learns no path of the host that it did not name itself, and a person learns what is so.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gateTools as gateAiTools } from "callgate/ai";
import { gateCanUseTool, gateHooks } from "callgate/claude";
import { gateMiddleware } from "callgate/langchain";
import { gateTools as gateMastraTools } from "callgate/mastra";
import { gateTool } from "callgate/openai-agents";
import { OPTIONS } from "./place.mjs";

const given = { path: "/given/x" };

/** What the model is told, by each entry. */
const ENTRIES = {
  ai: async (options) => {
    const toolCall = { toolName: "read", toolCallId: "1", input: given };
    return (await gateAiTools({}, options).toolApproval({ toolCall })).reason;
  },
  claude: async (options) => {
    const [{ hooks }] = gateHooks(options).PreToolUse;
    const said = await hooks[0]({ tool_name: "read", tool_input: given, permission_mode: "default" });
    return said.hookSpecificOutput.permissionDecisionReason;
  },
  "claude's canUseTool": async (options) => (await gateCanUseTool(options)("read", given, {})).message,
  langchain: async (options) => {
    const toolCall = { id: "1", name: "read", args: given };
    return (await gateMiddleware(options).wrapToolCall({ toolCall, runtime: {} }, assert.fail)).content;
  },
  mastra: async (options) => {
    const { read } = gateMastraTools({ read: { execute: assert.fail } }, options);
    return (await read.execute(given).catch((error) => error)).message;
  },
  "openai-agents": async (options) => {
    const { inputGuardrails } = gateTool({ type: "function", name: "read", needsApproval: async () => false }, options);
    const toolCall = { callId: "1", arguments: JSON.stringify(given) };
    return (await inputGuardrails[0].run({ context: {}, toolCall })).behavior.message;
  },
};

for (const [name, told] of Object.entries(ENTRIES)) {
  test(`${name}: where links lead is not told`, async () => {
    for (const [rule, reason, expected] of [
      ["structural-protected-path", "`/given/x` leads to `/srv/x`", "`/given/x` leads to `…`"],
      ["structural-protected-path", "forbidden: /srv/a b", "forbidden: …"],
      ["structural-hook-fault", '"file:///srv/x" is not allowed', '"file:…" is not allowed'],
      ["structural-domain", "the URL https://a.example/b and and/or", "the URL https://a.example/b and and/or"],
      ["structural-protected-path", "é `/srv` \"/srv\" '/srv'", "é `…` \"…\" '…'"],
      // Whoever wrote the policy wrote it for models to read.
      ["secrets", "Nothing in /srv/secret", "Nothing in /srv/secret"],
    ]) {
      const verdict = { decision: "deny", rule, reason };
      const engine = { gate: () => ({ verdict, argsForTransport: given }) };
      assert.equal((await told({ ...OPTIONS, engine })).split("): ")[1], expected);
    }
  });
}
