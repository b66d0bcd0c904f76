"""LangChain's agents with a fake model, and LangGraph's `ToolNode` in a graph."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from adapting import ADDED, KEYS, READ, READ_AS_JUDGED, WRITE, WRITE_AS_JUDGED, Played, Tests, gate, needs

needs("langchain", "langgraph")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from callgate import Approvals
from callgate.langchain import CallgateMiddleware, approve, reject

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class Model(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


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


def turn(calls: Any) -> AIMessage:
    made = [{"name": name, "args": arguments, "id": str(at)} for at, (name, arguments) in enumerate(calls)]
    return AIMessage("", tool_calls=made)


def results(state: Any) -> list[ToolMessage]:
    found = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    return sorted(found, key=lambda message: str(message.tool_call_id))


class Agents(Tests, unittest.TestCase):
    is_async = False

    def invoke(self, graph: Any, given: Any) -> Any:
        return asyncio.run(graph.ainvoke(given, CONFIG)) if self.is_async else graph.invoke(given, CONFIG)

    def graph(self, played: Played, middleware: CallgateMiddleware, calls: Any, checkpointer: Any) -> Any:
        model = Model(messages=iter([turn(calls), AIMessage("end")]))
        return create_agent(model, tools(played), middleware=[middleware], checkpointer=checkpointer)

    def start(self, calls: Any) -> Any:
        return {"messages": [("user", "go")]}

    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played = Played()
        graph = self.graph(played, CallgateMiddleware(gate, "notes"), calls, InMemorySaver())
        state = self.invoke(graph, self.start(calls))
        while interrupts := state.get("__interrupt__"):
            answers = {asked.id: approve(asked.value) if answer() else {"type": "reject"} for asked in interrupts}
            state = self.invoke(graph, Command(resume=answers))
        played.seen = [str(message.content) for message in results(state)]
        if len(played.ran) < len(calls):
            self.assertIn("error", [message.status for message in results(state)])
        return played

    def test_answers_that_allow_nothing(self) -> None:
        for answer in (True, "approve", {"type": "approve"}, {"decisions": [{"type": "approve"}]}, {"type": "approve", "call": True}, None, []):
            played = Played()
            graph = self.graph(played, CallgateMiddleware(gate(), "notes"), [WRITE], InMemorySaver())
            asked = self.invoke(graph, self.start([WRITE]))["__interrupt__"]
            self.assertEqual(asked[0].value["arguments"], WRITE_AS_JUDGED[1])
            with self.subTest(answer=answer):
                self.invoke(graph, Command(resume={asked[0].id: answer}))
                self.assertEqual(played.ran, [])

    def test_an_answer_to_another_call_is_asked_again(self) -> None:
        played = Played()
        other = ("write", {"path": "~/notes/b.md", "text": "other"})
        graph = self.graph(played, CallgateMiddleware(gate(), "notes"), [WRITE], InMemorySaver())
        asked = self.invoke(graph, self.start([WRITE]))["__interrupt__"][0]
        another = self.graph(Played(), CallgateMiddleware(gate(), "notes"), [other], InMemorySaver())
        theirs = self.invoke(another, self.start([other]))["__interrupt__"][0]
        state = self.invoke(graph, Command(resume={asked.id: approve(theirs.value)}))
        self.assertEqual(played.ran, [])
        self.assertEqual(state["__interrupt__"][0].value["call"], asked.value["call"])

    def test_what_is_streamed_was_judged(self) -> None:
        played = Played()
        graph = self.graph(played, CallgateMiddleware(gate(), "notes"), [READ, KEYS, WRITE], InMemorySaver())

        async def streamed() -> list[Any]:
            return [part async for part in graph.astream(self.start([READ, KEYS, WRITE]), CONFIG, stream_mode="updates")]

        parts = asyncio.run(streamed()) if self.is_async else list(graph.stream(self.start([READ, KEYS, WRITE]), CONFIG, stream_mode="updates"))
        self.assertEqual(played.ran, [READ_AS_JUDGED])
        # Calls run side by side, so that the question is not always the last part.
        self.assertEqual(sum("__interrupt__" in part for part in parts), 1)

    def test_without_a_checkpointer_nobody_is_asked(self) -> None:
        played = Played()
        graph = self.graph(played, CallgateMiddleware(gate(), "notes"), [WRITE], None)
        self.assertIn("a person decides", str(self.invoke(graph, self.start([WRITE]))))
        self.assertEqual(played.ran, [])


class AgentsAsync(Agents):
    is_async = True


class Nodes(Agents):
    def graph(self, played: Played, middleware: CallgateMiddleware, calls: Any, checkpointer: Any) -> Any:
        node = ToolNode(tools(played), wrap_tool_call=middleware.wrap_tool_call, awrap_tool_call=middleware.awrap_tool_call)
        builder = StateGraph(MessagesState)
        builder.add_node("tools", node)
        builder.add_edge(START, "tools")
        return builder.compile(checkpointer=checkpointer)

    def start(self, calls: Any) -> Any:
        return {"messages": [turn(calls)]}


class Direct(unittest.TestCase):
    def test_what_is_no_call_is_denied(self) -> None:
        from langchain.agents.middleware.types import ToolCallRequest

        def called(_: Any) -> Any:
            self.fail("the tool ran")

        for call in ({}, {"name": None, "args": {}}, {"name": "", "args": {}}, {"name": "read", "args": []}, {"name": "read", "args": "{}"}):
            request = ToolCallRequest(tool_call={"id": "1", **call}, tool=None, state={}, runtime=None)  # type: ignore[typeddict-item,arg-type]
            with self.subTest(call=call):
                answer: Any = CallgateMiddleware(gate(), "notes").wrap_tool_call(request, called)
                self.assertEqual(answer.status, "error")

    def test_the_answer_is_not_that_of_the_tool_s_own_question(self) -> None:
        """The call was asked about, and is allowed by an approval when the graph goes on."""
        heard: list[Any] = []

        @tool
        def write(path: str, text: str) -> str:
            """Writes."""
            heard.append(interrupt("really?"))
            return "done: write"

        for answer in (approve, reject):
            for by_id in (True, False):
                with self.subTest(answer=answer, by_id=by_id):
                    heard.clear()
                    judging, approvals = gate(), Approvals()
                    graph = create_agent(Model(messages=iter([turn([WRITE]), AIMessage("end")])), [write], checkpointer=InMemorySaver(),
                                         middleware=[CallgateMiddleware(judging, "notes", approvals=approvals)])
                    [asked] = graph.invoke({"messages": [("user", "go")]}, CONFIG)["__interrupt__"]  # type: ignore[arg-type]
                    approvals.add(judging.offer("notes", "write", WRITE_AS_JUDGED[1]))
                    said = answer(asked.value)
                    state: Any = graph.invoke(Command(resume={asked.id: said} if by_id else said), CONFIG)
                    self.assertEqual(heard, [])
                    if answer is reject:
                        self.assertIn("nobody has allowed it", str(results(state)[0].content))
                        continue
                    [own] = state["__interrupt__"]
                    self.assertEqual(own.value, "really?")
                    graph.invoke(Command(resume={own.id: "yes"}), CONFIG)
                    self.assertEqual(heard, ["yes"])

    def test_a_name_that_the_schema_does_not_tell_is_denied(self) -> None:
        from langchain_core.tools import StructuredTool
        from pydantic import BaseModel, Field

        class Named(BaseModel):
            model_config = {"populate_by_name": True}
            path: str = Field(alias="file")

        ran: list[Any] = []
        named = StructuredTool.from_function(lambda **given: ran.append(given), name="read", description="Reads.", args_schema=Named)
        for given in (READ[1], {**READ[1], "file": KEYS[1]["path"]}):
            agent = create_agent(Model(messages=iter([turn([("read", given)]), AIMessage("end")])), [named],
                                 middleware=[CallgateMiddleware(gate(), "notes")])
            seen = results(agent.invoke({"messages": [("user", "go")]}))  # type: ignore[arg-type]
            if "file" in given:
                self.assertIn("The tool's schema names no `file`", str(seen[0].content))
        self.assertEqual(len(ran), 1)

    def test_a_sub_agent_with_its_own_middleware_is_judged(self) -> None:
        played = Played()
        inner = create_agent(Model(messages=iter([turn([READ, KEYS, ADDED]), AIMessage("end")])), tools(played),
                             middleware=[CallgateMiddleware(gate(), "notes")])

        @tool
        def write(path: str, text: str) -> str:
            """Delegates."""
            return str(inner.invoke({"messages": [("user", "go")]})["messages"][-1].content)

        outer = create_agent(Model(messages=iter([turn([WRITE]), AIMessage("end")])), [write],
                             middleware=[CallgateMiddleware(gate(), "notes")], checkpointer=InMemorySaver())
        asked: Any = outer.invoke({"messages": [("user", "go")]}, CONFIG)
        self.assertEqual(played.ran, [])
        outer.invoke(Command(resume=approve(asked["__interrupt__"][0].value)), CONFIG)
        self.assertEqual(played.ran, [READ_AS_JUDGED])


if __name__ == "__main__":
    unittest.main()
