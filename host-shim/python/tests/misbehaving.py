"""A host in Python, whose `realpath` misbehaves as a case says. `tests/src/doubles/misbehaviour.rs` has the format."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

from callgate import BuiltinHost, HostError


class Misbehaving:
    """Hands everything but `realpath` to an honest host."""

    def __init__(self, honest: BuiltinHost, how: dict[str, Any], reenter: Callable[[dict[str, Any]], None]) -> None:
        self.honest = honest
        self.how = how
        self.reenter = reenter
        self.asked = 0
        self.is_inside = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.honest, name)

    def realpath(self, path: str) -> Any:
        if self.how.get("for", path) != path:
            return self.honest.realpath(path)
        match self.how["mode"]:
            case "throw":
                code = self.how.get("code")
                if code is not None:
                    raise OSError(getattr(errno, code), code)
                raise HostError("realpath threw")
            case "return":
                return self.how["value"]
            case "undefined":
                return None
            case "promise":
                return self.later(path)
            case "append":
                return self.honest.realpath(path) + self.how["value"]
            case "sequence":
                values = self.how["values"]
                self.asked += 1
                return values[min(self.asked, len(values)) - 1] if values else self.honest.realpath(path)
            case "reenter":
                if not self.is_inside:
                    self.is_inside = True
                    self.reenter(self.how["request"])
                    self.is_inside = False
                return self.honest.realpath(path)
        raise ValueError(f"unknown misbehaviour {self.how['mode']}")

    async def later(self, path: str) -> str:
        return self.honest.realpath(path)
