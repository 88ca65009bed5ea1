"""`--synaptum-report`: what the page holds, and what it never holds."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.chat import chat_body
from support.loopback import Answer, LoopbackServer
from support.recorded_suite import RecordedSuite

CASE = Path(__file__).parents[3] / "corpus/openai_chat/derived/stream-calls-all-index-zero"

AGENT = """
from pytest_synaptum import calls, says
from synaptum import Agent, LocalGateway, Session, tool
from synaptum.vocabulary import Usage

@tool
def search(q: str) -> str:
    "Search."
    return "found " + q

def go(gateway, run_id="r1"):
    async def run():
        tools = [search] if gateway.runs_tool("search") else []
        agent = Agent("a", model="scripted", tools=tools)
        session = Session(run_id, gateway)
        steps = [step async for step in agent.run("Hi", session=session)]
        return steps[-1].output, await session.state()
    return asyncio.run(run())
"""


class Page:
    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        blocks = re.findall(
            r'<script type="application/json" id="([\w-]+)">(.*?)</script>', self.text
        )
        self.blocks: dict[str, Any] = {name: json.loads(text) for name, text in blocks}
        self.rows = self.blocks["rows"]
        parts = [self.blocks[f"part-{number}"] for number in range(len(self.rows))]
        self.tests = {part["id"].rpartition("::")[2]: part for part in parts}


def page_of(suite: RecordedSuite, tests: str, *args: str) -> Page:
    suite.write(AGENT + tests)
    suite.run("--synaptum-report=page.html", *args)
    return Page(suite.pytester.path / "page.html")


def test_every_test_stands_there_in_order_with_its_outcome(suite):
    page = page_of(
        suite,
        """
@pytest.fixture
def broken():
    raise RuntimeError("no")

@pytest.fixture
def breaks_after():
    yield
    raise RuntimeError("after")

def test_passes(): pass
def test_fails(): assert 1 == 2
def test_breaks(broken): pass
def test_breaks_after(breaks_after): pass
@pytest.mark.skip(reason="not now")
def test_skipped(): pass
@pytest.mark.xfail(reason="known")
def test_xfails(): assert False
@pytest.mark.xfail(reason="known", strict=False)
def test_xpasses(): pass
""",
    )

    assert [(row["id"], row["outcome"]) for row in page.rows] == [
        ("test_chat.py::test_passes", "passed"),
        ("test_chat.py::test_fails", "failed"),
        ("test_chat.py::test_breaks", "error"),
        ("test_chat.py::test_breaks_after", "error"),
        ("test_chat.py::test_skipped", "skipped"),
        ("test_chat.py::test_xfails", "xfailed"),
        ("test_chat.py::test_xpasses", "xpassed"),
    ]
    assert "assert 1 == 2" in page.tests["test_fails"]["failure"]
    assert page.tests["test_skipped"]["failure"] == "Skipped: not now"
    assert "RuntimeError: after" in page.tests["test_breaks_after"]["failure"]
    assert page.tests["test_passes"]["failure"] == ""


def test_without_the_option_nothing_is_written(suite):
    suite.write("def test_passes(): pass")
    suite.run()

    assert list(suite.pytester.path.glob("*.html")) == []


def test_exchanges_are_shown_in_their_redacted_form_while_recording_and_after(suite):
    suite.write('def test_one(recorded_provider): ask(recorded_provider, "sk-1234567890abcdefXY")')
    with LoopbackServer([Answer(200, body=chat_body("Hello."))]) as server:
        suite.record(server, "--synaptum-report=recorded.html")
    suite.run("--synaptum-report=replayed.html")

    shown = {}
    for state in ("recorded", "replayed"):
        page = Page(suite.pytester.path / f"{state}.html")
        assert "sk-1234567890abcdefXY" not in page.text
        (shown[state],) = page.tests["test_one"]["exchanges"]
        assert shown[state].pop("state") == state
    assert shown["recorded"] == shown["replayed"]
    assert shown["replayed"]["about"] == "POST /v1/chat/completions, 200, stop"
    assert '"content": "REDACTED-KEY"' in shown["replayed"]["request"]["text"]
    assert '"content": "Hello."' in shown["replayed"]["response"]["text"]


def test_an_exchange_that_nobody_asked_for_is_named(suite):
    suite.write("def test_one(recorded_provider): ask(recorded_provider)")
    with LoopbackServer([Answer(200, body=chat_body("Hello."))]) as server:
        suite.record(server)
    suite.write("def test_one(recorded_provider): pass")
    suite.run("--synaptum-report=page.html")

    page = Page(suite.pytester.path / "page.html")
    (unused,) = page.tests["test_one"]["unused"]
    assert unused.endswith("POST /v1/chat/completions")


def test_the_runs_of_a_double_are_shown_by_themselves(suite):
    page = page_of(
        suite,
        """
