"""Calls of the Claude Agent SDK (`claude-agent-sdk` 0.2), judged by a hook, and by `can_use_tool` where a person is asked.

    options = ClaudeAgentOptions(hooks=hooks(gate), can_use_tool=can_use_tool(gate, ask=ask))

What holds: the hook sees every call, those of sub-agents and those that rules of the session allow too, by the name that Claude gives it:
`mcp__SERVER__TOOL` is a tool of an MCP server, any other of the server `claude-code`. So a tool that is added later is denied until an
annotation names it. The tool gets the arguments that were judged. A denial is what Claude reads as the tool's result. A call that escalates
is answered with `ask`, so that `can_use_tool` decides: it judges again, and `ask` has a person decide; without `ask`, and for an answer
that is not `True`, it is denied. A hook that fails or is late blocks the call (`on_failure="block"`). `can_use_tool` alone does not see
what the session's rules allow: use both. A shell command in a skill's text, which runs as the text is read, is judged as a call of `Bash`,
and denied where a person would have to be asked or its arguments changed. Calls in parallel are judged each for itself, and a retry is a
new call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from claude_agent_sdk import (
    CanUseTool,
    HookContext,
    HookInput,
    HookJSONOutput,
    HookMatcher,
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)
from claude_agent_sdk.types import HookEvent

from ._engine import Approvals, Gate
from ._judging import Ask, Context, Judging, Naming


def of_claude(name: str) -> tuple[str, str]:
    """The server and the tool of a name. Raises `ValueError` where it may be split in two ways."""
    if not name.startswith("mcp__"):
        return "claude-code", name
    server, separator, tool = name.removeprefix("mcp__").partition("__")
    if not server or not tool or "__" in tool or tool.startswith("_") or server == "claude-code":
        raise ValueError("the name may be that of several tools")
    return server, tool


def can_use_tool(
    gate: Gate,
    server: Naming = of_claude,
    *,
    ask: Ask | None = None,
    approvals: Approvals | None = None,
    context: Context = None,
) -> CanUseTool:
    """For `ClaudeAgentOptions.can_use_tool`."""
    judging = Judging(gate, server, approvals=approvals, context=context)

    async def decide(name: str, given: dict[str, Any], _: ToolPermissionContext) -> PermissionResult:
        judged = await judging.settle(name, given, ask)
        if judged.is_allowed:
            return PermissionResultAllow(updated_input=judged.arguments)
        return PermissionResultDeny(message=judged.message)

    return decide


def pre_tool_use(
    gate: Gate, server: Naming = of_claude, *, approvals: Approvals | None = None, context: Context = None
) -> Callable[[HookInput, str | None, HookContext], Awaitable[HookJSONOutput]]:
    """A hook for the event `PreToolUse`."""
    judging = Judging(gate, server, approvals=approvals, context=context)

    async def hook(given: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        call: Any = given if isinstance(given, dict) else {}
        judged = judging.judge(call.get("tool_name"), call.get("tool_input"))
        if judged.is_allowed or judged.must_ask:
            return {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow" if judged.is_allowed else "ask",
                    "permissionDecisionReason": judged.reason,
                    "updatedInput": judged.arguments or {},
                }
            }
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": judged.message,
            }
        }

    return hook


def pre_skill_shell_command(
    gate: Gate, server: Naming = of_claude, *, approvals: Approvals | None = None, context: Context = None
) -> Callable[[HookInput, str | None, HookContext], Awaitable[HookJSONOutput]]:
    """A hook for the event `PreSkillShellCommand`, a command in a skill's text. It cannot be asked about, nor changed."""
    judging = Judging(gate, server, approvals=approvals, context=context)

    async def hook(given: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        call: Any = given if isinstance(given, dict) else {}
        name, arguments = call.get("tool_name"), call.get("tool_input")
        judged = judging.judge(name, arguments).as_given(arguments)
        if judged.is_allowed:
            return {}
        message = (judged.refused("nobody can be asked") if judged.must_ask else judged).message
        denial = {"hookEventName": "PreSkillShellCommand", "permissionDecision": "deny", "permissionDecisionReason": message}
        return cast("HookJSONOutput", {"hookSpecificOutput": denial})

    return hook


def hooks(
    gate: Gate, server: Naming = of_claude, *, approvals: Approvals | None = None, context: Context = None
) -> dict[HookEvent, list[HookMatcher]]:
    """For `ClaudeAgentOptions.hooks`: every tool and every command of a skill is judged, and a hook that fails blocks."""
    tool = pre_tool_use(gate, server, approvals=approvals, context=context)
    command = pre_skill_shell_command(gate, server, approvals=approvals, context=context)
    # The SDK's type does not list the event yet, which Claude Code has.
    skill = cast("HookEvent", "PreSkillShellCommand")
    return {
        "PreToolUse": [HookMatcher(hooks=[tool], on_failure="block")],
        skill: [HookMatcher(hooks=[command], on_failure="block")],
    }
