"""Tools of real MCP servers: child processes on the current SDK and on an older revision."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
import pytest_asyncio

pytest.importorskip("mcp", reason="needs the extra pytest-synaptum[mcp]")

from synaptum.errors import (
    ConfigurationError,
    InvalidToolCallError,
    NetworkError,
    RequestTimeoutError,
    ToolExecutionError,
)
from synaptum.mcp import MCPTools
from synaptum.tools import Tool, check_tool_names, deferred
from synaptum.vocabulary import Audio, Document, Image, Risk, Text
from synaptum.wording import SPANISH, use_wording

SERVERS = Path(__file__).parent / "servers"
#: What a server takes to be judged stuck; everything else answers in a fraction of it.
DEADLINE_S = 30.0

pytestmark = pytest.mark.asyncio(loop_scope="module")


def current(**options):
    options.setdefault("deadline", DEADLINE_S)
    return MCPTools.stdio(sys.executable, str(SERVERS / "current.py"), **options)


def legacy(*arguments, **options):
    options.setdefault("deadline", DEADLINE_S)
    return MCPTools.stdio(sys.executable, str(SERVERS / "legacy.py"), *arguments, **options)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared():
    """One current server for the tests that only ask it something."""
    async with current() as server:
        yield server


def by_name(tools):
    return {tool.name: tool for tool in tools}


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_current_server_speaks_the_2026_revision_and_its_pages_are_all_read(shared):
    assert shared.protocol_version == "2026-07-28"
    assert [tool.name for tool in shared] == [
        "silent",
        "look",
        "add",
        "table",
        "wrong_table",
        "fail",
        "ask",
        "environment",
    ]
    assert len(shared) == 8
    assert all(isinstance(tool, Tool) for tool in shared)


async def test_a_legacy_server_speaks_its_own_revision_and_its_pages_are_all_read():
    async with legacy() as server:
        assert server.protocol_version == "2025-06-18"
        assert [tool.name for tool in server][:2] == ["echo", "mixed"]
        assert len(server) == 10
        schema = by_name(server)["mixed"].definition.parameters
        result = await by_name(server)["echo"].invoke("c1", {"text": "año"})

    assert (result.call_id, result.content, result.is_error) == ("c1", (Text("año"),), False)
    assert schema == {"type": "object", "properties": {}}, "what it gave as null does not travel"


async def test_nothing_is_declared_that_a_server_could_use_against_its_caller():
    async with legacy() as server:
        import json

        said = json.loads(server._session.server_info.version)

    assert said["capabilities"].keys().isdisjoint({"roots", "sampling", "elicitation", "logging"})


async def test_hints_are_translated_with_the_protocols_own_defaults(shared):
    found = {
        tool.name: (tool.definition.risk, tool.definition.idempotent)
        for tool in shared
        if tool.name in ("silent", "look", "add")
    }
    destructive = [tool.name for tool in shared.destructivas]
    assert shared.destructive == shared.destructivas

    assert found == {
        "silent": (Risk.DESTRUCTIVE, False),
        "look": (Risk.READ, False),
        "add": (Risk.SOFT_WRITE, True),
    }
    assert destructive == ["silent", "wrong_table", "fail", "ask", "environment"]


async def test_the_prefix_is_the_models_name_and_does_not_travel():
    async with current(prefix="git.") as server:
        result = await by_name(server)["git.look"].invoke("c1", {"name": "it"})

    assert result.text == "saw it"


async def test_two_servers_of_one_name_are_refused_and_prefixes_part_them():
    async with legacy() as first, legacy() as second, legacy(prefix="b_") as third:
        with pytest.raises(ConfigurationError, match="Two tools are called 'echo'"):
            check_tool_names([*first, *second])
        assert len(check_tool_names([*first, *third])) == 20


async def test_one_server_that_lists_a_name_twice_is_refused():
    with pytest.raises(ConfigurationError, match="Two tools are called 'same'"):
        async with legacy("twice"):
            pass


async def test_arguments_are_checked_against_the_servers_schema_before_anything_is_sent(shared):
    with pytest.raises(InvalidToolCallError, match="At \\$: name is required and missing"):
        await by_name(shared)["look"].invoke("c1", {})


async def test_structured_content_is_kept_and_is_the_text_where_there_is_no_other(shared):
    result = await by_name(shared)["table"].invoke("c1", {})

    assert result.text == '{"rows":[{"id":"t1"}]}'
    assert result.structured == {"rows": [{"id": "t1"}]}


async def test_an_answer_that_breaks_its_own_schema_is_an_error_result(shared):
    result = await by_name(shared)["wrong_table"].invoke("c1", {})

    assert result.is_error
    assert "the server's answer is not what it declares" in result.text


async def test_a_servers_error_is_the_results_error_in_its_own_words(shared):
    result = await by_name(shared)["fail"].invoke("c1", {})

    assert (result.text, result.is_error) == ("Error executing tool fail", True)


async def test_an_error_without_a_word_still_tells_the_model_what_to_do():
    async with legacy() as server:
        with use_wording(SPANISH):
            result = await by_name(server)["silent_error"].invoke("c1", {})

    assert result.is_error
    assert result.text.startswith("silent_error falló: el servidor comunica un error")


async def test_an_answer_that_asks_for_input_is_an_error_result(shared):
    result = await by_name(shared)["ask"].invoke("c1", {})

    assert result.is_error
    assert "asks for input from a person" in result.text


async def test_a_legacy_server_that_asks_in_the_middle_of_a_call_is_refused():
    async with legacy() as server:
        result = await by_name(server)["ask"].invoke("c1", {})

    assert (result.text, result.is_error) == ("refused=True", True)


async def test_every_content_block_is_kept_in_order():
    async with legacy() as server:
        result = await by_name(server)["mixed"].invoke("c1", {})

    assert result.content == (
        Text("A"),
        Image("image/png", data="iVBO"),
        Audio("audio/wav", data="UklG"),
        Text("[a.txt: file:///a.txt]"),
        Text("inside"),
        Document("application/pdf", data="AAEC", name="file:///c.bin"),
        Text("B"),
    )


async def test_a_protocol_error_is_an_error_result():
    async with legacy() as server:
        refused = await by_name(server)["refuse"].invoke("c1", {})
        nonsense = await by_name(server)["nonsense"].invoke("c2", {})
        after = await by_name(server)["echo"].invoke("c3", {"text": "still here"})

    assert (refused.is_error, nonsense.is_error) == (True, True)
    assert "Unknown tool: refuse" in refused.text
    assert "not what it declares" in nonsense.text
    assert after.text == "still here"


@pytest.mark.parametrize("mode", ["plain", "chatty"])
async def test_stray_lines_on_stdout_are_passed_over(mode):
    async with legacy(mode) as server:
        result = await by_name(server)["chatter"].invoke("c1", {})
        again = await by_name(server)["echo"].invoke("c2", {"text": "again"})

    assert (result.text, again.text) == ("ok", "again")


async def test_half_a_character_in_the_arguments_does_not_cost_the_connection():
    async with legacy() as server:
        echo = by_name(server)["echo"]
        refused = await echo.invoke("c1", {"text": "\ud83d"})
        after = await echo.invoke("c2", {"text": "\U0001f600 \u2028 año"})

    assert refused.is_error
    assert "half a character" in refused.text
    assert after.text == "\U0001f600 \u2028 año"


async def test_many_calls_at_once_each_get_their_own_answer_also_after_a_cancelled_one():
    async with legacy() as server:
        tools = by_name(server)
        cancelled = asyncio.create_task(tools["never"].invoke("c0", {}))
        answers = await asyncio.gather(
            *(tools["echo"].invoke(f"c{n}", {"text": str(n)}) for n in range(50))
        )
        cancelled.cancel()
        await asyncio.wait({cancelled})
        after = await tools["echo"].invoke("c51", {"text": "after"})

    assert [answer.text for answer in answers] == [str(n) for n in range(50)]
    assert after.text == "after"


async def test_a_server_that_dies_in_a_call_is_told_at_once_with_what_it_said_last():
    async with legacy(env={"SERVICE_KEY": "sk-very-secret"}) as server:
        async with asyncio.timeout(DEADLINE_S / 2):
            result = await by_name(server)["die"].invoke("c1", {})
            after = await by_name(server)["echo"].invoke("c2", {"text": "x"})

    assert (result.is_error, after.is_error) == (True, True)
    assert "the server has ended" in result.text
    assert "boom: the key is ***" in result.text
    assert "sk-very-secret" not in result.text


async def test_a_server_that_never_answers_a_call_meets_the_deadline_and_lives_on():
    async with legacy(deadline=1.0) as server:
        tools = by_name(server)
        result = await tools["never"].invoke("c1", {})
        with pytest.raises(ToolExecutionError, match="within 1 seconds") as caught:
            await tools["never_safe"].invoke("c2", {})
        after = await tools["echo"].invoke("c3", {"text": "here"})

    assert result.is_error
    assert "The same call may succeed later" in result.text
    assert caught.value.retryable
    assert after.text == "here"


async def test_a_server_that_never_gets_ready_meets_the_deadline_and_is_ended(tmp_path):
    pid_file = tmp_path / "pid"

    with pytest.raises(RequestTimeoutError, match="did not get ready within 1 seconds"):
        async with legacy("deaf", str(pid_file), deadline=1.0):
            pass

    assert not is_alive(int(pid_file.read_text(encoding="utf-8")))


async def test_a_server_that_ends_at_once_is_told_with_its_last_words():
    with pytest.raises(NetworkError, match=r"could not be opened: .*no licence found"):
        async with legacy("broken"):
            pass


async def test_a_command_that_does_not_exist_is_a_configuration_error():
    with pytest.raises(ConfigurationError, match="cannot be started: No such file"):
        async with MCPTools.stdio("no-such-mcp-server"):
            pass


async def test_a_catalogue_without_end_is_refused():
    with pytest.raises(ConfigurationError, match="1000 pages"):
        async with legacy("endless"):
            pass


async def test_a_schema_without_properties_is_completed_and_an_unreadable_one_left_to_the_server():
    async with legacy("schemas") as server:
        tools = by_name(server)
        assert tools["ok"].definition.parameters == {"type": "object", "properties": {}}
        with pytest.raises(InvalidToolCallError):
            await tools["either"].invoke("c1", {})
        assert (await tools["far"].invoke("c2", {"any": 1})).text == "far"


async def test_a_catalogue_that_the_protocol_does_not_allow_is_refused_naming_the_place():
    with pytest.raises(ConfigurationError, match=r"tools\.0\.inputSchema\.type"):
        async with legacy("array"):
            pass


@pytest.mark.parametrize("how", ["end", "error", "cancel"])
async def test_leaving_the_block_ends_the_child_process(how, tmp_path):
    pid_file = tmp_path / "pid"
    inside = asyncio.Event()

    async def use():
        async with legacy("plain", str(pid_file)):
            inside.set()
            if how == "error":
                raise LookupError
            if how == "cancel":
                await asyncio.Event().wait()

    task = asyncio.create_task(use())
    await inside.wait()
    if how == "cancel":
        task.cancel()
    done, _ = await asyncio.wait({task}, timeout=DEADLINE_S)

    assert done == {task}
    assert task.cancelled() is (how == "cancel")
    assert isinstance(None if task.cancelled() else task.exception(), LookupError) is (
        how == "error"
    )
    assert not is_alive(int(pid_file.read_text(encoding="utf-8")))


async def test_cancelling_while_closing_still_ends_the_child_process(tmp_path):
    pid_file = tmp_path / "pid"
    inside = asyncio.Event()

    async def use():
        async with legacy("plain", str(pid_file)):
            inside.set()

    task = asyncio.create_task(use())
    await inside.wait()
    await asyncio.sleep(0)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0)
    await asyncio.wait({task}, timeout=DEADLINE_S)

    assert task.cancelled()
    assert not is_alive(int(pid_file.read_text(encoding="utf-8")))


async def test_cancelling_while_opening_ends_the_child_process(tmp_path):
    pid_file = tmp_path / "pid"
    server = legacy("deaf", str(pid_file))
    task = asyncio.create_task(server.__aenter__())
    async with asyncio.timeout(DEADLINE_S):
        while not (pid_file.exists() and pid_file.read_text(encoding="utf-8")):
            await asyncio.sleep(0.01)

    task.cancel()
    await asyncio.wait({task}, timeout=DEADLINE_S)

    assert task.cancelled()
    assert not is_alive(int(pid_file.read_text(encoding="utf-8")))


async def test_a_block_may_be_entered_in_one_task_and_left_in_another():
    server = legacy()
    await asyncio.create_task(server.__aenter__())
    result = await asyncio.create_task(by_name(server)["echo"].invoke("c1", {"text": "x"}))
    await asyncio.create_task(server.__aexit__(None, None, None))

    assert result.text == "x"
    assert len(server) == 10  # what was listed can still be looked at
    with pytest.raises(ConfigurationError, match="is closed"):
        await by_name(server)["echo"].invoke("c2", {})


async def test_tools_cannot_be_used_before_the_block_and_a_block_is_entered_once():
    server = legacy()
    with pytest.raises(ConfigurationError, match="use it inside `async with`"):
        list(server)
    async with server:
        with pytest.raises(ConfigurationError, match="opened twice"):
            await server.__aenter__()


async def test_the_parents_environment_does_not_reach_the_server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-parent")
    async with current(env={"GIVEN": "yes"}) as server:
        tool = by_name(server)["environment"]
        kept_back = await tool.invoke("c1", {"name": "OPENAI_API_KEY"})
        given = await tool.invoke("c2", {"name": "GIVEN"})

    assert (kept_back.text, given.text) == ("(absent)", "yes")


async def test_a_connected_session_is_used_and_stays_open():
    from mcp import Client, StdioServerParameters

    parameters = StdioServerParameters(command=sys.executable, args=[str(SERVERS / "current.py")])
    async with Client(parameters) as client:
        async with MCPTools.connected(client, prefix="c_") as server:
            assert (await by_name(server)["c_look"].invoke("c1", {"name": "x"})).text == "saw x"
        assert (await client.list_tools()).tools
        async with MCPTools.connected(client.session) as server:
            assert len(server) == 8


async def test_a_server_over_http_gives_the_same_tools_and_headers_never_show():
    process = subprocess.Popen(
        [sys.executable, str(SERVERS / "current.py"), "http"], stdout=subprocess.PIPE, text=True
    )
    try:
        url = process.stdout.readline().strip()
        server = MCPTools.http(
            url, headers={"Authorization": "Bearer sk-secret"}, prefix="far_", deadline=DEADLINE_S
        )
        async with server:
            result = await by_name(server)["far_look"].invoke("c1", {"name": "it"})
            assert server.protocol_version == "2026-07-28"
            assert "sk-secret" not in repr(server)
    finally:
        process.kill()
        process.communicate()

    assert result.text == "saw it"


async def test_a_url_where_nobody_listens_is_a_network_error_without_its_query():
    with pytest.raises(
        NetworkError, match=r"http://127\.0\.0\.1/mcp could not be opened"
    ) as caught:
        async with MCPTools.http("http://127.0.0.1:9/mcp?key=sk-secret", deadline=5.0):
            pass

    assert "sk-secret" not in str(caught.value)


async def test_remote_tools_stand_behind_a_deferred_catalogue_with_their_risk(shared):
    search, dispatch = deferred(shared)
    found = await search.invoke("c1", {"consulta": "look"})
    called = await dispatch.invoke("c2", {"nombre": "look", "argumentos": {"name": "it"}})

    assert found.structured[0]["name"] == "look"
    assert called.text == "saw it"
    assert dispatch.definition.risk is Risk.DESTRUCTIVE


async def test_a_server_that_somebody_else_wrote_works():
    pytest.importorskip("mcp_server_time", reason="needs mcp-server-time")
    async with MCPTools.stdio(
        sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC", deadline=DEADLINE_S
    ) as server:
        assert [tool.name for tool in server] == ["get_current_time", "convert_time"]
        result = await by_name(server)["convert_time"].invoke(
            "c1",
            {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
        )
        assert not result.is_error
        assert "+9.0h" in result.text
