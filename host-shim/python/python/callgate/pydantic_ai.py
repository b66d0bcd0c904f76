"""Calls of pydantic-ai agents (`pydantic-ai-slim` 2.68), judged by a capability, or by a toolset around other toolsets.

    agent = Agent(model, tools=tools, capabilities=[Callgate(gate, "notes")])
    agent = Agent(model, toolsets=[CallgateToolset(toolset, gate, "notes")])

What holds: every call of a tool is judged by the name that the model gives it (below `PrefixedToolset`, the toolset's), after all other
capabilities had their say. So a tool that is added or renamed later is denied until an annotation names it. What is judged are the
arguments as the model wrote them, by the names of the tool's JSON Schema; a name that the schema does not tell is denied. The tool gets
what validation makes of those that were judged. A denial is a failed tool return, which costs no retry; a retry that the model
makes is a new call. A call that escalates raises `ApprovalRequired`: give `DeferredToolResults` the approvals and, as `metadata`, that of
the `DeferredToolRequests`, which says what was asked; a call that has changed since, by `override_args` too, is asked again. Calls in
parallel are judged each for itself, and what a tool streams comes after its call was allowed. A sub-agent needs a capability of its own.
A call of an external tool is handed to the application as the model wrote it: it is denied unless it is allowed so.
Tools that a model's provider runs, and output tools, are not seen.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import from_json, to_jsonable_python

from ._engine import Approvals, Gate
from ._judging import Context, Judging, Naming, same


class Callgate(AbstractCapability[Any]):
    """A capability that judges each call of a function tool."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def after_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any]
    ) -> dict[str, Any]:
        if tool_def.kind == "external":
            _handed_over(self._judging, call.tool_name, call, tool_def)
        return args

    async def before_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any]
    ) -> dict[str, Any]:
        tools = None if ctx.tool_manager is None else ctx.tool_manager.tools
        return _settled(self._judging, ctx, call.tool_name, args, call, (tools or {}).get(call.tool_name))


@dataclass(init=False)
class CallgateToolset(WrapperToolset[Any]):
    """A toolset of which each call is judged: one for each server, where several give an agent their tools."""

    def __init__(
        self,
        wrapped: AbstractToolset[Any],
        gate: Gate,
        server: Naming,
        *,
        approvals: Approvals | None = None,
        context: Context = None,
    ) -> None:
        super().__init__(wrapped)
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        tools = await super().get_tools(ctx)
        return {name: self._external(name, tool) if tool.tool_def.kind == "external" else tool for name, tool in tools.items()}

    def _external(self, name: str, tool: ToolsetTool[Any]) -> ToolsetTool[Any]:
        async def validate(ctx: RunContext[Any], /, **args: Any) -> None:
            _handed_over(self._judging, name, _call(ctx), tool.tool_def)

        return replace(tool, args_validator_func=validate)

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        return await super().call_tool(name, _settled(self._judging, ctx, name, tool_args, _call(ctx), tool), ctx, tool)


def _settled(
    judging: Judging, ctx: RunContext[Any], name: str, args: dict[str, Any], call: ToolCallPart | None, tool: ToolsetTool[Any] | None
) -> dict[str, Any]:
    """The arguments to run the tool with: what validation makes of those that were judged, which are those that the model wrote.

    Raises `ApprovalRequired`, or `ToolFailed` for a denial.
    """
    given, made = _plain(args), None
    if call is not None and tool is not None:
        made = _validated(tool, ctx, call.args)
        # A hook, or an approval that overrides arguments, may have changed them since.
        given = _written(call) if same(given, _plain(made)) else given
    asked = ctx.tool_call_metadata.get("callgate") if isinstance(ctx.tool_call_metadata, dict) else None
    approved = asked if ctx.tool_call_approved and isinstance(asked, str) else None
    judged = judging.judge(name, given, approved=approved, schema=lambda: None if tool is None else tool.tool_def.parameters_json_schema)
    if judged.must_ask and ctx.tool_call_approved and asked is None:
        judged = judged.refused("the approval has no `metadata`, which says what was asked")
    if judged.must_ask:
        raise ApprovalRequired({"callgate": judged.key, "reason": judged.reason, "arguments": judged.arguments})
    if not judged.is_allowed:
        raise ToolFailed(judged.message)
    sent = None if tool is None else _validated(tool, ctx, judged.arguments)
    if sent is None:
        raise ToolFailed(judged.refused("the tool does not take the arguments as they were judged").message)
    return sent


def _handed_over(judging: Judging, name: str, call: ToolCallPart | None, tool_def: ToolDefinition) -> None:
    """Judges a call that the application answers, which gets what the model wrote. Raises `ToolFailed` unless it is allowed so."""
    given = None if call is None else _written(call)
    judged = judging.judge(name, given, schema=lambda: tool_def.parameters_json_schema).as_given(given)
    if call is None or not judged.is_allowed:
        raise ToolFailed((judged.refused("nobody can be asked") if judged.must_ask else judged).message)


def _call(ctx: RunContext[Any]) -> ToolCallPart | None:
    """The call that is being made, as the model wrote it."""
    parts = (part for message in reversed(ctx.messages) for part in reversed(message.parts))
    return next((part for part in parts if isinstance(part, ToolCallPart) and part.tool_call_id == ctx.tool_call_id), None)


def _written(call: ToolCallPart) -> object:
    try:
        return from_json(call.args or "{}") if isinstance(call.args, str) else call.args or {}
    except ValueError:
        return call.args


def _validated(tool: ToolsetTool[Any], ctx: RunContext[Any], args: object) -> dict[str, Any] | None:
    """What the tool gets for arguments, `None` if it does not take them."""
    try:
        text = args if isinstance(args, str) else json.dumps(args)
        made = tool.args_validator.validate_json(text or "{}", context=ctx.validation_context)
    except Exception:
        return None
    return made if isinstance(made, dict) else None


def _plain(args: object) -> object:
    """Validated arguments as JSON. Those that are none are no object, which is denied."""
    try:
        return to_jsonable_python(args)
    except Exception:
        return None if args is None else repr(type(args))
