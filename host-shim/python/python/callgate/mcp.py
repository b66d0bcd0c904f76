"""Calls of the Model Context Protocol's own SDK (`mcp` 2.3), judged in a server, or in front of a client's session.

    server = MCPServer("notes", middleware=[CallgateMiddleware(gate, "notes")])
    tools = GatedSession(session, gate, "notes")

What holds: every `tools/call` is judged by its name as it arrives, so a tool that is added or renamed later is denied until an annotation
names it. In a server, an argument that the tool's listed schema does not tell (an alias of a field) denies. The tool gets the arguments that were judged. Calls in parallel are judged each for itself, a retry is a new call, and what a
tool streams comes after its call was allowed. A denial is a result with `isError`. A call that escalates is asked about by elicitation,
or, in protocol 2026-07-28, by a result that requires input; a client answers for its person. A client that cannot elicit, an answer that
cannot be read and a timeout deny. Put the middleware last: what comes after it may change the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcp import MCPError, types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import METHOD_NOT_FOUND
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ._eliciting import REFUSED, SCHEMA, allows, asking, can_elicit, carried, taken
from ._engine import Approvals, Gate
from ._judging import Ask, Context, Judged, Judging, Naming


class CallgateMiddleware:
    """Middleware for `Server.middleware` and `MCPServer(middleware=…)`."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method != "tools/call":
            return await call_next(ctx)
        params = dict(ctx.params or {})
        name, given = params.get("name"), params.get("arguments")
        # What is denied whatever its schema is, is denied without a list.
        if (judged := self._judging.judge(name, given)).decision == "deny":
            return _denial(judged)
        allowed, listed = None, await _listed(ctx, call_next, name)

        def told() -> Mapping[str, Any] | None:
            return listed

        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            allowed = taken(params)
            judged = self._judging.judge(name, given, approved=allowed, schema=told)
            if judged.must_ask and allowed != REFUSED and can_elicit(ctx.session):
                return asking(judged, params.get("requestState"))
            judged = judged.refused() if judged.must_ask else judged
        else:
            judged = await self._judging.settle(name, given, lambda judged: _elicit(ctx, judged), schema=told)
        if not judged.is_allowed:
            return _denial(judged)
        result = await call_next(replace(ctx, params={**params, "arguments": judged.arguments}))
        if allowed is not None and isinstance(result, dict) and result.get("resultType") == "input_required":
            return {**result, "requestState": carried(allowed, result.get("requestState"))}
        return result


class GatedSession:
    """A `ClientSession`, or a `Client`, of which each call is judged before it is sent.

    `ask` has a person decide about a call that escalates, and answers `True` to allow it; without it such calls are denied.
    """

    def __init__(
        self,
        session: Any,
        gate: Gate,
        server: Naming,
        *,
        ask: Ask | None = None,
        approvals: Approvals | None = None,
        context: Context = None,
    ) -> None:
        self._session = session
        self._ask = ask
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, **rest: Any) -> Any:
        judged = await self._judging.settle(name, arguments, self._ask)
        return await self._session.call_tool(name, judged.arguments, **rest) if judged.is_allowed else _denial(judged)

    async def list_tools(self, **rest: Any) -> Any:
        return await self._session.list_tools(**rest)


async def _listed(ctx: ServerRequestContext[Any, Any], call_next: CallNext, name: object) -> Mapping[str, Any] | None:
    """The schema of a tool as the server lists it; `None` if it lists no such tool."""
    params = {key: value for key, value in (ctx.params or {}).items() if key == "_meta"}
    while True:
        try:
            listed: Any = await call_next(replace(ctx, method="tools/list", params=params))
        except MCPError as error:
            if error.error.code == METHOD_NOT_FOUND:
                return None
            raise
        for tool in listed["tools"]:
            if tool["name"] == name:
                schema: Mapping[str, Any] = tool["inputSchema"]
                return schema
        if not listed.get("nextCursor"):
            return None
        params["cursor"] = listed["nextCursor"]


async def _elicit(ctx: ServerRequestContext[Any, Any], judged: Judged) -> bool:
    answer = await ctx.session.elicit_form(judged.question, SCHEMA, related_request_id=ctx.request_id)
    return allows(answer.model_dump())


def _denial(judged: Judged) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=judged.message)], is_error=True)
