"""Command line, environment, ini and marker: what is meant is done, what cannot be is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream
from support.recorded_suite import RecordedSuite

CHAT = """
def test_chat(recorded_provider):
    ask(recorded_provider)
"""


@pytest.mark.parametrize("flag", ["record", "rerecord", "update"])
def test_writing_is_refused_in_ci(suite: RecordedSuite, flag: str) -> None:
    suite.write(CHAT)
    suite.pytester._monkeypatch.setenv("CI", "1")

    result = suite.run(f"--synaptum-{flag}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: --synaptum-{flag} is refused because CI is set: *--synaptum-force*"]
    )


def test_force_records_in_ci(suite: RecordedSuite) -> None:
    suite.write(CHAT)
    suite.pytester._monkeypatch.setenv("CI", "1")
    with LoopbackServer([Answer(body=chat_body())]) as server:
        suite.record(server, "--synaptum-force").assert_outcomes(passed=1)


def test_a_word_for_no_is_not_ci(suite: RecordedSuite) -> None:
    suite.write("def test_x(): pass")
    suite.pytester._monkeypatch.setenv("CI", "false")

    assert suite.run("--synaptum-update").ret == 0


def test_the_environment_names_server_model_and_key(suite: RecordedSuite) -> None:
    suite.write(CHAT)
    monkeypatch = suite.pytester._monkeypatch
    with LoopbackServer([Answer(body=chat_body())]) as server:
        monkeypatch.setenv("SYNAPTUM_BASE_URL", server.base_url)
        monkeypatch.setenv("SYNAPTUM_MODEL", "env-model")
        monkeypatch.setenv("SYNAPTUM_API_KEY", "env-key-0123")
        suite.run("--synaptum-record").assert_outcomes(passed=1)

    assert server.requests[0].json()["model"] == "env-model"
    assert server.requests[0].header("authorization") == "Bearer env-key-0123"


@pytest.mark.parametrize("place", ["the command line", "the ini file"])
def test_an_address_beside_the_embedded_server_is_wrong_usage(
    suite: RecordedSuite, place: str
) -> None:
    suite.write(CHAT)
    url = "http://localhost:1/v1"
    if place == "the command line":
        result = suite.run("--synaptum-server=local", f"--synaptum-base-url={url}")
    else:
        ini = f"[pytest]\nsynaptum_server = local\nsynaptum_base_url = {url}\n"
        suite.pytester.makeini(ini)
        result = suite.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *server* starts a server of its own and *; take one *"])


@pytest.mark.parametrize(
    ("arguments", "environment", "ini", "asks"),
    [
        (["--synaptum-server=local"], "http://localhost:1/v1", "", "the embedded server"),
        (["--synaptum-server=local"], "", "synaptum_base_url", "the embedded server"),
        (["--synaptum-base-url=http://localhost:1/v1"], "", "synaptum_server", "the address"),
        ([], "http://localhost:1/v1", "synaptum_server", "the address"),
    ],
)
def test_between_an_address_and_the_embedded_server_the_nearer_setting_wins(
    suite: RecordedSuite, arguments: list[str], environment: str, ini: str, asks: str
) -> None:
    suite.write(CHAT)
    values = {"synaptum_base_url": "http://localhost:1/v1", "synaptum_server": "local", "": ""}
    suite.pytester.makeini(f"[pytest]\n{ini and ini + ' = ' + values[ini]}\n")
    suite.pytester._monkeypatch.setenv("SYNAPTUM_BASE_URL", environment)
    arguments = [*arguments, "--synaptum-model=no-such-file.gguf"]

    result = suite.run("--synaptum-record", *arguments)

    told = {
        "the embedded server": "*there is no model file no-such-file.gguf*",
        "the address": "*No server answers at http://localhost:1 *",
    }
    result.stdout.fnmatch_lines([told[asks]])


def test_ini_settings_stand_behind_the_command_line(suite: RecordedSuite) -> None:
    suite.write(CHAT)
    monkeypatch = suite.pytester._monkeypatch
    monkeypatch.setenv("MY_KEY", "ini-key-0123")
    with LoopbackServer(lambda _: Answer(body=chat_body())) as server:
        suite.pytester.makeini(
            f"[pytest]\nasyncio_default_fixture_loop_scope = function\nsynaptum_rerecord = true\n"
            f"synaptum_base_url = {server.base_url}\nsynaptum_model = ini-model\n"
            f"synaptum_api_key_variable = MY_KEY\n"
        )
        suite.run().assert_outcomes(passed=1)
        suite.run("--synaptum-model=given").assert_outcomes(passed=1)

    assert [request.json()["model"] for request in server.requests] == ["ini-model", "given"]
    assert server.requests[0].header("authorization") == "Bearer ini-key-0123"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("recrod='once'", "has no argument 'recrod'; allowed are cassette, base_url, model, match"),
        ("'once'", "takes no positional arguments, but got 'once'"),
        ("ignore=3", "wants ignore= to be a text or a list of texts, but got 3"),
        ("match=['json']", "wants match= to be of method, path, query, body, but got ['json']"),
        ("match=[]", "wants match= to be of method, path, query, body, but got []"),
        ("allow_network='yes'", "wants allow_network= to be True or False, but got 'yes'"),
        ("cassette=''", "wants cassette= to be a text, but got ''"),
    ],
)
def test_a_misspelt_marker_is_a_usage_error(
    suite: RecordedSuite, arguments: str, says: str
) -> None:
    suite.write(f"@pytest.mark.synaptum({arguments})\ndef test_x(): pass\n")

    result = suite.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stdout.str() + result.stderr.str()
    assert f"test_chat.py::test_x: the marker synaptum {says}" in text


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("base_url='foo'", "The base URL 'foo' is no address of a server: it begins with http://"),
        ("base_url='http://h:99999/v1'", "correct the marker's base_url=."),
        ("cassette='../../x'", "cassette='../../x' is no name inside the cassettes folder; use"),
        ("cassette='/x'", "cassette='/x' is no name inside the cassettes folder; use letters"),
    ],
)
def test_a_value_of_the_marker_that_cannot_be_is_refused_before_anything_runs(
    suite: RecordedSuite, argument: str, says: str
) -> None:
    suite.write(f"@pytest.mark.synaptum({argument})\ndef test_x(): pass\n")

    result = suite.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stdout.str() + result.stderr.str()
    assert "test_chat.py::test_x: " in text
    assert says in text


@pytest.mark.parametrize("name", ["synaptun", "synaptm", "Synaptum", "sinaptum"])
def test_a_misspelt_name_of_the_marker_is_a_usage_error(suite: RecordedSuite, name: str) -> None:
    suite.write(f"@pytest.mark.{name}(allow_network=True)\ndef test_x(): pass\n")

    result = suite.run("-W", "ignore::pytest.PytestUnknownMarkWarning")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stdout.str() + result.stderr.str()
    assert f"there is no marker '{name}'; write @pytest.mark.synaptum(...)." in text


def test_a_registered_marker_of_a_like_name_is_somebody_elses(suite: RecordedSuite) -> None:
    suite.pytester.makeini(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\n"
        "markers =\n    synaptum2: of another plugin\n"
    )
    suite.write("@pytest.mark.synaptum2\ndef test_x(): pass\n")

    suite.run().assert_outcomes(passed=1)


def test_no_server_named_says_how_to_name_one(suite: RecordedSuite) -> None:
    suite.write(CHAT)

    result = suite.run("--synaptum-record")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["There is no live server to record from: give its address with --synaptum-base-url *"]
    )
    assert not (suite.pytester.path / "cassettes").exists()


def test_no_server_there_says_so_in_one_sentence(suite: RecordedSuite) -> None:
    suite.write(CHAT)
    with LoopbackServer() as server:
        gone = server.base_url

    result = suite.run("--synaptum-record", f"--synaptum-base-url={gone}", "--synaptum-model=m")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["No server answers at http://127.0.0.1:* (Connection refused): start it, or correct *"]
    )
    result.stdout.no_fnmatch_line("*another exception occurred*")
    assert not (suite.pytester.path / "cassettes").exists()


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x/", "http://", "http://x:y/"])
def test_a_base_url_that_is_none_is_told(suite: RecordedSuite, url: str) -> None:
    suite.write(CHAT)

    result = suite.run("--synaptum-record", f"--synaptum-base-url={url}")

    result.stdout.fnmatch_lines([f"The base URL '{url}' is no address of a server: *"])


@pytest.mark.parametrize("by", ["option", "environment", "marker", "fixture"])
def test_slashes_at_the_end_of_a_base_url_do_not_count(suite: RecordedSuite, by: str) -> None:
    test = """