def test_run(model_double):
    turn = [calls("search", q="x"), says("", usage=Usage(100, 5, None, 40))]
    go(model_double(turn, says("Done.", usage=Usage(150, 7)), tools=[search]).gateway())
""",
    )

    (run,) = page.tests["test_run"]["runs"]
    assert [(step["kind"], step["title"], step["open"]) for step in run["steps"]] == [
        ("model", "search(…)", False),
        ("tool", 'search {"q": "x"}', False),
        ("model", "Done.", False),
        ("final", "Done.", False),
    ]
    assert run["state"] == "finished"
    assert run["turns"] == [
        {"step": "000000-model", "input": 100, "cache_read": 40, "output": 5},
        {"step": "000002-model", "input": 150, "cache_read": None, "output": 7},
    ]
    assert "  growth     +50 input tokens a turn" in run["economy"]
    assert page.rows[0]["tokens"] == 262
    assert page.rows[0]["counts"] == {"scripted": 2, "runs": 1}
    first = page.tests["test_run"]["scripted"][0]
    assert '"content": "Hi"' in first["request"]["text"]
    assert '"name": "search"' in first["response"]["text"]


def test_a_run_that_is_resumed_stands_there_once(suite):
    page = page_of(
        suite,
        """
def test_resumed(model_double):
    model = model_double(calls("search", q="x"), "Done.", tools=[search])
    agent = Agent("a", model="scripted", tools=[search])

    async def run():
        session = Session("r1", model.gateway())
        steps = agent.run("Hi", session=session)
        for _ in range(4):
            await anext(steps)
        await steps.aclose()
        return [step async for step in agent.run("Hi", session=session)]

    asyncio.run(run())
""",
    )

    (run,) = page.tests["test_resumed"]["runs"]
    assert [step["id"] for step in run["steps"]] == [
        "000000-model",
        "000001-tool",
        "000002-model",
        "000003-final",
    ]


def test_a_run_left_open_says_so(suite):
    page = page_of(
        suite,
        """
def test_left(model_double):
    async def run():
        agent = Agent("a", model="scripted", tools=[search])
        session = Session("r1", model_double(calls("search", q="x"), tools=[search]).gateway())
        steps = agent.run("Hi", session=session)
        for _ in range(3):
            await anext(steps)
        await steps.aclose()
    asyncio.run(run())
""",
    )

    (run,) = page.tests["test_left"]["runs"]
    assert run["state"] == "not closed"
    assert [step["open"] for step in run["steps"]] == [False, True]


def test_a_journal_of_somebody_else_s_gateway_can_be_added(suite):
    page = page_of(
        suite,
        """
def test_added(synaptum_report):
    from synaptum.testing import ScriptedModel
    _, state = go(LocalGateway(model=ScriptedModel("Hello.").complete))
    synaptum_report.add(state)

def test_watched(synaptum_report):
    from synaptum.testing import ScriptedModel
    model = ScriptedModel("Hello.")
    go(LocalGateway(model=model.complete, journalled=synaptum_report.journalled), "r2")
""",
    )

    assert [run["run"] for run in page.tests["test_added"]["runs"]] == ["r1"]
    assert [run["run"] for run in page.tests["test_watched"]["runs"]] == ["r2"]


def test_the_door_for_runs_is_open_without_a_page_too(suite):
    suite.write(
        AGENT
        + """
def test_added(synaptum_report):
    from synaptum.testing import ScriptedModel
    synaptum_report.add(go(LocalGateway(model=ScriptedModel("Hello.").complete))[1])
"""
    )

    suite.run().assert_outcomes(passed=1)


def test_goldens_are_shown_with_what_differs_side_by_side(suite):
    suite.write('def test_one(synaptum_golden): synaptum_golden.check({"a": [1, 2], "b": "x"})')
    suite.run("--synaptum-update")
    page = page_of(
        suite,
        """
