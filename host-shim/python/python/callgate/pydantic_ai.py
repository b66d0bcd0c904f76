"""Calls of pydantic-ai agents (`pydantic-ai-slim` 2.68), judged by a capability, or by a toolset around other toolsets.

    agent = Agent(model, tools=tools, capabilities=[Callgate(gate, "notes")])
    agent = Agent(model, toolsets=[CallgateToolset(toolset, gate, "notes")])

What holds: every call of a tool is judged by the name that the model gives it (below `PrefixedToolset`, the toolset's), after its
arguments are validated and all other capabilities had their say. So a tool that is added or renamed later is denied until an annotation
names it. The tool gets the arguments that were judged. A denial is a failed tool return, which costs no retry; a retry that the model
makes is a new call. A call that escalates raises `ApprovalRequired`: give `DeferredToolResults` the approvals and, as `metadata`, that of
the `DeferredToolRequests`, which says what was asked; a call that has changed since, by `override_args` too, is asked again. Calls in
parallel are judged each for itself, and what a tool streams comes after its call was allowed. A sub-agent needs a capability of its own.
Tools that a model's provider runs, and output tools, are not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool
from pydantic_core import to_jsonable_python

from ._engine import Approvals, Gate
from ._judging import Context, Judging, Naming, same


class Callgate(AbstractCapability[Any]):
    """A capability that judges each call of a function tool."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def before_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any]
    ) -> dict[str, Any]:
        return _settled(self._judging, ctx, call.tool_name, args)


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

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        return await super().call_tool(name, _settled(self._judging, ctx, name, tool_args), ctx, tool)


def _settled(judging: Judging, ctx: RunContext[Any], name: str, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments to run the tool with. Raises `ApprovalRequired`, or `ToolFailed` for a denial."""
    given = _plain(args)
    asked = ctx.tool_call_metadata.get("callgate") if isinstance(ctx.tool_call_metadata, dict) else None
    judged = judging.judge(name, given, approved=asked if ctx.tool_call_approved and isinstance(asked, str) else None)
    if judged.must_ask and ctx.tool_call_approved and asked is None:
        judged = judged.refused("the approval has no `metadata`, which says what was asked")
    if judged.must_ask:
        raise ApprovalRequired({"callgate": judged.key, "reason": judged.reason, "arguments": judged.arguments})
    if not judged.is_allowed or judged.arguments is None or not isinstance(given, dict):
        raise ToolFailed(judged.message)
    # What was judged as it is stays what validation made of it, a date or a model.
    return {key: args[key] if key in given and same(given[key], value) else value for key, value in judged.arguments.items()}


def _plain(args: object) -> object:
    """Validated arguments as JSON. Those that are none are no object, which is denied."""
    try:
        return to_jsonable_python(args)
    except Exception:
        return None if args is None else repr(type(args))
