"""The official SDK of MCP, in memory, in both of its protocols."""

from __future__ import annotations

import asyncio
import unittest
from typing import Annotated, Any

from adapting import KEYS, READ, READ_AS_JUDGED, WRITE, WRITE_AS_JUDGED, Played, Tests, gate, needs

needs("mcp")

from mcp import MCPError, types
from mcp.client import Client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND
from pydantic import AliasChoices, Field

from callgate.mcp import CallgateMiddleware, GatedSession


def server(played: Played, middleware: list[Any]) -> MCPServer:
    made = MCPServer("notes", middleware=middleware)

    @made.tool()
    def read(path: str) -> str:
        played.ran.append(("read", {"path": path}))
        return "done: read"

    @made.tool()
    def write(path: str, text: str) -> str:
        played.ran.append(("write", {"path": path, "text": text}))
        return "done: write"

    @made.tool()
    def added(path: str) -> str:
        played.ran.append(("added", {"path": path}))
        return "done: added"

    return made


def text(result: Any) -> str:
    return "".join(part.text for part in result.content)


class Modern(Tests, unittest.TestCase):
    mode = "auto"

    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played = Played()

        async def elicited(_: Any, params: Any) -> types.ElicitResult:
            self.assertIn("a person decides what is written", params.message)
            return types.ElicitResult(action="accept", content={"allow": True}) if answer() else types.ElicitResult(action="decline")

        async def run() -> None:
            made = server(played, [CallgateMiddleware(gate, "notes")])
            async with Client(made, mode=self.mode, elicitation_callback=elicited) as client:  # type: ignore[arg-type]
                results = await asyncio.gather(*(client.call_tool(name, arguments) for name, arguments in calls))
                played.seen += [text(result) for result in results]

        asyncio.run(run())
        return played

    def test_a_client_that_cannot_ask(self) -> None:
        played = Played()

        async def run() -> str:
            async with Client(server(played, [CallgateMiddleware(gate(), "notes")]), mode=self.mode) as client:  # type: ignore[arg-type]
                return text(await client.call_tool(*WRITE))

        self.assertIn("a person decides what is written", asyncio.run(run()))
        self.assertEqual(played.ran, [])

    def test_an_argument_that_the_schema_does_not_tell_is_denied(self) -> None:
        ran: list[str] = []
        made = MCPServer("notes", middleware=[CallgateMiddleware(gate(), "notes")])

        @made.tool()
        def read(path: Annotated[str, Field(validation_alias=AliasChoices("path", "file"))]) -> str:
            ran.append(path)
            return "done: read"

        async def run() -> list[str]:
            async with Client(made, mode=self.mode) as client:  # type: ignore[arg-type]
                calls = (READ, ("read", {**READ[1], "file": KEYS[1]["path"]}))
                return [text(await client.call_tool(*call)) for call in calls]

        seen = asyncio.run(run())
        self.assertEqual(ran, [READ_AS_JUDGED[1]["path"]], seen)
        self.assertIn("The tool's schema names no `file`", seen[1])

    def test_a_tool_is_found_on_a_later_page(self) -> None:
        async def called(_: Any, params: Any) -> types.CallToolResult:
            return types.CallToolResult(content=[types.TextContent(type="text", text=f"done: {params.name}")])

        async def listed(_: Any, params: Any) -> types.ListToolsResult:
            page = int(params.cursor or 0) if params else 0
            properties = {"path": {"type": "string"}}
            tool = types.Tool(name=("other", "read")[page], input_schema={"type": "object", "properties": properties})
            return types.ListToolsResult(tools=[tool], next_cursor=None if page else "1")

        async def run() -> list[str]:
            made: Any = Server("notes", on_call_tool=called, on_list_tools=listed)
            made.middleware.append(CallgateMiddleware(gate(), "notes"))
            async with Client(made, mode=self.mode) as client:  # type: ignore[arg-type]
                calls = (READ, ("read", {**READ[1], "file": KEYS[1]["path"]}))
                return [text(await client.call_tool(*call)) for call in calls]

        seen = asyncio.run(run())
        self.assertEqual(seen[0], "done: read")
        self.assertIn("The tool's schema names no `file`", seen[1])

    def test_answers_that_cannot_be_read(self) -> None:
        for content in ({"allow": "yes"}, {"allow": 1}, {}, None, {"Allow": True}):
            played = Played()

            async def elicited(_: Any, __: Any, content: Any = content) -> types.ElicitResult:
                return types.ElicitResult(action="accept", content=content)

            async def run(played: Played = played, elicited: Any = elicited) -> None:
                made = server(played, [CallgateMiddleware(gate(), "notes")])
                async with Client(made, mode=self.mode, elicitation_callback=elicited) as client:  # type: ignore[arg-type]
                    self.assertTrue((await client.call_tool(*WRITE)).is_error)

            with self.subTest(content=content):
                asyncio.run(run())
                self.assertEqual(played.ran, [])


