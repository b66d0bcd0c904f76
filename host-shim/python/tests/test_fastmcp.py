"""FastMCP, in memory, in both protocols; a mounted server, and a tool that calls another."""

from __future__ import annotations

import asyncio
import unittest
from typing import Annotated, Any

from adapting import KEYS, READ, READ_AS_JUDGED, WRITE, Played, Tests, gate, needs

needs("fastmcp")

from fastmcp import Client, Context, FastMCP
from fastmcp.client.elicitation import ElicitResult
from fastmcp.server.transforms import ToolTransform
from fastmcp.tools import Tool
from fastmcp.tools.tool_transform import ArgTransform, ArgTransformConfig, ToolTransformConfig
from pydantic import AliasChoices, Field

from callgate.fastmcp import CallgateMiddleware


def server(played: Played, middleware: list[Any]) -> FastMCP:
    made: FastMCP = FastMCP("notes", middleware=middleware)

    @made.tool
    def read(path: str) -> str:
        played.ran.append(("read", {"path": path}))
        return "done: read"

    @made.tool
    def write(path: str, text: str) -> str:
        played.ran.append(("write", {"path": path, "text": text}))
        return "done: write"

    @made.tool
    def added(path: str) -> str:
        played.ran.append(("added", {"path": path}))
        return "done: added"

    return made


def text(result: Any) -> str:
    return "".join(part.text for part in result.content)


class Modern(Tests, unittest.TestCase):
    mode = "auto"

    def client(self, made: FastMCP, **options: Any) -> Any:
        return Client(made, mode=self.mode, **options)  # type: ignore[arg-type]

    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played = Played()

        async def elicited(message: str, *_: Any) -> Any:
            self.assertIn("a person decides what is written", message)
            return ElicitResult(action="accept", content={"allow": True}) if answer() else ElicitResult(action="decline")

        async def run() -> None:
            async with self.client(server(played, [CallgateMiddleware(gate, "notes")]), elicitation_handler=elicited) as client:
                made = (client.call_tool(name, arguments, raise_on_error=False) for name, arguments in calls)
                played.seen += [text(result) for result in await asyncio.gather(*made)]

        asyncio.run(run())
        return played

    def test_a_client_that_cannot_ask(self) -> None:
        played = Played()

        async def run() -> str:
            async with self.client(server(played, [CallgateMiddleware(gate(), "notes")])) as client:
                return text(await client.call_tool(*WRITE, raise_on_error=False))

        self.assertIn("a person decides what is written", asyncio.run(run()))
        self.assertEqual(played.ran, [])


    def test_the_answer_is_not_that_of_the_tool_s_own_question(self) -> None:
        read: list[Any] = []
        made: FastMCP = FastMCP("notes", middleware=[CallgateMiddleware(gate(), "notes")])

        @made.tool
        def write(path: str, text: str, ctx: Context) -> str:
            read.append((ctx.input_responses, ctx.request_state))
            return "done: write"

        async def elicited(*_: Any) -> Any:
            return ElicitResult(action="accept", content={"allow": True})

        async def run() -> str:
            async with self.client(made, elicitation_handler=elicited) as client:
                return text(await client.call_tool(*WRITE, raise_on_error=False))

        self.assertEqual(asyncio.run(run()), "done: write")
        self.assertEqual(read, [(None, None)])


class Legacy(Modern):
    mode = "legacy"


