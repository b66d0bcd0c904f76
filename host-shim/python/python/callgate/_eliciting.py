"""MCP's elicitation: the question about a call, and its answer, which in protocol 2026-07-28 comes with the call as it is made again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp import types
from mcp.server.session import ServerSession

from ._judging import Judged

_NAME = "callgate"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this call"}},
    "required": ["allow"],
}
REFUSED = "refused"


def allows(answer: object) -> bool:
    """Returns `True` if a person allowed the call. Whatever else the answer is, it is a refusal."""
    content = answer.get("content") if isinstance(answer, Mapping) and answer.get("action") == "accept" else None
    return isinstance(content, Mapping) and content.get("allow") is True


def asking(judged: Judged, state: object = None) -> types.InputRequiredResult:
    """The result that has the client ask its person, and then call again. The tool's own state is kept."""
    question = types.ElicitRequestFormParams(message=judged.question, requested_schema=SCHEMA)
    theirs = state if isinstance(state, str) else ""
    request = types.ElicitRequest(params=question)
    return types.InputRequiredResult(input_requests={_NAME: request}, request_state=f"{_NAME}:asked:{judged.key}:{theirs}")


def taken(params: dict[str, Any]) -> str | None:
    """Takes out of a call what is not the tool's: the key of what a person allowed, `REFUSED`, or `None` if nobody was asked."""
    state, responses = params.get("requestState"), params.get("inputResponses")
    if not isinstance(state, str) or not state.startswith(f"{_NAME}:"):
        return None
    _, step, key, theirs = (*state.split(":", 3), "", "", "")[:4]
    answers = dict(responses) if isinstance(responses, Mapping) else {}
    is_allowed = step == "allowed" or (step == "asked" and allows(answers.pop(_NAME, None)))
    params.update(requestState=theirs or None, inputResponses=answers or None)
    return key if is_allowed else REFUSED


def carried(key: str, state: object) -> str:
    """The state of a tool that asks something itself, with what a person allowed, so that nobody is asked twice about one call."""
    return f"{_NAME}:allowed:{key}:{state if isinstance(state, str) else ''}"


def can_elicit(session: ServerSession) -> bool:
    """Returns `True` if the client says that it has somebody to ask."""
    return session.check_client_capability(types.ClientCapabilities(elicitation=types.ElicitationCapability()))
