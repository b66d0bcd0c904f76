"""Calls of Microsoft's Agent Framework (`agent-framework-core` 1.23), judged by a function middleware.

    agent = Agent(client=client, tools=tools, middleware=[CallgateMiddleware(gate, "notes")])

What holds: every call of a function tool, and of an MCP tool that runs here, is judged by the name that the model gives it, so a tool that
is added or renamed later is denied until an annotation names it. The tool gets the arguments that were judged. A denial is the tool's
result. A call that escalates is answered with a request for approval of the call as it was judged; once it is approved
(`request.to_function_approval_response(True)`) the call is judged again, and is asked again if it is another by then. Calls in parallel
are judged each for itself, a retry is a new call, and what a tool streams comes after its call was allowed. The framework makes a tool's
error of an exception, and runs on; none comes from here. A sub-agent needs its own middleware. Put it last: what comes after it may
change the call. Tools that a service hosts are not seen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agent_framework import Content, FunctionInvocationContext, FunctionMiddleware
from pydantic import BaseModel

from ._engine import Approvals, Gate
from ._judging import Context, Judging, Naming


class CallgateMiddleware(FunctionMiddleware):
    """Middleware for an agent or a chat client."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        name, given = context.function.name, _plain(context.arguments)
        judged = self._judging.judge(name, given)
        response = context.metadata.get("approval_response")
        is_approved = getattr(response, "approved", None) is True
        if judged.must_ask and is_approved and judged.as_given(given).must_ask:
            # The request had the arguments that were judged, so these are what the person saw.
            judged = self._judging.judge(name, given, approved=judged.key)
        if judged.must_ask:
            call_id, own = context.metadata.get("call_id"), context.metadata.get("function_call_occurrence_id")
            call = Content.from_function_call(call_id=str(call_id), name=name, arguments=judged.arguments, id=own)
            properties: dict[str, Any] = {"callgate": judged.key, "reason": judged.reason}
            context.result = Content.from_function_approval_request(str(own or call_id), call, additional_properties=properties)
        elif judged.is_allowed and judged.arguments is not None:
            context.arguments = judged.arguments
            await call_next()
        else:
            context.result = judged.message


def _plain(arguments: BaseModel | Mapping[str, Any]) -> object:
    return arguments.model_dump(mode="json") if isinstance(arguments, BaseModel) else arguments