def test_one(synaptum_golden): synaptum_golden.check({"a": [1, 3], "c": "x"})
def test_two(synaptum_golden): synaptum_golden.check("fresh")
""",
    )

    (one,) = page.tests["test_one"]["goldens"]
    assert one["status"] == "differs"
    assert one["file"] == "goldens/test_chat/test_one.yaml"
    assert one["command"] == "pytest --synaptum-update test_chat.py::test_one"
    assert one["sides"]["paths"] == [["a[1]", "2", "3"], ["b", '"x"', None], ["c", None, '"x"']]
    assert one["sides"]["lines"] == [["~", '{"a": [1, 2], "b": "x"}', '{"a": [1, 3], "c": "x"}']]
    (two,) = page.tests["test_two"]["goldens"]
    assert (two["status"], two["came"]) == ("missing", "fresh")


def test_long_values_show_what_is_near_a_difference(suite):
    suite.write("def test_one(synaptum_golden): synaptum_golden.check(list(range(100, 150)))")
    suite.run("--synaptum-update")
    page = page_of(
        suite,
        """
def test_one(synaptum_golden):
    synaptum_golden.check([*range(100, 120), 7, *range(121, 150)])
""",
    )

    lines = page.tests["test_one"]["goldens"][0]["sides"]["lines"]
    assert lines == [
        ["…", "18 equal lines", ""],
        ["=", "  117,", "  117,"],
        ["=", "  118,", "  118,"],
        ["=", "  119,", "  119,"],
        ["~", "  120,", "  7,"],
        ["=", "  121,", "  121,"],
        ["=", "  122,", "  122,"],
        ["=", "  123,", "  123,"],
        ["…", "27 equal lines", ""],
    ]


def test_what_a_model_says_cannot_leave_its_block(suite):
    said = "</script><!--<script>alert(1)</script> \u2028 \ud83d \x00"
    page = page_of(
        suite,
        f"""
def test_hostile(model_double): go(model_double({said!r}).gateway())
""",
    )

    final = page.tests["test_hostile"]["runs"][0]["steps"][-1]
    assert final["parts"][0]["text"].startswith("</script><!--<script>alert(1)")
    assert page.text.count("</script>") == 3  # the list, the test, the page's own script
    assert "alert(1)</script>" not in page.text


def test_no_other_script_than_the_page_s_own_may_run(suite):
    page = page_of(suite, "def test_passes(): pass")

    script = re.search(r"<script>(.*?)</script>", page.text, re.S)
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page.text
    assert "default-src 'none'" in page.text
    assert "unsafe-inline" not in page.text
    assert re.findall(r'(?:src|href)="(?!#)', page.text) == []


class TestSecrets:
    SECRET = "topsecret-of-mine-0815"

    def page(self, suite: RecordedSuite, tests: str, monkeypatch: pytest.MonkeyPatch) -> Page:
        monkeypatch.setenv("SYNAPTUM_API_KEY", self.SECRET)
        return page_of(suite, tests)

    def test_a_journal_and_a_failure_are_shown_without_the_key(self, suite, monkeypatch):
        page = self.page(
            suite,
            f"""
def test_said(model_double):
    assert go(model_double("It is {self.SECRET}!").gateway())[0] == "{self.SECRET}"
""",
            monkeypatch,
        )

        assert self.SECRET not in page.text
        assert "It is REDACTED-KEY!" in page.text
        assert "REDACTED-KEY" in page.tests["test_said"]["failure"]

    def test_nothing_is_left_of_a_key_that_pytest_shortened(self, suite, monkeypatch):
        page = self.page(
            suite,
            f"""
def test_said():
    words = "word " * 30
    assert words + "{self.SECRET}" == 1

def test_shape():
    assert ["x" * 90 + " sk-" + "a1b2" * 10] == 1
""",
            monkeypatch,
        )

        assert "mine-0815" not in page.text
        assert "b2a1b2" not in page.text

    def test_a_key_that_only_the_test_set_is_known(self, suite, monkeypatch):
        page = page_of(
            suite,
            """
def test_said(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "-".join(["only", "this", "test", "knows"]))
    import os
    assert os.environ["MY_API_KEY"] == ""
""",
        )

        assert "only-this-test-knows" not in page.text

    def test_a_key_in_the_fragments_of_a_stream_is_dropped(self, suite, monkeypatch):
        half = len(self.SECRET) // 2
        head, tail = self.SECRET[:half], self.SECRET[half:]
        page = self.page(
            suite,
            f"""
def test_events(synaptum_golden):
    synaptum_golden.check([{{"text": "{head}"}}, {{"text": "{tail}"}}])
""",
            monkeypatch,
        )

        assert page.tests["test_events"]["goldens"][0]["status"] == "missing"
        assert head not in page.text.replace(page.tests["test_events"]["failure"], "")

    def test_a_parameter_in_a_test_s_name_is_redacted(self, suite, monkeypatch):
        page = self.page(
            suite,
            f"""
