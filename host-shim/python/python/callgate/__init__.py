"""Callgate: a policy decision point for the tool calls of AI agents.

    from callgate import Gate

    gate = Gate.from_bundle("callgate.json")
    response = gate.gate("filesystem", "read_text_file", {"path": "notes.md"})
    if response.is_allowed:
        send(response.arguments)  # what was judged, in place of what was given

A call is allowed, escalated (a person must decide) or denied. The same calls get the same verdicts from every host of the engine.
"""

from ._engine import (
    Approvals,
    CallError,
    CallgateError,
    DocumentError,
    Gate,
    HostError,
    RealHost,
    RecordedHost,
    References,
    Response,
    Verdict,
    VirtualHost,
    check,
    diff,
    lint,
    map,
    propose_annotations,
)

__all__ = [
    "Approvals",
    "CallError",
    "CallgateError",
    "DocumentError",
    "Gate",
    "HostError",
    "RealHost",
    "RecordedHost",
    "References",
    "Response",
    "Verdict",
    "VirtualHost",
    "check",
    "diff",
    "lint",
    "map",
    "propose_annotations",
]
