"""pydantic-ai with its `FunctionModel`: the capability, the toolset, and what validation makes of arguments."""

from __future__ import annotations

import datetime
import json
import unittest
from typing import Annotated, Any

from adapting import ADDED, KEYS, READ, READ_AS_JUDGED, WRITE, WRITE_AS_JUDGED, Played, Tests, gate, needs

needs("pydantic-ai-slim")

from pydantic import BaseModel, Field, PlainSerializer, SecretStr
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool, ToolApproved, ToolDefinition, ToolDenied
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset

from callgate import Gate
from callgate.pydantic_ai import Callgate, CallgateToolset


def model(calls: Any) -> FunctionModel:
    def answer(messages: Any, _: AgentInfo) -> ModelResponse:
        if any(isinstance(message, ModelResponse) for message in messages):
            return ModelResponse(parts=[TextPart("end")])
        return ModelResponse(parts=[ToolCallPart(name, arguments, tool_call_id=str(at)) for at, (name, arguments) in enumerate(calls)])

    async def stream(messages: Any, info: AgentInfo) -> Any:
        for at, part in enumerate(answer(messages, info).parts):
            if isinstance(part, ToolCallPart):
                yield {at: DeltaToolCall(name=part.tool_name, json_args=json.dumps(part.args), tool_call_id=part.tool_call_id)}
            elif isinstance(part, TextPart):
                yield part.content

    return FunctionModel(answer, stream_function=stream)


def tools(played: Played) -> list[Any]:
    def read(path: str) -> str:
        played.ran.append(("read", {"path": path}))
        return "done: read"

    def write(path: str, text: str) -> str:
        played.ran.append(("write", {"path": path, "text": text}))
        return "done: write"

    def added(path: str) -> str:
        played.ran.append(("added", {"path": path}))
        return "done: added"

    return [read, write, added]


def returned(messages: Any) -> list[str]:
    parts = [part for message in messages if isinstance(message, ModelRequest) for part in message.parts]
    found = {part.tool_call_id: str(part.content) for part in parts if isinstance(part, ToolReturnPart)}
    return [found[call] for call in sorted(found)]


class Capability(Tests, unittest.TestCase):
    def agent(self, gate: Any, played: Played, calls: Any) -> Agent[None, Any]:
        return Agent(model(calls), output_type=[str, DeferredToolRequests], tools=tools(played), capabilities=[Callgate(gate, "notes")])

    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played = Played()
        agent = self.agent(gate, played, calls)
        result = agent.run_sync("go")
        while isinstance(result.output, DeferredToolRequests):
            approvals: dict[str, Any] = {call.tool_call_id: answer() for call in result.output.approvals}
            results = DeferredToolResults(approvals=approvals, metadata=result.output.metadata)
            result = agent.run_sync(message_history=result.all_messages(), deferred_tool_results=results)
        played.seen = returned(result.all_messages())
        return played

    def asked(self, played: Played) -> Any:
        agent = self.agent(gate(), played, [WRITE])
        result = agent.run_sync("go")
        self.assertIsInstance(result.output, DeferredToolRequests)
        self.assertEqual(result.output.metadata["0"]["arguments"]["path"], "/home/u/notes/b.md")

        def resumed(**options: Any) -> Any:
            return agent.run_sync(message_history=result.all_messages(), deferred_tool_results=DeferredToolResults(**options))

        return result.output.metadata, resumed

    def test_what_is_streamed_was_judged(self) -> None:
        import asyncio

        played = Played()
        agent = self.agent(gate(), played, [READ, KEYS])

        async def events() -> str:
            async with agent.run_stream_events("go") as stream:
                return "".join([str(event) async for event in stream])

        self.assertIn("keys are private", asyncio.run(events()))
        self.assertEqual(played.ran, [READ_AS_JUDGED])

    def test_an_approval_that_does_not_say_of_what(self) -> None:
        played = Played()
        _, resumed = self.asked(played)
        result = resumed(approvals={"0": True})
        self.assertIn("the approval has no `metadata`", returned(result.all_messages())[0])
        self.assertEqual(played.ran, [])

    def test_arguments_that_were_changed_are_asked_about_again(self) -> None:
        played = Played()
        metadata, resumed = self.asked(played)
        other = ToolApproved(override_args={"path": "~/notes/b.md", "text": "another"})
        result = resumed(approvals={"0": other}, metadata=metadata)
        self.assertIsInstance(result.output, DeferredToolRequests)
        self.assertEqual(played.ran, [])

    def test_a_refusal_with_a_message(self) -> None:
        played = Played()
        metadata, resumed = self.asked(played)
        result = resumed(approvals={"0": ToolDenied("not today")}, metadata=metadata)
        self.assertEqual(returned(result.all_messages()), ["not today"])
        self.assertEqual(played.ran, [])


class Toolset(Capability):
    def agent(self, gate: Any, played: Played, calls: Any) -> Agent[None, Any]:
        toolset = CallgateToolset(FunctionToolset(tools(played)), gate, "notes")
        return Agent(model(calls), output_type=[str, DeferredToolRequests], toolsets=[toolset])


class When(BaseModel):
    day: datetime.date


class Note(BaseModel):
    path: str


class Hidden(BaseModel):
    path: str = Field(exclude=True)


class Named(BaseModel):
    model_config = {"populate_by_name": True}
    file: str = Field(alias="path")


