"""Microsoft's Agent Framework with a chat client of its own."""

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any

from adapting import ANNOTATIONS, KEYS, WRITE, WRITE_AS_JUDGED, Played, Tests, gate, needs

needs("agent-framework-core")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    ToolApprovalMiddleware,
    create_always_approve_tool_response,
    tool,
)
from pydantic import BaseModel, Field

from callgate import Gate
from callgate.agent_framework import CallgateMiddleware, approve


class Turns(FunctionInvocationLayer, BaseChatClient):  # type: ignore[type-arg,misc]
    """A client that makes its calls in one turn, and then ends."""

    def __init__(self, calls: Any) -> None:
        super().__init__()
        self.calls = calls

    def _inner_get_response(self, **_: Any) -> Any:
        async def respond() -> ChatResponse:
            calls, self.calls = self.calls, []
            made = [Content.from_function_call(call_id=str(at), name=name, arguments=json.dumps(arguments), id=str(at))
                    for at, (name, arguments) in enumerate(calls)]
            return ChatResponse(messages=[Message("assistant", made or [Content.from_text("end")])])

        return respond()


def tools(played: Played) -> list[Any]:
    @tool
    def read(path: str) -> str:
        """Reads."""
        played.ran.append(("read", {"path": path}))
        return "done: read"

    @tool
    def write(path: str, text: str) -> str:
        """Writes."""
        played.ran.append(("write", {"path": path, "text": text}))
        return "done: write"

    @tool
    def added(path: str) -> str:
        """Is not annotated."""
        played.ran.append(("added", {"path": path}))
        return "done: added"

    return [read, write, added]


class Agents(Tests, unittest.TestCase):
    asks_again = False

    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played, results = Played(), {}

        async def run() -> None:
            agent = Agent(client=Turns(calls), tools=tools(played), middleware=[CallgateMiddleware(gate, "notes")])
            session = agent.create_session()
            response = await agent.run("go", session=session)
            while True:
                for message in response.messages:
                    for content in message.contents:
                        if content.type == "function_result":
                            results[content.call_id] = str(content.result)
                if not response.user_input_requests:
                    break
                answers = [approve(asked) if answer() else asked.to_function_approval_response(False) for asked in response.user_input_requests]
                response = await agent.run([Message("user", answers)], session=session)

        asyncio.run(run())
        played.seen = [results[call] for call in sorted(results)]
        return played


class Named(BaseModel):
    model_config = {"populate_by_name": True}
    file: str = Field(alias="path")


class Direct(unittest.TestCase):
    def test_what_is_no_call_is_denied(self) -> None:
        async def called() -> None:
            self.fail("the tool ran")

        for name, arguments in ((None, {}), ("", {}), (7, {}), ("read", []), KEYS):
            function: Any = type("Function", (), {"name": name})
            context: Any = type("Context", (), {"function": function, "arguments": arguments, "metadata": {}, "result": None})
            with self.subTest(name=name):
                asyncio.run(CallgateMiddleware(gate(), "notes").process(context, called))
                self.assertIn("Callgate did not let this call through", context.result)

    def test_an_approval_of_another_call_is_none(self) -> None:
        """What a person saw are the arguments that were judged then: where others are judged now, they are asked again."""

        async def called() -> None:
            self.fail("the tool ran")

        function: Any = type("Function", (), {"name": "write", "parameters": lambda: {}})
        for approved, key, arguments in ((True, "another", WRITE[1]), (True, None, WRITE_AS_JUDGED[1]), (False, None, WRITE_AS_JUDGED[1]),
                                         ("yes", None, WRITE_AS_JUDGED[1]), (None, None, WRITE_AS_JUDGED[1])):
            response: Any = type("Response", (), {"approved": approved, "additional_properties": {"callgate_approved": key}})
            metadata = {"approval_response": response, "call_id": "1"}
            context: Any = type("Context", (), {"function": function, "arguments": arguments, "metadata": metadata, "result": None})
            with self.subTest(approved=approved):
                asyncio.run(CallgateMiddleware(gate(), "notes").process(context, called))
                self.assertEqual(context.result.type, "function_approval_request")
                self.assertEqual(context.result.function_call.arguments, WRITE_AS_JUDGED[1])

    def test_an_automatic_approval_is_none(self) -> None:
        """Neither a rule, nor a tool that is approved for good, nor a plain approval says that a person saw the call."""

        async def run(mode: Any, rules: Any, answer: Any) -> Played:
            played = Played()

            @tool(approval_mode=mode)
            def write(path: str, text: str) -> str:
                """Writes."""
                played.ran.append(("write", {"path": path, "text": text}))
                return "done: write"

            client = Turns([WRITE_AS_JUDGED])
            middleware = [CallgateMiddleware(gate(), "notes"), ToolApprovalMiddleware(auto_approval_rules=rules)]
            agent = Agent(client=client, tools=[write], middleware=middleware)
            session = agent.create_session()
            for _ in range(2):
                response = await agent.run("go", session=session)
                while requests := response.user_input_requests:
                    response = await agent.run([Message("user", [answer(asked) for asked in requests])], session=session)
                client.calls = [("write", {**WRITE_AS_JUDGED[1], "text": "later"})]
            return played

        for mode in ("always_require", "never_require"):
            for rules, answer in (
                ([lambda _: True], None),
                (None, create_always_approve_tool_response),
                (None, lambda asked: asked.to_function_approval_response(True)),
            ):
                with self.subTest(mode=mode, rules=rules):
                    self.assertEqual(asyncio.run(run(mode, rules, answer)).ran, [])
            played = asyncio.run(run(mode, None, approve))
            self.assertEqual(played.ran, [WRITE_AS_JUDGED, ("write", {**WRITE_AS_JUDGED[1], "text": "later"})])

    def test_names_that_validation_made_are_denied(self) -> None:
        ran: list[Any] = []

        @tool(name="read", schema=Named)
        def read(**given: Any) -> str:
            """Reads."""
            ran.append(given)
            return "done: read"

        @tool(name="read")
        def nested(note: Named) -> str:
            """Reads."""
            ran.append(note)
            return "done: read"

        policy = {"rules": [{"name": "free", "if": {"tool": "read"}, "then": "allow", "reason": "reading is free"}]}

        async def run(made: Any, given: Any) -> Any:
            middleware = [CallgateMiddleware(Gate(policy=policy, annotations=ANNOTATIONS), "notes")]
            return await Agent(client=Turns([("read", given)]), tools=[made], middleware=middleware).run("go")

        for made, given in ((read, KEYS[1]), (nested, {"note": KEYS[1]}), (read, {"file": KEYS[1]["path"]})):
            with self.subTest(given=given):
                self.assertIn("The tool's schema names no `file`", str(asyncio.run(run(made, given)).to_dict()))
                self.assertEqual(ran, [])


if __name__ == "__main__":
    unittest.main()
