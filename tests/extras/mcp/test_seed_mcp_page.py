"""The seeds' page on MCP, as printed, against the server it names; only `uvx` is this Python."""

import subprocess
import sys

import pytest

pytest.importorskip("mcp", reason="needs the extra pytest-synaptum[mcp]")
pytest.importorskip("mcp_server_git", reason="needs mcp-server-git")

from synaptum.agent import Agent
from synaptum.agent.session import Session
from synaptum.gateway.local import LocalGateway
from synaptum.mcp import MCPTools
from synaptum.vocabulary import FinishReason, Message, Response, Role, Text, ToolCall


def answer(*parts):
    reason = FinishReason.STOP if isinstance(parts[0], Text) else FinishReason.TOOL_CALLS
    return Response(Message(Role.ASSISTANT, parts), reason)


@pytest.mark.asyncio
async def test_an_agent_uses_the_tools_of_a_git_server_as_its_own(tmp_path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    (tmp_path / "new.txt").write_text("x", encoding="utf-8")
    path = str(tmp_path)
    answers = iter(
        [
            answer(ToolCall("c1", "git.git_status", {"repo_path": path})),
            answer(Text("One file is new.")),
        ]
    )
    requests = []

    def model(request):
        requests.append(request)
        return next(answers)

    async with MCPTools.stdio(
        sys.executable, "-m", "mcp_server_git", "--repository", path, prefix="git."
    ) as git:
        agente = Agent("dev", model="openai-compatible:m", tools=list(git))
        gateway = LocalGateway(model=model, tools=git)
        steps = [step async for step in agente.run("What is new?", session=Session("r1", gateway))]
        destructive = [t.name for t in git.destructivas]

    assert steps[-1].output == "One file is new."
    assert "new.txt" in requests[1].messages[-1].content[0].text
    assert "git.git_reset" in destructive
    assert "git.git_status" not in destructive
