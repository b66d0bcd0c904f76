"""Calls of the OpenAI Agents SDK (`openai-agents` 0.24), judged by a guardrail of the tool's input.

    agent = Agent(tools=[guarded(read_note, gate, "notes")])
    server = MCPServerStdio(params, tool_input_guardrails=[tool_input_guardrail(gate, "notes")])

What holds: the SDK cannot change arguments, so a call is allowed only where those that were given are equal to those that were judged; a
denial says which are not, and is the tool's output, which the model reads. A guarded tool whose call escalates needs approval
(`result.interruptions`, `state.approve`); the guardrail then judges the call again, and lets it through only if a person approved this
very call: what `always_approve` lets through later nobody has seen, and does not count (on an MCP server nor does the call that was asked
about, which cannot be told from later ones). A guarded tool that is given another name is denied until it is guarded by that name, and an
argument that its schema does not tell (an alias of a field) denies. Tools of an MCP server come with the guardrail as they
are listed, those added later too; `require_approval="always"` has a person asked, otherwise what escalates is denied. Calls in parallel
are judged each for itself, a retry is a new call, and what a tool streams comes after. An agent as a tool is a call like any other, and
its own tools need guarding too. Handoffs, and tools that OpenAI hosts, have no guardrail and are not seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from types import MappingProxyType
from typing import Any

from agents import FunctionTool, RunContextWrapper, ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolInputGuardrailData
from agents.tool_context import ToolContext

from ._engine import Approvals, Gate
from ._judging import Context, Judging, Naming, Unfit

_NOBODY: Mapping[str, str] = MappingProxyType({})
_REMEMBERED = 1024


def tool_input_guardrail(
    gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None
) -> ToolInputGuardrail[Any]:
    """A guardrail for `FunctionTool.tool_input_guardrails`, and for those of an MCP server."""
    return _guardrail(Judging(gate, server, approvals=approvals, context=context))


def guarded(
    tool: FunctionTool, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None
) -> FunctionTool:
    """A tool of which each call is judged, and that needs a person's approval where a call escalates."""
    judging = Judging(gate, server, approvals=approvals, context=context)
    own, name, schema = tool.needs_approval, tool.name, tool.params_json_schema
    asked: dict[str, str] = {}

    async def needs_approval(run: RunContextWrapper[Any], params: dict[str, Any], call_id: str) -> bool:
        asked.pop(call_id, None)
        judged = judging.judge(name, params, schema=lambda: schema).as_given(params)
        if judged.must_ask:
            asked[call_id] = judged.key
            if len(asked) > _REMEMBERED:
                del asked[next(iter(asked))]
            return True
        return own if isinstance(own, bool) else await own(run, params, call_id)

    made = copy(tool)
    made.needs_approval = needs_approval
    made.tool_input_guardrails = [*(tool.tool_input_guardrails or []), _guardrail(judging, asked, (name, schema))]
    return made


def _guardrail(
    judging: Judging, asked: Mapping[str, str] = _NOBODY, guarded: tuple[str, Mapping[str, Any]] | None = None
) -> ToolInputGuardrail[Any]:
    """`asked` are calls that need approval, which a run may judge before it asks, too (`pre_approval_tool_input_guardrails`).

    `guarded` is a tool as it was when it was guarded: its name, and the schema of its arguments.
    """

    def judge(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        given = _parsed(call.tool_arguments)

        def told() -> Mapping[str, Any] | None:
            if guarded is None:
                return None
            if call.tool_name != guarded[0]:
                raise Unfit(f"the tool was guarded as `{guarded[0]}`: guard it by the name that it has")
            return guarded[1]

        judged = judging.judge(call.tool_name, given, schema=told).as_given(given)
        is_asked = judged.must_ask and (asked.get(call.tool_call_id) == judged.key or _is_approved(call))
        if judged.is_allowed or is_asked:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content((judged.refused() if judged.must_ask else judged).message)

    return ToolInputGuardrail(guardrail_function=judge, name="callgate")


def _is_approved(call: ToolContext[Any]) -> bool:
    """Returns `True` if a person approved this call, and not every call of the tool, one that was never made among them."""
    approved = call.is_tool_approved
    return approved(call.tool_name, call.tool_call_id) is True and approved(call.tool_name, "callgate: no call") is not True


def _parsed(arguments: str | None) -> object:
    """The arguments as the SDK reads them. Those that cannot be read are no object, which is denied."""
    try:
        return json.loads(arguments) if arguments and arguments.strip() else {}
    except (ValueError, RecursionError):
        return arguments
