// Stands in for Claude Code: it speaks with the Agent SDK as the program does, makes the calls of a script instead of a model's, and
// asks the hooks and `canUseTool` as the program does before a tool runs. Its result is what came of each call.
import { createInterface } from "node:readline";

const { calls, mode, isOld } = JSON.parse(process.env.CALLGATE_SCRIPT);
const lines = createInterface({ input: process.stdin });
const waiting = new Map();
let hooks = {};
let count = 0;

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

function ask(request) {
  count += 1;
  const request_id = `request-${count}`;
  send({ type: "control_request", request_id, request });
  return new Promise((resolve) => waiting.set(request_id, resolve));
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "control_request") {
    hooks = message.request.hooks ?? hooks;
    const response = { commands: [], models: [], account: {}, agents: [], hook_on_failure_supported: !isOld };
    send({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } });
  } else if (message.type === "control_response") {
    waiting.get(message.response.request_id)(message.response);
  } else if (message.type === "user") {
    run();
  }
});

/** Every hook of an event, the strictest answer first. A failure blocks, since each hook says so. */
async function hooked(event, fields) {
  for (const { hookCallbackIds, onFailure } of hooks[event] ?? []) {
    for (const callback_id of hookCallbackIds) {
      const input = {
        hook_event_name: event,
        session_id: "s",
        transcript_path: "",
        cwd: "/",
        permission_mode: mode,
        ...fields,
      };
      const { subtype, response } = await ask({
        subtype: "hook_callback",
        callback_id,
        input,
        tool_use_id: fields.tool_use_id,
      });
      if (subtype !== "success") return onFailure === "block" ? { permissionDecision: "deny" } : undefined;
      return response.hookSpecificOutput;
    }
  }
  return undefined;
}

async function outcomeOf({ name, input, server, event = "PreToolUse", more = {} }, at) {
  const fields = {
    tool_name: name,
    tool_input: input,
    tool_use_id: `use-${at}`,
    ...(server && { mcp_server: server }),
    ...more,
  };
  const said = await hooked(event, fields);
  const decision = said?.permissionDecision;
  if (decision === "deny") return { denied: said.permissionDecisionReason };
  const updated = said?.updatedInput ?? input;
  if (decision === "allow" || event !== "PreToolUse") return { ran: updated };
  const request = { subtype: "can_use_tool", tool_name: name, input: updated, tool_use_id: `use-${at}` };
  const { subtype, response } = await ask({ ...request, ...(server && { mcp_server: server }) });
  if (subtype !== "success" || response.behavior !== "allow") return { denied: response?.message ?? "failed" };
  return { ran: response.updatedInput, permissions: response.updatedPermissions };
}

async function run() {
  const outcomes = await Promise.all(calls.map(outcomeOf));
  const result = JSON.stringify(outcomes);
  send({ type: "result", subtype: "success", is_error: false, result, session_id: "s", uuid: "u", num_turns: 1 });
  process.exit(0);
}