class Validated(unittest.TestCase):
    def test_what_validation_made_stays(self) -> None:
        ran: list[Any] = []

        def read(path: str, when: When, many: list[datetime.date]) -> str:
            ran.append((path, when, many))
            return "done"

        annotations = {"servers": {"notes": {"tools": [
            {"toolName": "read", "args": {"path": "read-path", "when": "none", "many": "none"}}]}}}
        policy = {"rules": [{"name": "all", "if": {"roles": "read-path"}, "then": "allow", "reason": "all"}]}
        judged: Any = Gate(policy=policy, annotations=annotations, sandbox=None)
        call = ("read", {"path": "/etc/../etc/x", "when": {"day": "2026-11-27"}, "many": ["2026-11-27"]})
        agent: Any = Agent(model([call]), tools=[read], capabilities=[Callgate(judged, "notes")])
        agent.run_sync("go")
        day = datetime.date(2026, 11, 27)
        self.assertEqual(ran, [("/etc/x", When(day=day), [day])])

    def test_what_is_judged_is_what_the_model_wrote(self) -> None:
        """Validation may give arguments other names and values, or none at all."""
        ran: list[Any] = []

        def flat(note: Note) -> str:
            ran.append(note.path)
            return "done"

        def hidden(note: Hidden) -> str:
            ran.append(note.path)
            return "done"

        def named(note: Named) -> str:
            ran.append(note.file)
            return "done"

        def secret(path: SecretStr) -> str:
            ran.append(path.get_secret_value())
            return "done"

        def read(path: Annotated[str, PlainSerializer(lambda _: READ_AS_JUDGED[1]["path"])]) -> str:
            ran.append(path)
            return "done"

        for function in (flat, hidden, named, secret, read):
            for made in (self.of_capability, self.of_toolset):
                with self.subTest(function=function, made=made):
                    ran.clear()
                    tool = Tool(function, name="read")
                    calls = [("read", READ[1]), ("read", KEYS[1]), ("read", json.dumps(KEYS[1])), ("read", {"file": READ_AS_JUDGED[1]["path"]})]
                    seen = returned(made(tool, calls).run_sync("go").all_messages())
                    self.assertEqual(ran, [READ_AS_JUDGED[1]["path"]])
                    self.assertIn("keys are private", seen[1])
                    self.assertIn("keys are private", seen[2])

    def of_capability(self, tool: Any, calls: Any) -> Any:
        return Agent(model(calls), tools=[tool], capabilities=[Callgate(gate(), "notes")])

    def of_toolset(self, tool: Any, calls: Any) -> Any:
        return Agent(model(calls), toolsets=[CallgateToolset(FunctionToolset([tool]), gate(), "notes")])

    def test_calls_of_external_tools_are_judged_as_they_are_handed_over(self) -> None:
        schema = {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}
        external = ExternalToolset([ToolDefinition(name=name, parameters_json_schema=schema) for name in ("read", "write", "added")])
        calls = [READ_AS_JUDGED, READ, KEYS, WRITE_AS_JUDGED, ADDED]
        options: Any = {"output_type": [str, DeferredToolRequests]}
        for agent in (
            Agent(model(calls), toolsets=[external], capabilities=[Callgate(gate(), "notes")], **options),
            Agent(model(calls), toolsets=[CallgateToolset(external, gate(), "notes")], **options),
        ):
            output: Any = agent.run_sync("go").output
            self.assertEqual([(call.tool_name, call.args) for call in output.calls], [READ_AS_JUDGED])
            self.assertEqual(output.approvals, [])

    def test_names_of_prefixed_toolsets(self) -> None:
        played = Played()
        inner = CallgateToolset(FunctionToolset(tools(played)), gate(), "notes").prefixed("my")
        agent: Any = Agent(model([("my_read", READ[1]), ("my_read", KEYS[1]), ("my_added", ADDED[1])]), toolsets=[inner])
        seen = returned(agent.run_sync("go").all_messages())
        self.assertEqual(played.ran, [READ_AS_JUDGED])
        self.assertIn("keys are private", seen[1])

    def test_another_capability_cannot_change_a_judged_call(self) -> None:
        from pydantic_ai.capabilities import AbstractCapability

        class Changing(AbstractCapability[Any]):
            async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
                return {"path": KEYS[1]["path"]}

        for order in ([Changing(), Callgate(gate(), "notes")], [Callgate(gate(), "notes"), Changing()]):
            played = Played()
            agent: Any = Agent(model([READ_AS_JUDGED]), tools=tools(played), capabilities=order)
            self.assertIn("keys are private", returned(agent.run_sync("go").all_messages())[0])
            self.assertEqual(played.ran, [])

    def test_a_key_without_an_approval_is_none(self) -> None:
        import asyncio

        from pydantic_ai.exceptions import ApprovalRequired

        capability, call = Callgate(gate(), "notes"), ToolCallPart(*WRITE)
        for metadata, is_approved in ((None, False), ({}, False), ("x", True)):
            ctx: Any = type("Ctx", (), {"tool_call_metadata": metadata, "tool_call_approved": is_approved, "tool_manager": None})
            for _ in range(2):
                with self.subTest(metadata=metadata), self.assertRaises((ApprovalRequired, ToolFailed)) as caught:
                    asyncio.run(capability.before_tool_execute(ctx, call=call, tool_def=ctx, args=WRITE[1]))
                # The key is known, and nobody approved.
                ctx.tool_call_metadata = getattr(caught.exception, "metadata", None)

    def test_what_is_no_call_is_denied(self) -> None:
        import asyncio

        ctx: Any = type("Ctx", (), {"tool_call_metadata": None, "tool_call_approved": False, "tool_manager": None})
        for name, args in ((None, {}), ("", {}), (7, {}), ("read", []), ("read", {"path": object()})):
            call: Any = type("Call", (), {"tool_name": name})
            with self.subTest(name=name, args=args), self.assertRaises(ToolFailed):
                asyncio.run(Callgate(gate(), "notes").before_tool_execute(ctx, call=call, tool_def=ctx, args=args))  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