def test_chat(recorded_http):
    import urllib.request
    assert not recorded_http.base_url.endswith("/")
    urllib.request.urlopen(recorded_http.base_url + "/models").read()
"""
    with LoopbackServer([Answer(body=b"{}")]) as server:
        url = f"{server.base_url}//"
        args = ["--synaptum-record"]
        if by == "option":
            args.append(f"--synaptum-base-url={url}")
        elif by == "environment":
            suite.pytester._monkeypatch.setenv("SYNAPTUM_BASE_URL", url)
        elif by == "marker":
            test = f"@pytest.mark.synaptum(base_url={url!r}){test}"
        else:
            test += f"@pytest.fixture\ndef synaptum_base_url():\n    return {url!r}\n"
        suite.write(test)
        suite.run(*args).assert_outcomes(passed=1)

    assert server.requests[0].path == "/v1/models"
    suite.run("--synaptum-strict").assert_outcomes(passed=1)
    assert "base_path" not in suite.cassette("test_chat").read_text(encoding="utf-8")


def test_no_model_says_how_to_name_one(suite: RecordedSuite) -> None:
    suite.write(CHAT)
    with LoopbackServer() as server:
        result = suite.run("--synaptum-record", f"--synaptum-base-url={server.base_url}")

    result.stdout.fnmatch_lines(["There is no model to ask: give its name with --synaptum-model *"])


@pytest.mark.parametrize(
    ("status", "key", "says"),
    [
        (
            401,
            "",
            "the live server wants a key (status 401) and none is set; set SYNAPTUM_API_KEY",
        ),
        (
            401,
            "a-wrong-key-0123",
            "the live server refused the key that SYNAPTUM_API_KEY holds (status 401); correct it",
        ),
        (404, "", "the live server knows no /v1/chat/completions (status 404); check *base-url*"),
    ],
)
def test_a_refused_recording_is_kept_back_with_what_to_do(
    suite: RecordedSuite, status: int, key: str, says: str
) -> None:
    suite.write(CHAT)
    suite.pytester._monkeypatch.setenv("SYNAPTUM_API_KEY", key)
    with LoopbackServer([Answer(status=status, body=b'{"error":{"message":"no"}}')]) as server:
        result = suite.record(server)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [f"  not written: cassettes/test_chat/test_chat.yaml: the test did not pass; {says}"]
    )
    assert not suite.cassette("test_chat").exists()


def test_an_answer_that_says_not_now_is_not_kept_unless_forced(suite: RecordedSuite) -> None:
    suite.write(
        """
        from synaptum import ProviderError
        def test_chat(recorded_provider):
            with pytest.raises(ProviderError):
                ask(recorded_provider)
        """
    )
    body = b'{"error":{"message":"slow down"}}'
    with LoopbackServer(lambda _: Answer(status=429, body=body)) as server:
        kept_back = suite.record(server)
        assert not suite.cassette("test_chat").exists()
        forced = suite.record(server, "--synaptum-force")

    kept_back.stdout.fnmatch_lines(
        ["  not written: *: the server answered 429, which is no answer to keep; record again*"]
    )
    forced.assert_outcomes(passed=1)
    suite.run().assert_outcomes(passed=1)


SWALLOWS = """
def test_chat(recorded_provider):
    from synaptum import ProviderError
    try:
        asyncio.run(events(recorded_provider))
    except ProviderError:
        pass
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error":{"code":429,"message":"slow down"}}', "429"),
        (b'{"error":{"code":"rate_limit_exceeded"}}', "an error that passes"),
        (b'data: {"error":{"code":503}}\n\n', "503"),
        (b'data: {"choices":[{"index":0,"error":{"code":502}}]}\n\ndata: [DONE]\n\n', "502"),
        (b'data: {"choices":[]}\n\ndata: {"error":{"type":"overloaded_error"}}', "an error that*"),
    ],
)
def test_a_passing_error_inside_a_good_status_leaves_the_old_cassette_unless_forced(
    suite: RecordedSuite, body: bytes, said: str
) -> None:
    suite.write(SWALLOWS)
    kind = "application/json" if body.startswith(b"{") else "text/event-stream"
    bad = Answer(body=body, headers=(("content-type", kind),))
    with LoopbackServer([Answer(chunks=chat_stream(["Hello."])), bad, bad]) as server:
        suite.record(server).assert_outcomes(passed=1)
        before = suite.cassette("test_chat").read_bytes()
        kept_back = suite.record(server, flag="--synaptum-rerecord")
        after = suite.cassette("test_chat").read_bytes()
        suite.record(server, "--synaptum-force", flag="--synaptum-rerecord")

    kept_back.stdout.fnmatch_lines(
        [f"  not written: *: the server answered {said} inside a status 200, which is no answer*"]
    )
    assert after == before
    assert suite.cassette("test_chat").read_bytes() != before


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"code":400,"message":"no such model"}}',
        b'{"error":{"code":429,"type":"insufficient_quota"}}',
        chat_body('{"error":{"code":429}}'),
    ],
)
def test_an_answer_that_stays_so_is_kept(suite: RecordedSuite, body: bytes) -> None:
    suite.write(
        SWALLOWS.replace("asyncio.run(events(recorded_provider))", "ask(recorded_provider)")
    )
    with LoopbackServer([Answer(body=body)]) as server:
        suite.record(server).assert_outcomes(passed=1)

    assert suite.cassette("test_chat").exists()


