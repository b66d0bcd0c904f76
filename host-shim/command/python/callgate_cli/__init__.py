"""The command of Callgate, a policy decision point for the tool calls of AI agents."""

from ._find import find_callgate

__all__ = ["find_callgate"]
