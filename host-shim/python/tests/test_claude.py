"""The Claude Agent SDK's client with a transport that stands for the command: it asks the hook, then `can_use_tool`, then runs."""

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any

from adapting import ADDED, KEYS, POLICY, READ, READ_AS_JUDGED, WRITE, Played, Tests, gate, needs

needs("claude-agent-sdk")

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Transport

from callgate import Gate, virtual_host
from callgate.claude import can_use_tool, hooks, of_claude


class Command(Transport):
    """Claude Code's side of the control protocol."""

    def __init__(self, played: Played, calls: Any, hooked: bool) -> None:
        self.played, self.calls, self.hooked = played, calls, hooked
        self.lines: asyncio.Queue[Any] = asyncio.Queue()
        self.answers: dict[str, asyncio.Future[Any]] = {}
        self.task: Any = None

    async def connect(self) -> None: ...
    async def end_input(self) -> None: ...

    async def close(self) -> None:
        self.lines.put_nowait(None)

    def is_ready(self) -> bool:
        return True

    async def read_messages(self) -> Any:
        while (line := await self.lines.get()) is not None:
            yield line

    async def write(self, data: str) -> None:
        line = json.loads(data)
        if line["type"] == "control_request":
            answer = {"subtype": "success", "request_id": line["request_id"], "response": {"hook_on_failure_supported": True}}
            self.hooks = line["request"].get("hooks")
            self.lines.put_nowait({"type": "control_response", "response": answer})
        elif line["type"] == "control_response":
            self.answers[line["response"]["request_id"]].set_result(line["response"])
        elif line["type"] == "user":
            self.task = asyncio.create_task(self.turn())

    async def ask(self, request: Any) -> Any:
        id = str(len(self.answers))
        self.answers[id] = asyncio.get_running_loop().create_future()
        self.lines.put_nowait({"type": "control_request", "request_id": id, "request": request})
        return await self.answers[id]

    async def call(self, at: int, name: Any, given: Any) -> str:
        decision, use = "ask", {"tool_use_id": str(at)}
        if self.hooked:
            [matcher] = self.hooks["PreToolUse"]
            assert matcher["matcher"] is None and matcher["onFailure"] == "block"
            event = {"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": given, **use}
            request = {"subtype": "hook_callback", "callback_id": matcher["hookCallbackIds"][0], "input": event, **use}
            answer = await self.ask(request)
            if answer["subtype"] != "success":
                return "blocked"
            output = answer["response"]["hookSpecificOutput"]
            decision, given = output["permissionDecision"], output.get("updatedInput", given)
            if decision == "deny":
                return str(output["permissionDecisionReason"])
        if decision == "ask":
            answer = await self.ask({"subtype": "can_use_tool", "tool_name": name, "input": given, "permission_suggestions": [], **use})
            if answer["subtype"] != "success":
                return "blocked"
            if answer["response"]["behavior"] != "allow":
                return str(answer["response"]["message"])
            given = answer["response"]["updatedInput"]
        tool = name.removeprefix("mcp__notes__")
        self.played.ran.append((tool, given))
        return f"done: {tool}"

    async def turn(self) -> None:
        calls = (self.call(at, name, given) for at, (name, given) in enumerate(self.calls))
        try:
            self.played.seen += await asyncio.gather(*calls)
        finally:
            self.lines.put_nowait(self.result())

    def result(self) -> dict[str, Any]:
        return {"type": "result", "subtype": "success", "is_error": False, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1,
                "session_id": "s"}


class HookAndCallback(Tests, unittest.TestCase):
    hooked = True
    asks_again = False

    def options(self, gate: Any, ask: Any) -> ClaudeAgentOptions:
        return ClaudeAgentOptions(hooks=hooks(gate), can_use_tool=can_use_tool(gate, ask=ask))

    def play(self, gate: Any, calls: Any, answer: Any) -> Played:
        played = Played()
        named = [(f"mcp__notes__{name}" if isinstance(name, str) and name else name, given) for name, given in calls]

        async def ask(judged: Any) -> bool:
            self.assertEqual(judged.reason, "a person decides what is written")
            return bool(answer())

        async def run() -> None:
            command = Command(played, named, self.hooked)
            async with ClaudeSDKClient(self.options(gate, ask), transport=command) as client:
                await client.query("go")
                async for _ in client.receive_response():
                    pass

        asyncio.run(run())
        return played

    def test_what_is_no_call_is_denied(self) -> None:
        for name, given in ((None, {}), ("", {}), ("read", []), ("read", None), ("read", "x")):
            with self.subTest(name=name, given=given):
                self.assertEqual(self.play(gate(), [(name, given)], lambda: True).ran, [])


