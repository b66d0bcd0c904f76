"""The OpenAI Agents SDK with a fake model: tools of functions, of an MCP server, and agents as tools."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import unittest
from typing import Annotated, Any

from adapting import ADDED, KEYS, READ_AS_JUDGED, WRITE_AS_JUDGED, Played, Tests, gate, needs

needs("openai-agents")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, ToolExecutionConfig, ToolGuardrailFunctionOutput, Usage, function_tool
from agents.mcp import MCPServer
from mcp import types
from pydantic import AliasChoices, Field
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from callgate import Gate
from callgate.openai_agents import guarded, tool_input_guardrail

QUIET = RunConfig(tracing_disabled=True)


class Turns(Model):
    """A model that makes its calls in one turn, and then ends."""

    def __init__(self, calls: Any) -> None:
        self.calls, self.first = calls, 0

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        calls, self.calls = self.calls, None
        output: list[Any] = [
            ResponseFunctionToolCall(type="function_call", call_id=str(self.first + at), name=name,
                                     arguments=arguments if isinstance(arguments, str) else json.dumps(arguments))
            for at, (name, arguments) in enumerate(calls or ())
        ]
        said = ResponseOutputText(type="output_text", text="end", annotations=[])
        end = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[said])
        return ModelResponse(output=output or [end], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def tools(played: Played) -> list[Any]:
    @function_tool
    def read(path: str) -> str:
        played.ran.append(("read", {"path": path}))
        return "done: read"

    @function_tool
    def write(path: str, text: str) -> str:
        played.ran.append(("write", {"path": path, "text": text}))
        return "done: write"

    @function_tool
    def added(path: str) -> str:
        played.ran.append(("added", {"path": path}))
        return "done: added"

    return [read, write, added]


class Server(MCPServer):
    """An MCP server that stands in this process."""

    def __init__(self, played: Played, **options: Any) -> None:
        super().__init__(**options)
        self.played = played

    @property
    def name(self) -> str:
        return "notes"

    async def connect(self) -> None: ...
    async def cleanup(self) -> None: ...

    async def list_tools(self, *_: Any, **__: Any) -> Any:
        schema = {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}
        return [types.Tool(name=name, input_schema=schema) for name in ("read", "write", "added")]

    async def call_tool(self, tool_name: str, arguments: Any, *_: Any, **__: Any) -> Any:
        self.played.ran.append((tool_name, arguments))
        return types.CallToolResult(content=[types.TextContent(type="text", text=f"done: {tool_name}")])

    async def list_prompts(self) -> Any: ...
    async def get_prompt(self, *_: Any, **__: Any) -> Any: ...


async def finished(agent: Agent[Any], answer: Any, played: Played, config: RunConfig = QUIET) -> None:
    result = await Runner.run(agent, "go", run_config=config)
    while result.interruptions:
        state = result.to_state()
        for asked in result.interruptions:
            state.approve(asked) if answer() else state.reject(asked)
        result = await Runner.run(agent, state, run_config=config)
    outputs = {item["call_id"]: item["output"] for item in result.to_input_list() if item.get("type") == "function_call_output"}  # type: ignore[typeddict-item]
    played.seen = [str(outputs[call]) for call in sorted(outputs)]


class Functions(Tests, unittest.TestCase):
    rewrites = False

    def agent(self, gate: Any, played: Played, calls: Any) -> Agent[Any]:
        return Agent(name="a", model=Turns(calls), tools=[guarded(tool, gate, "notes") for tool in tools(played)])

    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played = Played()
        asyncio.run(finished(self.agent(gate, played, calls), answer, played))
        return played

    def test_arguments_that_cannot_be_read(self) -> None:
        for arguments in ("{", "[]", "null", '"x"', '{"path": NaN}'):
            with self.subTest(arguments=arguments[:20]):
                self.assertEqual(self.play(gate(), [("read", arguments)], lambda: True).ran, [])

    def test_an_approval_of_every_call_is_none_of_the_next(self) -> None:
        played, later = Played(), ("write", {**WRITE_AS_JUDGED[1], "text": "later"})
        agent = self.agent(gate(), played, [WRITE_AS_JUDGED])

        async def run() -> None:
            result = await Runner.run(agent, "go", run_config=QUIET)
            state = result.to_state()
            for asked in result.interruptions:
                state.approve(asked, always_approve=True)
            agent.model.calls = [later]  # type: ignore[union-attr]
            agent.model.first = 1  # type: ignore[union-attr]
            await Runner.run(agent, state, run_config=QUIET)

        asyncio.run(run())
        self.assertNotIn(later, played.ran)

    def test_a_run_that_judges_before_it_asks(self) -> None:
        before = RunConfig(tracing_disabled=True, tool_execution=ToolExecutionConfig(pre_approval_tool_input_guardrails=True))
        for answer in (True, False):
            played, asked = Played(), []
            agent = self.agent(gate(), played, [WRITE_AS_JUDGED, KEYS])
            asyncio.run(finished(agent, lambda asked=asked, answer=answer: asked.append(1) or answer, played, before))
            self.assertEqual(played.ran, [WRITE_AS_JUDGED] if answer else [])
            self.assertIn(1, asked)
            self.assertIn("keys are private", played.seen[1])


class OfAServer(Functions):
    """Whoever runs the server has every call asked about; what is allowed anyway is asked about too."""

    def agent(self, gate: Any, played: Played, calls: Any) -> Agent[Any]:
        guardrails = [tool_input_guardrail(gate, "notes")]
        return Agent(name="a", model=Turns(calls), mcp_servers=[Server(played, tool_input_guardrails=guardrails, require_approval="always")])

    def test_a_run_that_judges_before_it_asks(self) -> None:
        """The guardrail cannot know that somebody will be asked, so what escalates is denied."""
        before = RunConfig(tracing_disabled=True, tool_execution=ToolExecutionConfig(pre_approval_tool_input_guardrails=True))
        played = Played()
        asyncio.run(finished(self.agent(gate(), played, [WRITE_AS_JUDGED]), lambda: True, played, before))
        self.assertEqual(played.ran, [])
        self.assertIn("nobody has allowed it", played.seen[0])

    def run_calls(self, calls: Any, answer: Any = None, by: Any = None) -> Played:
        return super().run_calls(calls, answer or (lambda: True), by)


class Direct(unittest.TestCase):
    def test_a_tool_that_was_renamed_after_it_was_guarded_is_denied(self) -> None:
        renamed = {"write": "read", "read": "peek"}
        for name, told in renamed.items():
            played = Played()
            tool = next(guarded(tool, gate(), "notes") for tool in tools(played) if tool.name == name)
            agent = Agent(name="a", model=Turns([(told, READ_AS_JUDGED[1])]), tools=[dataclasses.replace(tool, name=told)])
            asyncio.run(finished(agent, lambda: True, played))
            self.assertEqual(played.ran, [])
            self.assertIn("guarded as `write`" if told == "read" else "Unknown tool: notes/peek", played.seen[0])

    def test_an_argument_that_the_schema_does_not_tell_is_denied(self) -> None:
        ran: list[str] = []

        @function_tool(strict_mode=False)
        def read(path: Annotated[str, Field(validation_alias=AliasChoices("path", "file"))] = "") -> str:
            ran.append(path)
            return "done: read"

        played = Played()
        calls = [("read", {"path": READ_AS_JUDGED[1]["path"], "file": KEYS[1]["path"]})]
        agent = Agent(name="a", model=Turns(calls), tools=[guarded(read, gate(), "notes")])
        asyncio.run(finished(agent, lambda: True, played))
        self.assertEqual(ran, [])
        self.assertIn("The tool's schema names no `file`", played.seen[0])

    def test_without_approval_what_escalates_is_denied(self) -> None:
        played = Played()
        server = Server(played, tool_input_guardrails=[tool_input_guardrail(gate(), "notes")])
        agent = Agent(name="a", model=Turns([WRITE_AS_JUDGED, READ_AS_JUDGED, KEYS, ADDED]), mcp_servers=[server])
        asyncio.run(finished(agent, lambda: self.fail("asked"), played))
        self.assertEqual(played.ran, [READ_AS_JUDGED])
        self.assertIn("nobody has allowed it", played.seen[0])

    def test_a_call_without_a_name_is_denied(self) -> None:
        for name in (None, "", 7):
            call: Any = type("Call", (), {"tool_name": name, "tool_arguments": "{}", "tool_call_id": "1"})
            data: Any = type("Data", (), {"context": call})
            output = asyncio.run(tool_input_guardrail(gate(), "notes").run(data))
            self.assertIsInstance(output, ToolGuardrailFunctionOutput)
            self.assertEqual(output.behavior["type"], "reject_content")

    def test_what_needs_approval_is_one_call(self) -> None:
        tool = guarded(tools(Played())[1], gate(), "notes")
        name, given = WRITE_AS_JUDGED

        async def run() -> list[str]:
            self.assertTrue(await tool.needs_approval(None, given, "1"))
            seen = []
            for call_id, text in (("1", given["text"]), ("1", "other"), ("2", given["text"])):
                call: Any = type("Call", (), {"tool_name": name, "tool_call_id": call_id, "is_tool_approved": lambda *_: None,
                                              "tool_arguments": json.dumps({**given, "text": text})})
                data: Any = type("Data", (), {"context": call})
                seen.append((await tool.tool_input_guardrails[-1].run(data)).behavior["type"])
            return seen

        self.assertEqual(asyncio.run(run()), ["allow", "reject_content", "reject_content"])

    def test_an_agent_as_a_tool_is_a_call_of_its_own(self) -> None:
        for allowed in (False, True):
            played = Played()
            inner = Agent(name="inner", model=Turns([READ_AS_JUDGED, KEYS, WRITE_AS_JUDGED]), tools=[guarded(tool, gate(), "notes") for tool in tools(played)])
            rules = [{"name": "delegating", "if": {"tool": "delegate"}, "then": "allow" if allowed else "deny", "reason": "as told"}]
            annotations = {"servers": {"agents": {"tools": [{"toolName": "delegate", "args": {"input": "none"}}]}}}
            judging = Gate(policy={"rules": rules}, annotations=annotations)
            delegate = guarded(inner.as_tool("delegate", "delegates", run_config=QUIET), judging, "agents")
            outer = Agent(name="outer", model=Turns([("delegate", {"input": "go"})]), tools=[delegate])
            asyncio.run(finished(outer, lambda: True, played))
            self.assertEqual(played.ran, [READ_AS_JUDGED, WRITE_AS_JUDGED] if allowed else [])


if __name__ == "__main__":
    unittest.main()
