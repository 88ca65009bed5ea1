"""A server on the SDK, revision 2026-07-28 and older: what a well-behaved server does."""

import asyncio
import os
import sys

import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

OBJECT = {"type": "object", "properties": {}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def annotated(**hints):
    return types.ToolAnnotations(**hints)


TOOLS = [
    types.Tool(name="silent", description="Says nothing of itself.", input_schema=OBJECT),
    types.Tool(
        name="look",
        description="Looks only.",
        input_schema=NAME,
        annotations=annotated(read_only_hint=True),
    ),
    types.Tool(
        name="add",
        input_schema=OBJECT,
        annotations=annotated(destructive_hint=False, idempotent_hint=True),
    ),
    types.Tool(
        name="table",
        input_schema=OBJECT,
        output_schema={"type": "object", "required": ["rows"]},
        annotations=annotated(read_only_hint=True),
    ),
    types.Tool(name="wrong_table", input_schema=OBJECT, output_schema={"required": ["rows"]}),
    types.Tool(name="fail", input_schema=OBJECT),
    types.Tool(name="ask", input_schema=OBJECT),
    types.Tool(name="environment", input_schema=NAME),
]


async def list_tools(context, parameters):
    # Three a page.
    start = int(parameters.cursor) if parameters is not None and parameters.cursor else 0
    following = str(start + 3) if start + 3 < len(TOOLS) else None
    return types.ListToolsResult(tools=TOOLS[start : start + 3], next_cursor=following)


async def call_tool(context, parameters):
    name, arguments = parameters.name, parameters.arguments or {}
    if name == "look":
        return text(f"saw {arguments['name']}")
    if name == "table":
        return types.CallToolResult(content=[], structured_content={"rows": [{"id": "t1"}]})
    if name == "wrong_table":
        return types.CallToolResult(content=[], structured_content={"columns": 1})
    if name == "fail":
        return types.CallToolResult(
            content=[types.TextContent(text="Error executing tool fail")], is_error=True
        )
    if name == "ask":
        return types.InputRequiredResult(request_state="waiting for a person")
    if name == "environment":
        return text(os.environ.get(arguments["name"], "(absent)"))
    return text(name)


def text(words):
    return types.CallToolResult(content=[types.TextContent(text=words)])


async def main():
    server = Server("current", on_list_tools=list_tools, on_call_tool=call_tool)
    if sys.argv[1:] == ["http"]:
        await serve_http(server)
        return
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http(server):
    import uvicorn

    application = server.streamable_http_app()
    config = uvicorn.Config(application, host="127.0.0.1", port=0, log_level="error")
    running = uvicorn.Server(config)
    task = asyncio.create_task(running.serve())
    while not running.started:
        await asyncio.sleep(0.01)
    port = running.servers[0].sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    await task


asyncio.run(main())
