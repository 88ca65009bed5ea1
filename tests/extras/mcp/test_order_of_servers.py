"""The catalogue stands in the order that the agent was given, whichever server was ready first."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs the extra pytest-synaptum[mcp]")

from support.agents import MODEL, run, session_of

from synaptum import Agent
from synaptum.mcp import MCPTools
from synaptum.providers.openai_compatible import OpenAICompatible
from synaptum.testing import ScriptedModel

LEGACY = Path(__file__).parent / "servers" / "legacy.py"


async def tools_asked_with(opened_first: str) -> str:
    servers = {
        prefix: MCPTools.stdio(sys.executable, str(LEGACY), prefix=prefix, deadline=30.0)
        for prefix in ("files_", "git_")
    }
    async with contextlib.AsyncExitStack() as stack:
        for prefix in sorted(servers, key=lambda name: name != opened_first):
            await stack.enter_async_context(servers[prefix])
        offered = [*servers["files_"], *servers["git_"]]
        model = ScriptedModel("Done.")
        await run(Agent("a", model=MODEL, tools=offered), "Go", session_of(model, offered))
    return json.dumps(OpenAICompatible().to_wire(model.requests[0])["tools"])


@pytest.mark.asyncio
async def test_the_tools_are_the_same_bytes_whichever_server_was_ready_first():
    one = await tools_asked_with("files_")

    assert await tools_asked_with("git_") == one
    assert one.index('"files_echo"') < one.index('"git_echo"')