@pytest.mark.parametrize("key", ["{self.SECRET}"])
def test_named(key): pass
""",
            monkeypatch,
        )

        assert page.rows[0]["id"] == "test_chat.py::test_named[REDACTED-KEY]"


def test_under_xdist_the_page_is_the_same(suite):
    tests = """
@pytest.mark.parametrize("n", range(6))
def test_run(n, model_double):
    assert go(model_double(f"Answer {n}.").gateway())[0] == "Answer 3."
"""
    alone = page_of(suite, tests)
    together = page_of(suite, tests, "-n2")

    def steady(page: Page) -> list[Any]:
        return [
            (part["id"], part["outcome"], [run["economy"] for run in part["runs"]])
            for part in page.tests.values()
        ]

    assert steady(together) == steady(alone)
    assert [row["id"] for row in together.rows] == [row["id"] for row in alone.rows]


def test_a_test_that_brings_its_worker_down_is_on_the_page(suite):
    page = page_of(
        suite,
        """
def test_dies():
    import os
    os._exit(3)
""",
        "-n1",
        "--max-worker-restart=0",
    )

    assert page.tests["test_dies"]["outcome"] == "error"
    assert "crashed" in page.tests["test_dies"]["failure"]


@pytest.mark.parametrize("args", [(), ("-n1",)])
def test_a_module_that_cannot_be_collected_is_on_the_page(suite, args):
    suite.pytester.makepyfile(test_broken="import nowhere_at_all")
    page = page_of(suite, "def test_passes(): pass", *args)

    assert page.tests["test_broken.py"]["outcome"] == "error"
    assert "nowhere_at_all" in page.tests["test_broken.py"]["failure"]


def test_a_page_that_cannot_be_written_fails_the_run_in_a_sentence(suite):
    suite.write("def test_passes(): pass")
    suite.pytester.path.joinpath("occupied").write_text("a file", encoding="utf-8")

    result = suite.run("--synaptum-report=occupied/page.html")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["synaptum: the page * cannot be written (*); *"])


def test_a_file_that_is_no_page_of_ours_is_not_written_over(suite):
    """The name was forgotten, and pytest takes the next argument for it."""
    suite.write("def test_passes(): pass")
    test = suite.pytester.path / "test_it.py"
    test.write_text("def test_passes(): pass", encoding="utf-8")
    other = suite.pytester.path / "thesis.html"
    other.write_text("<title>thesis</title>", encoding="utf-8")

    for name, told in (("test_it.py", "such as run.html"), ("thesis.html", "no page of ours")):
        result = suite.pytester.runpytest("--synaptum-report", name)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines([f"*{told}*"])

    assert test.read_text(encoding="utf-8") == "def test_passes(): pass"
    assert other.read_text(encoding="utf-8") == "<title>thesis</title>"


def test_a_page_of_an_earlier_run_is_written_over(suite):
    suite.write("def test_passes(): pass")

    for _ in range(2):
        assert suite.pytester.runpytest("--synaptum-report=run.html").ret == 0


def test_a_folder_is_no_name_for_a_page(suite):
    suite.write("def test_passes(): pass")
    suite.pytester.mkdir("pages")

    result = suite.run("--synaptum-report=pages")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--synaptum-report needs the name of a file, and 'pages'*"])


def test_a_case_of_the_corpus_shows_its_evidence_and_its_golden(suite):
    folder = suite.pytester.path / "corpus" / CASE.relative_to(CASE.parents[2])
    shutil.copytree(CASE, folder)
    shutil.copy(CASE.parents[2] / "flags.yaml", folder.parents[2] / "flags.yaml")
    golden = folder / "golden.yaml"
    golden.write_text(
        golden.read_text(encoding="utf-8").replace("finish_reason: tool_calls", "finish_reason: x"),
        encoding="utf-8",
    )

    suite.run("--synaptum-report=page.html", "corpus")

    (part,) = Page(suite.pytester.path / "page.html").tests.values()
    assert part["exchanges"][0]["about"].startswith("POST /v1/chat/completions, 200, stream")
    (golden_part,) = part["goldens"]
    assert golden_part["status"] == "differs"
    path, expected, came = golden_part["sides"]["paths"][0]
    assert path.endswith("finish_reason")
    assert (expected, came) == ('"x"', '"tool_calls"')


def test_what_is_left_out_of_a_long_test_is_counted(suite):
    page = page_of(
        suite,
        """
def test_long(model_double):
    for n in range(65):
        go(model_double("Hello.").gateway(), f"r{n}")
""",
    )

    part = page.tests["test_long"]
    assert len(part["runs"]) == 60
    assert part["left_out"] == {"scripted": 5, "runs": 5}
