"""The client of the official Python SDK: does what standard input says, and prints what came of it as JSON."""

import json
import sys
import warnings

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters

warnings.simplefilter("ignore")


async def sample(context, params):
    content = types.TextContent(type="text", text="sampled")
    return types.CreateMessageResult(role="assistant", content=content, model="m")


async def elicit(context, params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


def text_of(result):
    return "".join(part.text for part in result.content if part.type == "text")


async def step(client, action):
    match action["do"]:
        case "tools":
            return sorted(tool.name for tool in (await client.list_tools()).tools)
        case "call":
            result = await client.call_tool(action["name"], action["arguments"])
            rule = (result.meta or {}).get("callgate/rule")
            return {"text": text_of(result), "isError": bool(result.is_error), "rule": rule}
        case "resources":
            listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
            read = await client.read_resource(action["uri"])
            return {"uris": listed, "text": read.contents[0].text}
        case "prompts":
            listed = [prompt.name for prompt in (await client.list_prompts()).prompts]
            prompt = await client.get_prompt(action["name"], action["arguments"])
            return {"names": listed, "text": prompt.messages[0].content.text}
        case "progress":
            seen = []

            async def progress(done, total, message):
                seen.append(done)

            result = await client.call_tool(action["name"], action["arguments"], progress_callback=progress)
            return {"text": text_of(result), "seen": seen}
        case "cancel":
            with anyio.move_on_after(1.5) as scope:
                await client.call_tool(action["name"], action["arguments"])
            return {"cancelled": scope.cancelled_caught}


async def main():
    wanted = json.load(sys.stdin)
    server = wanted.get("url") or StdioServerParameters(
        command=wanted["command"][0], args=wanted["command"][1:], env=wanted["env"], cwd=wanted["cwd"]
    )

    async def roots(context):
        return types.ListRootsResult(roots=[types.Root(uri=wanted["root"])])

    client = Client(
        server,
        mode=wanted["mode"],
        sampling_callback=sample,
        list_roots_callback=roots,
        elicitation_callback=elicit,
        read_timeout_seconds=60,
    )
    async with client:
        done = [await step(client, action) for action in wanted["actions"]]
        print(json.dumps({"revision": client.protocol_version, "done": done}))


anyio.run(main)
