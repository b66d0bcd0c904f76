"""Microsoft's Agent Framework with a chat client of its own."""

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any

from adapting import KEYS, WRITE, WRITE_AS_JUDGED, Played, Tests, gate, needs

needs("agent-framework-core")

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, tool

from callgate.agent_framework import CallgateMiddleware


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
                answers = [asked.to_function_approval_response(answer()) for asked in response.user_input_requests]
                response = await agent.run([Message("user", answers)], session=session)

        asyncio.run(run())
        played.seen = [results[call] for call in sorted(results)]
        return played


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

        function: Any = type("Function", (), {"name": "write"})
        for approved, arguments in ((True, WRITE[1]), (False, WRITE_AS_JUDGED[1]), ("yes", WRITE_AS_JUDGED[1]), (None, WRITE_AS_JUDGED[1])):
            response: Any = type("Response", (), {"approved": approved})
            metadata = {"approval_response": response, "call_id": "1"}
            context: Any = type("Context", (), {"function": function, "arguments": arguments, "metadata": metadata, "result": None})
            with self.subTest(approved=approved):
                asyncio.run(CallgateMiddleware(gate(), "notes").process(context, called))
                self.assertEqual(context.result.type, "function_approval_request")
                self.assertEqual(context.result.function_call.arguments, WRITE_AS_JUDGED[1])


if __name__ == "__main__":
    unittest.main()