class Legacy(Modern):
    mode = "legacy"


class Direct(unittest.TestCase):
    """The middleware without a transport, which would refuse some of these itself."""

    def test_what_is_no_call_is_denied(self) -> None:
        async def called(_: Any) -> Any:
            self.fail("the tool ran")

        async def run(params: Any) -> Any:
            ctx: Any = type("Ctx", (), {"method": "tools/call", "params": params, "protocol_version": "2025-11-25"})
            return await CallgateMiddleware(gate(), "notes")(ctx, called)

        for params in (None, {}, {"name": None}, {"name": ""}, {"name": 7}, {"name": "read", "arguments": []},
                       {"name": "read", "arguments": "x"}, {"name": "read", "arguments": {"path": float("nan")}}):
            with self.subTest(params=params):
                self.assertTrue(asyncio.run(run(params)).is_error)

    def test_a_server_without_a_list_is_judged_by_annotations_and_one_whose_list_fails_is_not_called(self) -> None:
        params = {"name": "read", "arguments": READ[1]}
        ctx: Any = ServerRequestContext(session=None, lifespan_context={}, protocol_version="2025-11-25", method="tools/call", params=params)  # type: ignore[arg-type]
        for code in (METHOD_NOT_FOUND, INTERNAL_ERROR):
            ran: list[Any] = []

            async def called(ctx: Any, code: int = code, ran: list[Any] = ran) -> Any:
                if ctx.method == "tools/list":
                    raise MCPError(code, "no list")
                ran.append(ctx.params["arguments"])

            with self.subTest(code=code):
                if code == METHOD_NOT_FOUND:
                    asyncio.run(CallgateMiddleware(gate(), "notes")(ctx, called))
                else:
                    self.assertRaises(MCPError, asyncio.run, CallgateMiddleware(gate(), "notes")(ctx, called))
                self.assertEqual(ran, [READ_AS_JUDGED[1]] if code == METHOD_NOT_FOUND else [])

    def test_a_tool_that_asks_itself_is_approved_once(self) -> None:
        played, asked = Played(), []
        made = MCPServer("notes", middleware=[CallgateMiddleware(gate(), "notes")])

        @made.tool()
        async def write(path: str, text: str, ctx: Context) -> str | types.InputRequiredResult:
            if not ctx.input_responses:
                request = types.ElicitRequest(params=types.ElicitRequestFormParams(message="how?", requested_schema={
                    "type": "object", "properties": {"how": {"type": "string"}}}))
                return types.InputRequiredResult(input_requests={"how": request}, request_state="of the tool")
            played.ran.append(("write", {"path": path, "state": ctx.request_state, "answers": sorted(ctx.input_responses)}))
            return "done: write"

        async def elicited(_: Any, params: Any) -> types.ElicitResult:
            asked.append(params.message)
            return types.ElicitResult(action="accept", content={"allow": True} if "Allow" in params.message else {"how": "so"})

        async def run() -> str:
            async with Client(made, elicitation_callback=elicited) as client:
                return text(await client.call_tool(*WRITE))

        self.assertEqual(asyncio.run(run()), "done: write")
        self.assertEqual(played.ran, [("write", {"path": "/home/u/notes/b.md", "state": "of the tool", "answers": ["how"]})])
        self.assertEqual(len(asked), 2)


class InFrontOfAClient(Tests, unittest.TestCase):
    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played = Played()

        async def ask(judged: Any) -> bool:
            self.assertEqual(judged.reason, "a person decides what is written")
            return bool(answer())

        async def run() -> None:
            async with Client(server(played, [])) as client:
                session = GatedSession(client, gate, "notes", ask=ask)
                self.assertEqual(len((await session.list_tools()).tools), 3)
                results = await asyncio.gather(*(session.call_tool(name, arguments) for name, arguments in calls))
                played.seen += [text(result) for result in results]

        asyncio.run(run())
        return played

    def test_a_person_who_cannot_be_asked(self) -> None:
        async def late(_: Any) -> bool:
            raise TimeoutError

        async def truthy(_: Any) -> Any:
            return "yes"

        for ask in (None, late, truthy):
            played = Played()

            async def run(played: Played = played, ask: Any = ask) -> Any:
                async with Client(server(played, [])) as client:
                    session = GatedSession(client, gate(), "notes", ask=ask)
                    return [await session.call_tool(*call) for call in (WRITE, KEYS, READ, ("", {}))]

            with self.subTest(ask=ask):
                results = asyncio.run(run())
                self.assertEqual([result.is_error for result in results], [True, True, False, True])
                self.assertEqual(played.ran, [READ_AS_JUDGED])


if __name__ == "__main__":
    unittest.main()
