"""Calls of Microsoft's Agent Framework (`agent-framework-core` 1.23), judged by a function middleware.

    agent = Agent(client=client, tools=tools, middleware=[CallgateMiddleware(gate, "notes")])

What holds: every call of a function tool, and of an MCP tool that runs here, is judged by the name that the model gives it, so a tool that
is added or renamed later is denied until an annotation names it. The tool gets the arguments that were judged. A denial is the tool's
result. A call that escalates is answered with a request for approval of the call as it was judged; a person's answer is `approve(request)`,
and the call is then judged again, and asked again if it is another by now. An approval that nobody gave (a rule of
`ToolApprovalMiddleware`, a tool that is approved for good) refuses. The framework's names of arguments must be those of the tool's schema,
at any depth: where an alias makes them differ, the call is denied. Calls in parallel are judged each for itself, a retry is a new call, and
what a tool streams comes after its call was allowed. The framework makes a tool's error of an exception, and runs on; none comes from here.
A sub-agent needs its own middleware. Put it last: what comes after it may change the call. Tools that a service hosts, and those that are
only declared, are not seen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agent_framework import Content, FunctionInvocationContext, FunctionMiddleware
from pydantic import BaseModel

from ._engine import Approvals, Gate
from ._judging import Context, Judging, Naming


_ASKED = "callgate"
_APPROVED = "callgate_approved"


def approve(request: Content) -> Content:
    """The answer of a person who saw the request and allows the call. What `ToolApprovalMiddleware` answers by itself is another."""
    response = request.to_function_approval_response(True)
    properties = response.additional_properties
    response.additional_properties = {**properties, _APPROVED: properties[_ASKED]} if _ASKED in properties else properties
    return response


class CallgateMiddleware(FunctionMiddleware):
    """Middleware for an agent or a chat client."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        name, given = context.function.name, _plain(context.arguments)
        response = context.metadata.get("approval_response")
        said = response.additional_properties if response is not None and response.approved is True else {}
        judged = self._judging.judge(name, given, approved=said.get(_APPROVED), schema=lambda: context.function.parameters())
        if judged.must_ask and _APPROVED not in said and said.get(_ASKED) == judged.key:
            judged = judged.refused("it was approved automatically, and not by `approve(request)`")
        if judged.must_ask:
            call_id, own = context.metadata.get("call_id"), context.metadata.get("function_call_occurrence_id")
            call = Content.from_function_call(call_id=str(call_id), name=name, arguments=judged.arguments, id=own)
            properties: dict[str, Any] = {_ASKED: judged.key, "reason": judged.reason}
            context.result = Content.from_function_approval_request(str(own or call_id), call, additional_properties=properties)
        elif judged.is_allowed and judged.arguments is not None:
            context.arguments = judged.arguments
            await call_next()
        else:
            context.result = judged.message


def _plain(arguments: BaseModel | Mapping[str, Any]) -> object:
    return arguments.model_dump(mode="json") if isinstance(arguments, BaseModel) else arguments
