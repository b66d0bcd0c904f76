"""A server that asks its client for everything that a server may ask for, in both eras of the protocol."""

import json
import os
import sys

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

server = MCPServer("talk")
MESSAGES = [SamplingMessage(role="user", content=TextContent(type="text", text="say it"))]
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def note(text: str) -> None:
    with open(os.environ["TALK_LOG"], "a", encoding="utf-8") as log:
        log.write(text + "\n")


def is_modern(context: Context) -> bool:
    return (context.protocol_version or "") >= "2026-07-28"


@server.tool()
async def ask(context: Context) -> str | InputRequiredResult:
    """Asks for a message of a model, for the roots and for a form."""
    if is_modern(context):
        answers = context.input_responses
        if answers is None:
            return InputRequiredResult(
                input_requests={
                    "message": CreateMessageRequest(
                        params=CreateMessageRequestParams(messages=MESSAGES, max_tokens=9)
                    ),
                    "roots": ListRootsRequest(),
                    "form": ElicitRequest(
                        params=ElicitRequestFormParams(message="who?", requested_schema=SCHEMA)
                    ),
                },
                request_state="remember",
            )
        message, roots, form = answers["message"], answers["roots"], answers["form"]
        state = context.request_state
    else:
        session = context.session
        message = await session.create_message(MESSAGES, max_tokens=9)
        roots = await session.list_roots()
        form = await session.elicit_form("who?", SCHEMA)
        state = "remember"
    content = message.content[0] if isinstance(message.content, list) else message.content
    return json.dumps(
        {
            "message": content.text,
            "roots": [str(root.uri) for root in roots.roots],
            "form": form.content,
            "state": state,
        }
    )


@server.tool()
async def slow(seconds: float, context: Context) -> str:
    """Says how far it is, and notes whether it was cancelled."""
    try:
        for step in range(4):
            await context.report_progress(step + 1, 4, f"step {step + 1}")
            await anyio.sleep(seconds / 4)
    except anyio.get_cancelled_exc_class():
        note("cancelled")
        raise
    return "done"


@server.tool()
async def change(context: Context) -> str:
    """Says that the tools have changed."""
    if is_modern(context):
        await context.notify_tools_changed()
    else:
        await context.session.send_tool_list_changed()
    return "changed"


@server.tool()
def read(path: str) -> str:
    """Says which path it got."""
    return path


@server.tool()
def nobody_annotated_this() -> str:
    """A tool that clients should not see."""
    return "no"


@server.resource("note://{name}")
def resource(name: str) -> str:
    return f"the note {name}"


@server.resource("note://first")
def first() -> str:
    return "the first note"


@server.prompt()
def greet(name: str) -> str:
    """Greets."""
    return f"Hello {name}"


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run("stdio")
