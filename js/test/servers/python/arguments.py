"""A server of the official Python SDK. It says what its tools get once the SDK has parsed a call's arguments."""

import json
import pathlib

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

server = MCPServer("arguments")


class Edit(BaseModel):
    path: str
    text: str = ""


def got(**arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, default=lambda model: model.model_dump())


@server.tool()
def read_path(path: str) -> str:
    return got(path=path)


@server.tool()
def read_paths(paths: list[str]) -> str:
    return got(paths=paths)


@server.tool()
def read_either(target: str | list[str]) -> str:
    return got(target=target)


@server.tool()
def read_maybe(path: str | None = None) -> str:
    return got(path=path)


@server.tool()
def touch(paths: list[str]) -> str:
    for path in paths:
        pathlib.Path(path).write_text("touched")
    return got(paths=paths)


@server.tool()
def edit(edits: list[Edit]) -> str:
    for one in edits:
        pathlib.Path(one.path).write_text(one.text)
    return got(edits=edits)


@server.tool()
def send(recipients: list[str], body: str) -> str:
    return got(recipients=recipients, body=body)


@server.tool()
def note(text: str, tags: list[str] | None = None) -> str:
    return got(text=text, tags=tags)


server.run()
