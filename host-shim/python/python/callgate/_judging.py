"""The way of a call from a framework to the gate: it is named and judged, and what came of it is said.

Nothing is decided here but by the gate. What goes wrong on the way, of whatever kind, is a denial that the model can read.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ._engine import Approvals, Gate
from ._schema import untold

if TYPE_CHECKING:
    from ._engine import Decision

Naming: TypeAlias = str | Callable[[str], tuple[str, str]]
"""The server of every tool, or a function from a framework's name of a tool to its server and its name there."""
Context: TypeAlias = Mapping[str, Any] | Callable[[], Mapping[str, Any] | None] | None
"""The host's facts about a call, or a function that gives them at each call."""

Schema: TypeAlias = Callable[[], Mapping[str, Any] | None]
"""Gives the JSON Schema of a tool's arguments as the model was told it, if there is one."""

Ask: TypeAlias = Callable[["Judged"], Awaitable[bool]]
"""Has a person decide about a call. Only `True` allows it."""

_log = logging.getLogger("callgate")
_UNANNOTATED = ". No annotation names this tool, so every call of it is denied: `callgate annotate` writes one."


class Unfit(Exception):
    """A tool is not the one that annotations describe, and why."""


@dataclass(frozen=True)
class Judged:
    """A call and what came of it. `arguments` are those that were judged, and the only ones to send."""

    decision: Decision
    rule: str
    reason: str
    server: str = ""
    tool: str = ""
    arguments: dict[str, Any] | None = None
    advice: str = ""

    @property
    def is_allowed(self) -> bool:
        return self.decision == "allow" and self.arguments is not None

    @property
    def must_ask(self) -> bool:
        return self.decision == "escalate"

    @property
    def key(self) -> str:
        """Names exactly what a person is asked about: the tool, the arguments that were judged, and the rule that asks."""
        text = json.dumps([self.server, self.tool, self.rule, self.arguments], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def message(self) -> str:
        """Why the call is not made, for the model."""
        known = _UNANNOTATED if self.rule == "structural-unknown-tool" else ""
        return f"Callgate did not let this call through ({self.decision} by rule `{self.rule}`): {self.reason}{known}{self.advice}"

    @property
    def question(self) -> str:
        """The question for a person, who sees what would be sent, and no letter that hides or turns others."""
        arguments = json.dumps(self.arguments, indent=2, ensure_ascii=False)
        text = f"Allow `{self.tool}` of `{self.server}`? {self.reason}\n{arguments}"
        return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)

    def refused(self, why: str = "nobody has allowed it") -> Judged:
        return replace(self, decision="deny", advice=f" ({why})")

    def as_given(self, given: object) -> Judged:
        """For a framework that cannot change arguments: a denial, unless the given ones are equal to those that were judged."""
        given = {} if given is None else given
        if self.decision == "deny" or same(given, self.arguments):
            return self
        given = given if isinstance(given, Mapping) else {}
        names = [name for name, value in (self.arguments or {}).items() if name not in given or not same(given[name], value)]
        listed = ", ".join(f"`{name}`" for name in sorted(names)) or "the arguments"
        reason = f"{listed} must be given in canonical form: absolute, without `~`, `.`, `..`, links or other spellings"
        return replace(self, decision="deny", rule="structural-unresolvable-value", reason=reason)


class Judging:
    """A gate, and how the calls of a framework become its calls."""

    def __init__(self, gate: Gate, server: Naming, *, approvals: Approvals | None = None, context: Context = None) -> None:
        self._gate = gate
        self._server = server
        self._approvals = approvals
        self._context = context

    def judge(self, name: object, arguments: object, *, approved: str | None = None, schema: Schema | None = None) -> Judged:
        """Judges a call. `approved` is the key of what a person allowed: a call that is another by now must be asked about again.

        With a `schema`, a call is denied where it has a name that the schema does not tell.
        """
        try:
            judged = self._judge(name, arguments)
            told = None if schema is None or judged.decision == "deny" else schema()
            other = None if told is None else untold(arguments, told)
            if other is not None:
                return _denied("structural-unreadable-argument", f"The tool's schema names no `{other}`")
            return replace(judged, decision="allow") if judged.must_ask and judged.key == approved else judged
        except Unfit as error:
            return _denied("structural-unpinned-tool", str(error))
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # A panic of the engine is no `Exception`.
            _log.warning("the gate failed, so the call is denied", exc_info=True)
            return _denied("structural-hook-fault", f"The gate failed ({type(error).__name__}), so nothing is allowed")

    async def settle(self, name: object, arguments: object, ask: Ask | None, *, schema: Schema | None = None) -> Judged:
        """Judges a call and has a person decide where that is needed, again for as long as the call is another afterwards."""
        judged = self.judge(name, arguments, schema=schema)
        while judged.must_ask:
            if ask is None:
                return judged.refused("nobody can be asked")
            try:
                answer = await ask(judged)
            except Exception as error:
                _log.warning("nobody could be asked, so the call is denied: %r", error)
                return judged.refused("nobody could be asked")
            if answer is not True:
                return judged.refused()
            judged = self.judge(name, arguments, approved=judged.key, schema=schema)
        return judged

    def made_of(self, name: str, arguments: object, origins: Sequence[str]) -> None:
        """Looks at a tool that was made of others. Raises `Unfit` where annotations describe another under its name."""
        server, tool = self.named(name)
        known = self._gate.argument_names(server, tool) or []
        other = next((key for key in arguments if key not in known), None) if isinstance(arguments, Mapping) else None
        if other is not None:
            raise Unfit(f"`{name}` is made of another tool, and its annotation names no `{other}`")
        for origin in origins:
            if origin not in (name, tool) and self._gate.argument_names(server, origin) is not None:
                raise Unfit(f"`{name}` is made of `{origin}`, which annotations describe as a tool of its own")

    def named(self, name: str) -> tuple[str, str]:
        return (self._server, name) if isinstance(self._server, str) else self._server(name)

    def _judge(self, name: object, arguments: object) -> Judged:
        if not isinstance(name, str) or not name:
            return _denied("structural-hook-fault", "The call names no tool")
        if arguments is not None and not isinstance(arguments, Mapping):
            return _denied("structural-unreadable-argument", "The arguments are not an object")
        server, tool = self.named(name)
        response = self._gate.gate(
            server,
            tool,
            None if arguments is None else dict(arguments),
            context=self._context() if callable(self._context) else self._context,
            approvals=self._approvals,
        )
        verdict = response.verdict
        judged = Judged(verdict.decision, verdict.rule, verdict.reason, server, tool, response.arguments)
        if judged.decision not in ("allow", "escalate", "deny"):
            raise TypeError("the gate's answer cannot be read")
        return judged


def _denied(rule: str, reason: str) -> Judged:
    return Judged("deny", rule, reason)


def same(one: object, other: object) -> bool:
    """Returns `True` if two JSON values are equal: `1`, `1.0` and `true` are three."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
