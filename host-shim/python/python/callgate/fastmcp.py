"""Calls of a FastMCP server (`fastmcp` 4), judged by a middleware.

    server = FastMCP("notes", middleware=[CallgateMiddleware(gate, "notes")])

What holds: every call of a tool is judged by the name that the client gives it, so a tool that is added, renamed or mounted later is
denied until an annotation names it. An argument that the tool's schema does not tell (an alias of a field) denies. A tool that was made of
another by a transformation is denied where its annotation does not name the call's arguments, and where another is the annotated one: that
annotation says what the tool was before. A mounted server's tools have its prefix here: give `server` a function that takes the prefix apart.
A tool that calls another by the server is judged again. The tool gets the arguments that were judged. Calls in parallel are judged each
for itself, a retry is a new call, and what a tool streams comes after its call was allowed. A denial is a result with `isError`. A call
that escalates is asked about by elicitation, or, in protocol 2026-07-28, by a result that requires input; a client answers for its
person. A client that cannot elicit, an answer that cannot be read and a timeout deny. In that protocol a tool that requires input itself
cannot be asked about: allow its calls, or give `approvals`. Add the middleware last: what comes after it may change the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastmcp.server.context import Context as FastMCPContext
from fastmcp.server.dependencies import extract_version_spec
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.providers.fastmcp_provider import FastMCPProviderTool
from fastmcp.tools import InputRequiredToolResult, Tool, ToolResult
from fastmcp.tools.tool_transform import TransformedTool
from fastmcp.utilities.versions import VersionSpec
from mcp import types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ._eliciting import REFUSED, SCHEMA, allows, asking, can_elicit, taken
from ._engine import Approvals, Gate
from ._judging import Context, Judged, Judging, Naming, Unfit


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
        tool = None if inside is None else await _called(inside, message)
        made_of = None if tool is None else await _made_of(tool, name)

        def told() -> Mapping[str, Any]:
            if tool is None:
                raise Unfit("the server has no such tool")
            if made_of:
                self._judging.made_of(name, given, made_of)
            return tool.parameters

        if inside is not None and _is_modern(inside):
            allowed = taken(message.model_dump(by_alias=True))
            judged = self._judging.judge(name, given, approved=allowed, schema=told)
            if judged.must_ask and allowed != REFUSED and can_elicit(inside.session):
                return InputRequiredToolResult(asking(judged))
            judged = judged.refused() if judged.must_ask else judged
            if allowed is not None and judged.is_allowed and not _strip(inside):
                judged = judged.refused("the tool would read the answer to Callgate's question")
        else:
            judged = await self._judging.settle(name, given, None if inside is None else _asks(inside), schema=told)
        if not judged.is_allowed:
            return ToolResult(content=judged.message, is_error=True)
        return await call_next(context.copy(message=message.model_copy(update={"arguments": judged.arguments})))


async def _called(inside: FastMCPContext, message: types.CallToolRequestParams) -> Tool | None:
    version = extract_version_spec(dict(message.meta or {}))
    return await inside.fastmcp.get_tool(message.name, None if version is None else VersionSpec(eq=version))


async def _made_of(tool: Tool, name: str) -> list[str]:
    """The names of the tools that this one was made of by transformations, in a mounted server too."""
    names: list[str] = []
    while True:
        if isinstance(tool, TransformedTool):
            names.append(name if tool.parent_tool.name == tool.name else tool.parent_tool.name)
            tool = tool.parent_tool
        elif isinstance(tool, FastMCPProviderTool):
            version = None if tool.version is None else VersionSpec(eq=tool.version)
            tool = await tool._server.get_tool(tool._original_name, version)
        else:
            return names


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
