"""Calls of a FastMCP server (`fastmcp` 4), judged by a middleware.

    server = FastMCP("notes", middleware=[CallgateMiddleware(gate, "notes")])

What holds: every call of a tool is judged by the name that the client gives it, so a tool that is added, renamed or mounted later is
denied until an annotation names it. A mounted server's tools have its prefix here: give `server` a function that takes the prefix apart.
A tool that calls another by the server is judged again. The tool gets the arguments that were judged. Calls in parallel are judged each
for itself, a retry is a new call, and what a tool streams comes after its call was allowed. A denial is a result with `isError`. A call
that escalates is asked about by elicitation, or, in protocol 2026-07-28, by a result that requires input; a client answers for its
person. A client that cannot elicit, an answer that cannot be read and a timeout deny. In that protocol a tool that requires input itself
cannot be asked about: allow its calls, or give `approvals`. Add the middleware last: what comes after it may change the call.
"""

from __future__ import annotations

from typing import Any

from fastmcp.server.context import Context as FastMCPContext
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import InputRequiredToolResult, ToolResult
from mcp import types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ._eliciting import REFUSED, SCHEMA, allows, asking, can_elicit, taken
from ._engine import Approvals, Gate
from ._judging import Context, Judged, Judging, Naming


class CallgateMiddleware(Middleware):
    """Middleware for `FastMCP(middleware=…)` and `FastMCP.add_middleware`."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    async def on_call_tool(
        self,
        context: MiddlewareContext[types.CallToolRequestParams],
        call_next: CallNext[types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        message = context.message
        name, given, inside = message.name, message.arguments, context.fastmcp_context
        if inside is not None and _is_modern(inside):
            allowed = taken(message.model_dump(by_alias=True))
            judged = self._judging.judge(name, given, approved=allowed)
            if judged.must_ask and allowed != REFUSED and can_elicit(inside.session):
                return InputRequiredToolResult(asking(judged))
            judged = judged.refused() if judged.must_ask else judged
            if allowed is not None and judged.is_allowed and not _strip(inside):
                judged = judged.refused("the tool would read the answer to Callgate's question")
        else:
            judged = await self._judging.settle(name, given, None if inside is None else _asks(inside))
        if not judged.is_allowed:
            return ToolResult(content=judged.message, is_error=True)
        return await call_next(context.copy(message=message.model_copy(update={"arguments": judged.arguments})))


def _strip(inside: FastMCPContext) -> bool:
    """Takes the answer to our question out of the request, where the tool reads answers to its own. `False` if that cannot be done."""
    # FastMCP has no other place for what a tool reads.
    request = getattr(inside.request_context, "_srctx", None)
    params = getattr(request, "params", None)
    if not isinstance(params, dict):
        return False
    taken(params)
    return inside.request_state is None or not inside.request_state.startswith("callgate:")


def _asks(inside: FastMCPContext) -> Any:
    async def elicit(judged: Judged) -> bool:
        answer = await inside.session.elicit_form(judged.question, SCHEMA, related_request_id=inside.request_id)
        return allows(answer.model_dump())

    return elicit


def _is_modern(inside: FastMCPContext) -> bool:
    request = inside.request_context
    return request is not None and request.protocol_version in MODERN_PROTOCOL_VERSIONS