def test_a_failed_test_leaves_the_old_cassette_as_it_was(suite: RecordedSuite) -> None:
    suite.write(
        """
        import os
        def test_chat(recorded_provider):
            assert ask(recorded_provider).text == os.environ.get("WANTED", "one")
        """
    )
    with LoopbackServer([Answer(body=chat_body("one")), Answer(body=chat_body("two"))]) as server:
        suite.record(server).assert_outcomes(passed=1)
        before = suite.cassette("test_chat").read_bytes()
        suite.record(server, flag="--synaptum-rerecord").assert_outcomes(failed=1)

    assert suite.cassette("test_chat").read_bytes() == before


def test_an_unwritable_folder_is_told_and_nothing_is_left(suite: RecordedSuite) -> None:
    suite.write(CHAT)
    (suite.pytester.path / "cassettes").write_text("in the way", encoding="utf-8")
    with LoopbackServer([Answer(body=chat_body())]) as server:
        result = suite.record(server)

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["The cassette cassettes/test_chat/test_chat.yaml cannot be written (*), so nothing of*"]
    )
    result.stdout.no_fnmatch_line("*another exception occurred*")


def test_a_cassette_that_another_attempt_wrote_is_not_said_to_be_missing(
    suite: RecordedSuite,
) -> None:
    suite.write(
        """
        @pytest.mark.parametrize("good", [False, True])
        @pytest.mark.synaptum(cassette="shared")
        def test_chat(recorded_provider, good):
            ask(recorded_provider)
            assert good
        """
    )
    with LoopbackServer([Answer(body=chat_body())] * 2) as server:
        result = suite.record(server)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["  wrote: cassettes/shared.yaml: 1 exchange, *"])
    result.stdout.no_fnmatch_line("*not written:*")


