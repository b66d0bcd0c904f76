"""What every adapter is held to: one set of tests, which each framework plays in its own way."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from callgate import Gate, virtual_host

ANNOTATIONS = {"servers": {"notes": {"tools": [
    {"toolName": "read", "args": {"path": "read-path"}},
    {"toolName": "write", "args": {"path": "write-path", "text": "none"}},
]}}}
POLICY = {"rules": [
    {"name": "keys", "if": {"paths": {"roles": "read-path", "within": "~/keys"}}, "then": "deny", "reason": "keys are private"},
    {"name": "reading", "if": {"paths": {"roles": "read-path", "within": "~/notes"}}, "then": "allow", "reason": "notes are open"},
    {"name": "writing", "if": {"paths": {"roles": "write-path", "within": "~/notes"}}, "then": "escalate",
     "reason": "a person decides what is written"},
]}
READ = ("read", {"path": "~/notes/a.md"})
READ_AS_JUDGED = ("read", {"path": "/home/u/notes/a.md"})
KEYS = ("read", {"path": "/home/u/keys/k.pem"})
WRITE = ("write", {"path": "~/notes/b.md", "text": "hello"})
WRITE_AS_JUDGED = ("write", {"path": "/home/u/notes/b.md", "text": "hello"})
ADDED = ("added", {"path": "/home/u/notes/a.md"})

Call = tuple[str, dict[str, Any]]


def needs(*distributions: str) -> None:
    """Skips a module of tests whose framework is not installed; under CI that is a failure. Prints the versions."""
    for name in distributions:
        try:
            print(f"# {name} {importlib.metadata.version(name)}", file=sys.stderr)
        except importlib.metadata.PackageNotFoundError as error:
            if os.environ.get("CI") == "true":
                raise
            raise unittest.SkipTest(f"{name} is not installed") from error


def gate(home: str = "/home/u", annotations: Any = ANNOTATIONS) -> Any:
    files = [f"{home}/notes/a.md", f"{home}/notes/b.md", f"{home}/keys/k.pem"]
    machine = {"home": home, "cwd": home, "fs": {"dirs": [f"{home}/notes", f"{home}/keys"], "files": files, "links": {}}}
    return Gate(policy=POLICY, annotations=annotations, host=virtual_host(machine))


class Failing:
    """A gate that fails in one way or another."""

    def __init__(self, how: Callable[[], Any]) -> None:
        self.how = how

    def gate(self, *_: Any, **__: Any) -> Any:
        return self.how()


class Moving:
    """A gate whose machine changes once somebody is asked: the same call is another one then."""

    def __init__(self) -> None:
        self.now = gate()

    def move(self) -> None:
        self.now = gate("/home/v")

    def gate(self, *args: Any, **options: Any) -> Any:
        return self.now.gate(*args, **options)


def raises(error: BaseException) -> Any:
    raise error


@dataclass
class Played:
    ran: list[Call] = field(default_factory=list)
    """The tools that ran, and with what."""
    seen: list[str] = field(default_factory=list)
    """What the model saw of each call."""


class Tests:
    """Inherit this before `TestCase`, and say how to play calls that a model makes in one turn."""

    rewrites = True
    """Whether the framework lets arguments be changed."""
    asks_again = True
    """Whether a call is judged as the model made it after a person was asked, and not as it was judged before."""

    def play(self, gate: Any, calls: list[Call], answer: Callable[[], bool]) -> Played:
        raise NotImplementedError

    def run_calls(self: Any, calls: list[Call], answer: Any = None, by: Any = None) -> Played:
        def nobody() -> bool:
            self.fail("somebody was asked")

        played: Played = self.play(by or gate(), calls, answer or nobody)
        self.assertEqual(len(played.seen), len(calls), played)
        return played

    def test_an_allowed_call_gets_what_was_judged(self: Any) -> None:
        played = self.run_calls([READ])
        if self.rewrites:
            self.assertEqual(played.ran, [READ_AS_JUDGED])
            return
        self.assertEqual(played.ran, [])
        self.assertIn("`path` must be given in canonical form", played.seen[0])
        self.assertNotIn("/home/u", played.seen[0])

    def test_an_allowed_call_that_is_canonical_runs(self: Any) -> None:
        played = self.run_calls([READ_AS_JUDGED])
        self.assertEqual(played.ran, [READ_AS_JUDGED])
        self.assertIn("done: read", played.seen[0])

    def test_a_denial_is_what_the_model_reads(self: Any) -> None:
        played = self.run_calls([KEYS])
        self.assertEqual(played.ran, [])
        self.assertIn("deny by rule `keys`): keys are private", played.seen[0])

    def test_a_tool_that_is_added_later_is_denied(self: Any) -> None:
        played = self.run_calls([ADDED])
        self.assertEqual(played.ran, [])
        self.assertIn("Unknown tool: notes/added", played.seen[0])

    def test_what_a_person_allows_runs(self: Any) -> None:
        for call in (WRITE, WRITE_AS_JUDGED) if self.rewrites else (WRITE_AS_JUDGED,):
            asked: list[bool] = []
            played = self.run_calls([call], lambda asked=asked: asked.append(True) or True)
            self.assertEqual(played.ran, [WRITE_AS_JUDGED])
            self.assertEqual(len(asked), 1)

    def test_what_a_person_refuses_does_not_run(self: Any) -> None:
        for call in (WRITE, WRITE_AS_JUDGED):
            self.assertEqual(self.run_calls([call], lambda: False).ran, [])

    def test_a_call_that_changes_while_a_person_thinks_is_asked_again(self: Any) -> None:
        moving, asked = Moving(), []

        def answer() -> bool:
            asked.append(True)
            moving.move()
            return True

        played = self.run_calls([WRITE if self.rewrites else WRITE_AS_JUDGED], answer, moving)
        if self.rewrites and self.asks_again:
            self.assertEqual(played.ran, [("write", {"path": "/home/v/notes/b.md", "text": "hello"})])
            self.assertEqual(len(asked), 2)
        else:
            self.assertEqual(played.ran, [])

    def test_a_gate_that_fails_lets_nothing_through(self: Any) -> None:
        class Panic(BaseException):
            pass

        for how in (
            lambda: raises(RuntimeError("not for the model: /etc/shadow")),
            lambda: raises(TimeoutError()),
            lambda: raises(Panic()),
            lambda: None,
            lambda: True,
            lambda: {"decision": "allow"},
        ):
            with self.subTest(how=how), self.assertLogs("callgate", "WARNING"):
                played = self.run_calls([READ_AS_JUDGED, WRITE_AS_JUDGED], by=Failing(how))
                self.assertEqual(played.ran, [])
                for seen in played.seen:
                    self.assertIn("The gate failed", seen)
                    self.assertNotIn("/etc/shadow", seen)

    def test_calls_in_parallel_are_judged_each_for_itself(self: Any) -> None:
        played = self.run_calls([READ_AS_JUDGED, KEYS, WRITE_AS_JUDGED, ADDED], lambda: True)
        self.assertEqual({name for name, _ in played.ran}, {"read", "write"})
        self.assertIn("done: read", played.seen[0])
        self.assertIn("keys are private", played.seen[1])
        self.assertIn("done: write", played.seen[2])
        self.assertIn("Unknown tool", played.seen[3])
