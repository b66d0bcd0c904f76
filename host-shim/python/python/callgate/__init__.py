"""Callgate: a policy decision point for the tool calls of AI agents.

    from callgate import Gate

    gate = Gate.from_bundle("callgate.json")
    response = gate.gate("filesystem", "read_text_file", {"path": "notes.md"})
    if response.is_allowed:
        send(response.arguments)  # what was judged, in place of what was given

A call is allowed, escalated (a person must decide) or denied. The same calls get the same verdicts from every host of the engine.
"""

from typing import TYPE_CHECKING

from ._engine import (
    Approvals,
    BuiltinHost,
    CallError,
    CallgateError,
    DocumentError,
    Gate,
    HostError,
    References,
    Response,
    Verdict,
    __version__,
    check,
    diff,
    lint,
    map,
    propose_annotations,
    real_host,
    recorded_host,
    virtual_host,
)
from ._host import Host

if TYPE_CHECKING:
    from ._engine import Decision as Decision, Diagnostic as Diagnostic

__all__ = [
    "Approvals",
    "BuiltinHost",
    "CallError",
    "CallgateError",
    "DocumentError",
    "Gate",
    "Host",
    "HostError",
    "References",
    "Response",
    "Verdict",
    "__version__",
    "check",
    "diff",
    "lint",
    "map",
    "propose_annotations",
    "real_host",
    "recorded_host",
    "virtual_host",
]