class Composed(unittest.TestCase):
    def called(self, made: FastMCP, *calls: Any) -> list[str]:
        async def run() -> list[str]:
            async with Client(made) as client:
                return [text(await client.call_tool(name, arguments, raise_on_error=False)) for name, arguments in calls]

        return asyncio.run(run())

    def test_a_mounted_server_has_its_prefix(self) -> None:
        played = Played()
        parent: FastMCP = FastMCP("all", middleware=[CallgateMiddleware(gate(), lambda name: {"notes_read": ("notes", "read"), "notes_added": ("notes", "added")}[name])])
        parent.mount(server(played, []), namespace="notes")
        seen = self.called(parent, ("notes_read", READ[1]), ("notes_read", KEYS[1]), ("notes_added", {"path": "x"}), ("read", READ[1]))
        self.assertEqual(played.ran, [READ_AS_JUDGED])
        self.assertIn("keys are private", seen[1])
        self.assertIn("Unknown tool", seen[2])
        self.assertIn("The gate failed", seen[3])

    def test_a_tool_that_calls_another_is_judged_again(self) -> None:
        played = Played()
        made = server(played, [CallgateMiddleware(gate(), "notes")])

        @made.tool(name="write")
        async def outer(path: str, text: str, ctx: Context) -> str:
            return str(await ctx.fastmcp.call_tool("read", {"path": path}))

        async def elicited(*_: Any) -> Any:
            return ElicitResult(action="accept", content={"allow": True})

        async def run() -> Any:
            async with Client(made, elicitation_handler=elicited) as client:
                return await client.call_tool(*WRITE, raise_on_error=False)

        asyncio.run(run())
        self.assertEqual(played.ran, [("read", {"path": "/home/u/notes/b.md"})])

    def test_an_argument_that_the_schema_does_not_tell_is_denied(self) -> None:
        ran: list[str] = []
        made: FastMCP = FastMCP("notes", middleware=[CallgateMiddleware(gate(), "notes")])

        @made.tool
        def read(path: Annotated[str, Field(validation_alias=AliasChoices("path", "file"))]) -> str:
            ran.append(path)
            return "done: read"

        seen = self.called(made, ("read", {**READ[1], "file": KEYS[1]["path"]}), READ)
        self.assertEqual(ran, [READ_AS_JUDGED[1]["path"]])
        self.assertIn("The tool's schema names no `file`", seen[0])

    def test_a_tool_that_was_made_of_another_is_not_that_one(self) -> None:
        renamed: Any = {"path": ArgTransform(name="file")}
        there = ("read", {**READ[1], "file": KEYS[1]["path"]})

        renaming: Any = {"path": ArgTransformConfig(name="file")}
        hiding: Any = {"text": ArgTransformConfig(hide=True, default="x")}
        transforms: list[tuple[dict[str, Any], Any, str]] = [
            ({"read": ToolTransformConfig(name="peek")}, ("peek", READ[1]), "Unknown tool: notes/peek"),
            ({"read": ToolTransformConfig(arguments=renaming)}, there, "its annotation names no `file`"),
            ({"read": ToolTransformConfig(name="a"), "write": ToolTransformConfig(name="read", arguments=hiding)}, READ, "`read` is made of `write`"),
        ]
        for transform, call, message in transforms:
            for is_mounted in (False, True):
                with self.subTest(message=message, is_mounted=is_mounted):
                    middleware = [CallgateMiddleware(gate(), "notes")]
                    made = server(played := Played(), [] if is_mounted else middleware)
                    made.add_transform(ToolTransform(transform))
                    if is_mounted:
                        inner, made = made, FastMCP("all", middleware=middleware)
                        made.mount(inner)
                    self.assertIn(message, self.called(made, call)[0])
                    self.assertEqual(played.ran, [])
        made = FastMCP("notes", middleware=[CallgateMiddleware(gate(), "notes")])
        of = asyncio.run(server(played := Played(), []).get_tool("read"))
        made.add_tool(Tool.from_tool(of, transform_args=renamed))  # type: ignore[arg-type]
        self.assertIn("its annotation names no `file`", self.called(made, there)[0])
        self.assertEqual(played.ran, [])

    def test_a_tool_that_was_made_of_another_is_judged_as_it_is_annotated(self) -> None:
        annotations = {"servers": {"notes": {"tools": [{"toolName": "peek", "args": {"file": "read-path"}}]}}}
        made = server(played := Played(), [CallgateMiddleware(gate(annotations=annotations), "notes")])
        made.add_transform(ToolTransform({"read": ToolTransformConfig(name="peek", arguments={"path": ArgTransformConfig(name="file")})}))
        seen = self.called(made, *(("peek", {"file": call[1]["path"]}) for call in (READ, KEYS)))
        self.assertEqual(played.ran, [READ_AS_JUDGED], seen)

    def test_what_is_no_call_is_denied(self) -> None:
        async def called(_: Any) -> Any:
            self.fail("the tool ran")

        for name, arguments in ((None, {}), ("", {}), (7, {}), ("read", [])):
            message: Any = type("Message", (), {"name": name, "arguments": arguments})
            context: Any = type("Context", (), {"message": message, "fastmcp_context": None})
            with self.subTest(name=name, arguments=arguments):
                result = asyncio.run(CallgateMiddleware(gate(), "notes").on_call_tool(context, called))
                self.assertTrue(result.is_error)


if __name__ == "__main__":
    unittest.main()
