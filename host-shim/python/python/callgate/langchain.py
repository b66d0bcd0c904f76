"""Calls of LangChain agents (`langchain` 1.5) and of LangGraph's `ToolNode`, judged around the tool.

    agent = create_agent(model, tools, middleware=[CallgateMiddleware(gate, "notes")], checkpointer=InMemorySaver())
    node = ToolNode(tools, wrap_tool_call=callgate.wrap_tool_call, awrap_tool_call=callgate.awrap_tool_call)

What holds: every call of a tool is judged by the name that the model gives it, so a tool that is added or renamed later is denied until
an annotation names it. The tool gets the arguments that were judged. A denial is a `ToolMessage` with `status="error"`. A call that
escalates interrupts the graph, which needs a checkpointer: without one it ends there, and the call does not run. It goes on by
`Command(resume=approve(interrupt.value))`, or `reject`, which name what was asked about. An answer that names another call (calls in
parallel may swap theirs) or a call that has changed meanwhile is asked again; any other answer refuses. Calls in parallel are judged each
for itself, a retry around this middleware is a new call, and what a tool streams comes after its call was allowed. A `ToolNode` that is
interrupted runs again whole, with the calls that ran before the question; an agent runs each call by itself. Sub-agents are judged by
their own middleware: give it to each. Put it last in the list: what comes after it is nearer to the tool and may change the call. Tools
that a model's provider runs are not seen.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from ._engine import Approvals, Gate
from ._judging import Context, Judged, Judging, Naming


def approve(asked: dict[str, Any]) -> dict[str, Any]:
    """The answer that allows what an interrupt asked about: its value. Whatever else a graph is resumed with refuses the call."""
    return {"type": "approve", "call": asked["call"], "id": asked["id"]}


def reject(asked: dict[str, Any]) -> dict[str, Any]:
    """The answer that refuses it, even if a policy allows it by then."""
    return {**approve(asked), "type": "reject"}


class CallgateMiddleware(AgentMiddleware[Any, Any, Any]):
    """Middleware for `create_agent`; its `wrap_tool_call` and `awrap_tool_call` fit `ToolNode` as well."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        super().__init__()
        self._judging = Judging(gate, server, approvals=approvals, context=context)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        judged = self._settled(request)
        return handler(_rewritten(request, judged)) if judged.is_allowed else _denial(request, judged)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        judged = self._settled(request)
        return await handler(_rewritten(request, judged)) if judged.is_allowed else _denial(request, judged)

    def _settled(self, request: ToolCallRequest) -> Judged:
        def judge(approved: str | None = None) -> Judged:
            call = request.tool_call
            return self._judging.judge(call.get("name"), call.get("args"), approved=approved, schema=lambda: _schema(request))

        judged, given = judge(), _given_answers(request)
        # A call that is allowed by now was asked about before, and its answers are not those of the tool's own questions.
        while judged.must_ask or (judged.is_allowed and given > 0):
            try:
                answer = interrupt(_asked(judged, request))
            except GraphBubbleUp:
                raise
            except Exception:  # No checkpointer keeps the question.
                return judged.refused("nobody could be asked")
            given -= 1
            if not (isinstance(answer, dict) and answer.get("type") == "approve" and isinstance(answer.get("call"), str)):
                return judged.refused()
            judged = judge(answer["call"])
        return judged


def _given_answers(request: ToolCallRequest) -> int:
    """How many answers to questions about this call the graph is resumed with, by `approve` and `reject`."""
    try:
        # LangGraph does not say otherwise whether a call was asked about.
        scratchpad = get_config().get("configurable", {})["__pregel_scratchpad"]
        answers, last = list(scratchpad.resume), scratchpad.get_null_resume(False)
    except (AttributeError, KeyError, RuntimeError):
        return 0
    answers += [] if last in answers else [last]  # The last answer stays after it was taken.
    place = _place(request)
    return sum(isinstance(answer, dict) and isinstance(answer.get("call"), str) and answer.get("id") == place for answer in answers)


def _place(request: ToolCallRequest) -> str:
    """The call's place in the graph, which stays as the graph goes on. Graphs inside have other places."""
    try:
        namespace = get_config().get("configurable", {}).get("checkpoint_ns")
    except RuntimeError:
        namespace = None
    return f"{namespace}/{request.tool_call.get('id')}"


def _schema(request: ToolCallRequest) -> Mapping[str, Any] | None:
    """The schema of the tool's arguments that the model was given, which leaves out what is injected."""
    told: Any = None if request.tool is None else request.tool.tool_call_schema
    if told is None or isinstance(told, dict):
        return told
    schema: dict[str, Any] = told.model_json_schema() if issubclass(told, BaseModel) else told.schema()
    return schema


def _asked(judged: Judged, request: ToolCallRequest) -> dict[str, Any]:
    return {
        "type": "callgate",
        "call": judged.key,
        "id": _place(request),
        "server": judged.server,
        "tool": judged.tool,
        "arguments": judged.arguments,
        "reason": judged.reason,
    }


def _rewritten(request: ToolCallRequest, judged: Judged) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": judged.arguments or {}})


def _denial(request: ToolCallRequest, judged: Judged) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(content=judged.message, name=call.get("name"), tool_call_id=call.get("id"), status="error")
