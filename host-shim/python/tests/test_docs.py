"""The first example of each page runs: a note is read, a key is not, and a note is written once a person allows it."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from adapting import Played

PAGES = Path(__file__).resolve().parent.parent / "docs"
BUNDLE = (PAGES.parent / "README.md").read_text().split("```json\n")[1].split("```")[0]


PROJECT = PAGES.parents[2] / "README.md"


def example(page: str | Path) -> str:
    return (PAGES / page).read_text().split("```python\n")[1].split("```")[0]


class Pages(unittest.TestCase):
    @contextlib.contextmanager
    def home(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"HOME": os.path.realpath(folder)}):
            home = Path(os.path.realpath(folder))
            for name, text in (("notes/a.md", "a note"), ("keys/k.pem", "a key"), ("gate/callgate.json", BUNDLE)):
                (home / name).parent.mkdir()
                (home / name).write_text(text)
            before = os.getcwd()
            os.chdir(home / "gate")
            try:
                yield home
            finally:
                os.chdir(before)

    def runs(self, page: str, names: Any, asks: bool = True) -> None:
        """Runs a page's example, with `names` beside it. A function gets the folder of notes, for arguments that must be canonical."""
        for answer in ("yes", "no"):
            with self.subTest(page=page, answer=answer), self.home() as home, contextlib.redirect_stdout(io.StringIO()) as printed:
                given = names(home) if callable(names) else names
                exec(compile(example(page), page, "exec"), {"input": lambda *_: answer, "__name__": "__main__", **given})
                text, written = printed.getvalue(), (home / "notes/b.md").exists()
                self.assertIn("a note", text)
                self.assertIn("deny by rule `keys`): keys are private", text)
                self.assertNotIn("a key", text)
                self.assertEqual(written, asks and answer == "yes", text)

    def calls(self, home: str = "~") -> list[Any]:
        return [
            ("read_note", {"path": f"{home}/notes/a.md"}),
            ("read_note", {"path": f"{home}/keys/k.pem"}),
            ("write_note", {"path": f"{home}/notes/b.md", "text": "hello"}),
        ]

    def test_the_project_s_page(self) -> None:
        tools = [{"toolName": "read_text_file", "args": {"path": "read-path"}}]
        bundle = {"policy": {"rules": []}, "annotations": {"servers": {"filesystem": {"tools": tools}}}, "protectedPaths": ["~/.ssh"]}
        with self.home() as home, contextlib.redirect_stdout(io.StringIO()) as printed:
            (home / "gate/callgate.json").write_text(json.dumps(bundle))
            exec(compile(example(PROJECT), "README.md", "exec"), {})
        self.assertEqual(printed.getvalue(), "deny structural-protected-path\n")

    def test_mcp(self) -> None:
        import test_mcp  # noqa: F401  Skips what is not installed, as below.

        self.runs("mcp.md", {}, asks=False)

    def test_fastmcp(self) -> None:
        import test_fastmcp  # noqa: F401

        self.runs("fastmcp.md", {}, asks=False)

    def test_langchain(self) -> None:
        from test_langchain import AIMessage, Model, turn

        self.runs("langchain.md", lambda _: {"model": Model(messages=iter([turn(self.calls()), AIMessage("end")]))})

    def test_openai_agents(self) -> None:
        from agents import set_tracing_disabled

        from test_openai_agents import Turns

        set_tracing_disabled(True)
        self.runs("openai-agents.md", lambda home: {"model": Turns(self.calls(str(home)))})

    def test_pydantic_ai(self) -> None:
        from test_pydantic_ai import model

        self.runs("pydantic-ai.md", lambda _: {"model": model(self.calls())})

    def test_claude(self) -> None:
        import claude_agent_sdk

        from test_claude import Command

        for answer in ("yes", "no"):
            played = Played()
            calls = [(f"mcp__notes__{name}", given) for name, given in self.calls()]
            client = functools.partial(claude_agent_sdk.ClaudeSDKClient, transport=Command(played, calls, hooked=True))
            with self.home() as home, contextlib.redirect_stdout(io.StringIO()), mock.patch.object(claude_agent_sdk, "ClaudeSDKClient", client):
                exec(compile(example("claude.md"), "claude.md", "exec"), {"input": lambda _: answer, "__name__": "__main__"})
            written = ("write_note", {"path": f"{home}/notes/b.md", "text": "hello"})
            self.assertEqual(played.ran, [("read_note", {"path": f"{home}/notes/a.md"}), *([written] if answer == "yes" else [])])
            self.assertIn("keys are private", played.seen[1])

    def test_google_adk(self) -> None:
        from test_google_adk import Turns

        self.runs("google-adk.md", lambda _: {"model": Turns(model="turns", calls=self.calls())})

    def test_agent_framework(self) -> None:
        from test_agent_framework import Turns

        self.runs("agent-framework.md", lambda _: {"client": Turns(self.calls())})

    def test_every_page_is_here(self) -> None:
        tested = {name.removeprefix("test_").replace("_", "-") for name in dir(self) if name.startswith("test_")}
        pages = {page.stem for page in PAGES.glob("*.md")}
        for page in PAGES.glob("*.md"):
            self.assertIn("[`callgate.json`](../README.md)", page.read_text(), page)
        self.assertEqual(pages - tested, set())
        adapters = {path.stem.replace("_", "-") for path in PAGES.parent.glob("python/callgate/[!_]*.py")}
        self.assertEqual(adapters - pages, set())


if __name__ == "__main__":
    unittest.main()