def test_workers_of_xdist_send_their_numbers_home(suite: RecordedSuite) -> None:
    suite.write(
        """
        @pytest.mark.parametrize("n", range(4))
        def test_chat(recorded_provider, n):
            ask(recorded_provider, str(n))
        """
    )
    with LoopbackServer(lambda _: Answer(body=chat_body())) as server:
        recorded = suite.record(server, "-n", "2", "-p", "xdist")
    replayed = suite.run("-n", "2", "-p", "xdist")

    recorded.assert_outcomes(passed=4)
    recorded.stdout.fnmatch_lines(["synaptum: 0 exchanges replayed, 4 recorded, 0 unused"])
    replayed.stdout.fnmatch_lines(["synaptum: 4 exchanges replayed, 0 recorded, 0 unused; 40 *"])
    assert len(list(suite.pytester.path.rglob("*.yaml"))) == 4


def test_the_plugin_works_without_xdist(suite: RecordedSuite) -> None:
    suite.write("def test_x(): pass")

    suite.run("-p", "no:xdist").assert_outcomes(passed=1)


def test_loading_the_plugin_loads_nothing_heavy() -> None:
    script = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import pytest_synaptum.plugin, pytest_synaptum.fixtures\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )

    loaded = set(output.stdout.split())

    heavy = {"yaml", "httpx", "deepdiff", "vcr", "asyncio", "urllib.request", "http.client", "ssl"}
    assert loaded & heavy == set()
    assert {name.split(".")[0] for name in loaded} == {"pytest_synaptum"}
