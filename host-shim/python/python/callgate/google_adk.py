"""Calls of Google's Agent Development Kit (`google-adk` 2.13), judged by a plugin.

    runner = Runner(app_name="notes", agent=agent, plugins=[CallgatePlugin(gate, "notes")], …)

What holds: the runner's plugins see every call of every agent, sub-agents too, by the name that the model gives it, so a tool that is
added or renamed later (by `tool_name_prefix` too) is denied until an annotation names it. The tool gets the arguments that were judged.
A denial is the tool's response, `{"error": …}`. A call that escalates asks for confirmation (`adk_request_confirmation`); once it is
confirmed the call is judged again, and is denied if it has changed since, for ADK does not ask twice about one call. A confirmation of a
call that nobody asked about does not count, and one that answers Callgate is none for a tool that asks itself. Calls in parallel are
judged each for itself, a retry is a new call, and what a tool streams comes after its call was allowed. Put the plugin last: plugins after
it, and an agent's own `before_tool_callback`, may change the arguments. Tools that Google runs are not seen.
"""

from __future__ import annotations

from typing import Any

from google.adk.plugins import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from ._engine import Approvals, Gate
from ._judging import Context, Judging, Naming


class CallgatePlugin(BasePlugin):
    """A plugin for `Runner(plugins=…)` and `App(plugins=…)`."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        super().__init__(name="callgate")
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        answer = tool_context.tool_confirmation
        is_confirmed = answer is not None and answer.confirmed is True
        judged = self._judging.judge(tool.name, tool_args, approved=_asked(tool_context) if is_confirmed else None)
        if judged.must_ask and answer is None:
            try:
                payload = {"callgate": judged.key, "arguments": judged.arguments}
                tool_context.request_confirmation(hint=judged.question, payload=payload)
            except ValueError:  # The call has no id.
                return {"error": judged.refused("nobody could be asked").message}
            tool_context.actions.skip_summarization = True
            return {"error": "This call waits for a person to confirm it"}
        if judged.must_ask:
            judged = judged.refused("it has changed since it was confirmed" if is_confirmed else "nobody has allowed it")
        if not judged.is_allowed or judged.arguments is None:
            return {"error": judged.message}
        if answer is not None and _asked(tool_context) is not None:
            tool_context.tool_confirmation = None  # It answers our question. The tool may have one of its own.
        tool_args.clear()
        tool_args.update(judged.arguments)
        return None


def _asked(tool_context: ToolContext) -> str | None:
    """The key of the last question about this call, by the session's own record."""
    for event in reversed(tool_context.session.events):
        confirmation = event.actions.requested_tool_confirmations.get(tool_context.function_call_id or "")
        if confirmation is not None:
            key = confirmation.payload.get("callgate") if isinstance(confirmation.payload, dict) else None
            return key if isinstance(key, str) else None
    return None
