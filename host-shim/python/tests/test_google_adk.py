"""Google's ADK with a model that is a class of its own, and its runner in memory."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from adapting import ADDED, KEYS, READ, READ_AS_JUDGED, WRITE, Played, Tests, gate, needs

needs("google-adk")

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from callgate.google_adk import CallgatePlugin

ASKS = "adk_request_confirmation"


class Turns(BaseLlm):
    """A model that makes its calls in one turn, and then ends."""

    calls: list[Any]

    async def generate_content_async(self, *_: Any, **__: Any) -> Any:
        calls, self.calls = self.calls, []
        made = [types.FunctionCall(name=name, args=arguments, id=str(at)) for at, (name, arguments) in enumerate(calls)]
        parts = [types.Part(function_call=call) for call in made] or [types.Part(text="end")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def tools(played: Played) -> list[Any]:
    def read(path: str) -> str:
        """Reads."""
        played.ran.append(("read", {"path": path}))
        return "done: read"

    def write(path: str, text: str) -> str:
        """Writes."""
        played.ran.append(("write", {"path": path, "text": text}))
        return "done: write"

    def added(path: str) -> str:
        """Is not annotated."""
        played.ran.append(("added", {"path": path}))
        return "done: added"

    return [read, write, added]


async def run(agent: Any, plugin: Any, confirm: Any) -> list[str]:
    """What the model saw of each call. `confirm` makes the answer to a question."""
    runner = InMemoryRunner(agent=agent, app_name="notes", plugins=[plugin])
    session = await runner.session_service.create_session(app_name="notes", user_id="u")
    message, seen = types.Content(role="user", parts=[types.Part(text="go")]), {}
    while message is not None:
        answers = []
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            for response in event.get_function_responses():
                seen[response.id] = str(response.response)
            for call in event.get_function_calls():
                if call.name == ASKS:
                    answer = types.FunctionResponse(id=call.id, name=ASKS, response=confirm(call))
                    answers.append(types.Part(function_response=answer))
        message = types.Content(role="user", parts=answers) if answers else None  # type: ignore[assignment]
    return [seen[call] for call in sorted(seen)]


class Agents(Tests, unittest.TestCase):
    asks_again = False

    def agent(self, played: Played, calls: Any) -> Any:
        return LlmAgent(name="a", model=Turns(model="turns", calls=list(calls)), tools=tools(played))

    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played = Played()
        agent = self.agent(played, calls)
        played.seen = asyncio.run(run(agent, CallgatePlugin(gate, "notes"), lambda _: {"confirmed": answer()}))
        return played

    def test_answers_that_confirm_nothing(self) -> None:
        for answer in ({}, {"confirmed": False}, {"confirmed": False, "payload": {"callgate": "x"}}):
            played = Played()
            with self.subTest(answer=answer):
                asyncio.run(run(self.agent(played, [WRITE]), CallgatePlugin(gate(), "notes"), lambda _, answer=answer: answer))
                self.assertEqual(played.ran, [])

    def test_the_question_has_what_would_be_sent(self) -> None:
        def confirm(call: Any) -> Any:
            asked = call.args["toolConfirmation"]
            self.assertEqual(asked["payload"]["arguments"], {"path": "/home/u/notes/b.md", "text": "hello"})
            return {"confirmed": False}

        asyncio.run(run(self.agent(Played(), [WRITE]), CallgatePlugin(gate(), "notes"), confirm))


    def test_the_answer_is_not_that_of_the_tool_s_own_question(self) -> None:
        played, hints = Played(), []

        def write(path: str, text: str, tool_context: ToolContext) -> str:
            """Writes."""
            if tool_context.tool_confirmation is None:
                tool_context.request_confirmation(hint="really?")
                return "waits"
            played.ran.append(("write", {"path": path, "text": text}))
            return "done: write"

        def confirm(call: Any) -> Any:
            hints.append(call.args["toolConfirmation"]["hint"])
            return {"confirmed": True}

        agent = LlmAgent(name="a", model=Turns(model="turns", calls=[WRITE]), tools=[write])
        seen = asyncio.run(run(agent, CallgatePlugin(gate(), "notes"), confirm))
        self.assertIn("a person decides what is written", hints[0])
        self.assertEqual((played.ran, seen), ([], ["{'result': 'waits'}"]))


class SubAgents(unittest.TestCase):
    def test_a_sub_agent_is_judged_too(self) -> None:
        played = Played()
        inner = LlmAgent(name="inner", description="d", model=Turns(model="turns", calls=[READ, KEYS, ADDED]), tools=tools(played))
        transfer = ("transfer_to_agent", {"agent_name": "inner"})
        outer = LlmAgent(name="outer", model=Turns(model="turns", calls=[transfer]), sub_agents=[inner])

        def named(name: str) -> tuple[str, str]:
            return ("adk" if name == "transfer_to_agent" else "notes"), name

        seen = asyncio.run(run(outer, CallgatePlugin(gate(), named), None))
        self.assertEqual(played.ran, [])
        self.assertIn("Unknown tool: adk/transfer_to_agent", seen[0])
        outer = LlmAgent(name="outer", model=Turns(model="turns", calls=[transfer]), sub_agents=[
            LlmAgent(name="inner", description="d", model=Turns(model="turns", calls=[READ, KEYS, ADDED]), tools=tools(played))])

        class OfNotes(CallgatePlugin):
            async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
                if tool.name == "transfer_to_agent":
                    return None
                return await super().before_tool_callback(tool=tool, tool_args=tool_args, tool_context=tool_context)

        asyncio.run(run(outer, OfNotes(gate(), "notes"), None))
        self.assertEqual(played.ran, [READ_AS_JUDGED])

    def test_what_is_no_call_is_denied(self) -> None:
        context: Any = type("Context", (), {"tool_confirmation": None})
        for name, arguments in ((None, {}), ("", {}), (7, {}), ("read", [])):
            tool: Any = type("Tool", (), {"name": name})
            with self.subTest(name=name):
                plugin = CallgatePlugin(gate(), "notes")
                answer = asyncio.run(plugin.before_tool_callback(tool=tool, tool_args=arguments, tool_context=context))  # type: ignore[arg-type]
                self.assertIn("error", answer or {})


if __name__ == "__main__":
    unittest.main()