class CallbackAlone(HookAndCallback):
    hooked = False
    asks_again = True

    def options(self, gate: Any, ask: Any) -> ClaudeAgentOptions:
        return ClaudeAgentOptions(can_use_tool=can_use_tool(gate, ask=ask))


class Skills(unittest.TestCase):
    def test_a_command_of_a_skill_is_judged(self) -> None:
        """It cannot be asked about, nor changed: so it passes only as it is, and only if it is allowed."""
        annotations = {"servers": {"claude-code": {"tools": [
            {"toolName": "Read", "args": {"path": "read-path"}}, {"toolName": "Write", "args": {"path": "write-path"}}]}}}
        machine = {"home": "/home/u", "cwd": "/home/u", "fs": {"dirs": ["/home/u/notes"], "files": [], "links": {}}}
        judging = Gate(policy=POLICY, annotations=annotations, host=virtual_host(machine))
        event: Any = "PreSkillShellCommand"
        [matcher] = hooks(judging)[event]
        self.assertEqual(matcher.on_failure, "block")
        for name, given, reason in (
            ("Read", {"path": "/home/u/notes/a.md"}, None),
            ("Read", {"path": "~/notes/a.md"}, "must be given in canonical form"),
            ("Read", {"path": "/home/u/keys/k.pem"}, "keys are private"),
            ("Write", {"path": "/home/u/notes/a.md"}, "nobody can be asked"),
            ("Bash", {"command": "ls"}, "Unknown tool"),
            (None, None, "The call names no tool"),
        ):
            with self.subTest(name=name, given=given):
                call: Any = {"hook_event_name": event, "tool_name": name, "tool_input": given}
                answer: Any = asyncio.run(matcher.hooks[0](call, None, None))  # type: ignore[arg-type,misc]
                if reason is None:
                    self.assertEqual(answer, {})
                    continue
                self.assertEqual(answer["hookSpecificOutput"]["hookEventName"], event)
                self.assertEqual(answer["hookSpecificOutput"]["permissionDecision"], "deny")
                self.assertIn(reason, answer["hookSpecificOutput"]["permissionDecisionReason"])


class Names(unittest.TestCase):
    def test_names(self) -> None:
        self.assertEqual(of_claude("mcp__notes__read"), ("notes", "read"))
        self.assertEqual(of_claude("mcp__my_notes__read_it"), ("my_notes", "read_it"))
        self.assertEqual(of_claude("Bash"), ("claude-code", "Bash"))
        for name in ("mcp__", "mcp__notes", "mcp__notes__", "mcp____read", "mcp__a__b__c", "mcp__a___b", "mcp__claude-code__Bash"):
            with self.subTest(name=name), self.assertRaises(ValueError):
                of_claude(name)

    def test_nobody_is_there_to_be_asked(self) -> None:
        from claude_agent_sdk import ToolPermissionContext

        async def late(_: Any) -> bool:
            raise TimeoutError

        for ask in (None, late):
            decided = asyncio.run(can_use_tool(gate(), ask=ask)("mcp__notes__write", WRITE[1], ToolPermissionContext()))  # type: ignore[arg-type]
            self.assertEqual(decided.behavior, "deny")
        for name, given, behavior in (("mcp__notes__read", READ[1], "allow"), ("mcp__notes__read", KEYS[1], "deny"), ("added", ADDED[1], "deny")):
            decided = asyncio.run(can_use_tool(gate())(name, given, ToolPermissionContext()))  # type: ignore[arg-type]
            self.assertEqual(decided.behavior, behavior)
        self.assertEqual(READ_AS_JUDGED[1], {"path": "/home/u/notes/a.md"})


if __name__ == "__main__":
    unittest.main()
