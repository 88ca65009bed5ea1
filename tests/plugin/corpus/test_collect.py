"""`pytest corpus` as a user meets it, on a corpus made for the test."""

from __future__ import annotations

import json
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from support.loopback import Answer, LoopbackServer, chat_body, chat_stream

from pytest_synaptum import strict_yaml

DERIVED = Path(__file__).parents[3] / "corpus" / "openai_chat" / "derived"
NAME = "stream-calls-all-index-zero"


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def corpus(pytester):
    """A corpus of one derived case of ours."""
    root = pytester.mkdir("corpus")
    shutil.copy(DERIVED.parents[1] / "flags.yaml", root / "flags.yaml")
    shutil.copytree(DERIVED / NAME, root / "openai_chat" / "derived" / NAME)
    return pytester


def folder_of(corpus):
    return corpus.path / "corpus" / "openai_chat" / "derived" / NAME


def edit(path, **changes):
    value = strict_yaml.load(path.read_bytes(), source=str(path))
    path.write_text(strict_yaml.dump({**value, **changes}), encoding="utf-8")


def test_a_case_is_a_test_with_a_readable_name(corpus):
    result = corpus.runpytest("corpus", "-v")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [f"corpus/openai_chat/derived/{NAME}/case.yaml::openai-compatible*"]
    )


def test_cases_are_selected_by_flag_and_kind(corpus):
    corpus.runpytest("corpus", "-k", "call-index-zero").assert_outcomes(passed=1)
    corpus.runpytest("corpus", "-k", "recorded").assert_outcomes(deselected=1)


def test_a_wrong_adapter_sees_rule_bytes_and_flag(corpus):
    corpus.makepyfile(
        other="""
        from synaptum.providers.openai_compatible import OpenAICompatible

        class ByIndex:
            name = "by-index"
            inner = OpenAICompatible()
            def to_wire(self, request):
                return self.inner.to_wire(request)
            def from_wire(self, body):
                return self.inner.from_wire(body)
            def stream_from_wire(self, chunks):
                def second_id_lost():
                    for chunk in chunks:
                        for choice in chunk.get("choices", ()):
                            for call in choice["delta"].get("tool_calls", ()):
                                if call.get("id") == "call_b2":
                                    call["id"] = "call_a1"
                        yield chunk
                return self.inner.stream_from_wire(second_id_lost())
        """
    )
    corpus.syspathinsert()

    result = corpus.runpytest("corpus", "--synaptum-provider", "other:ByIndex")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            f"openai_chat/derived/{NAME} under other:ByIndex: *",
            "rule `golden`: it differs:",
            '*"id":"call_b2"*',
            "flag `call-index-zero`: *",
        ]
    )


def test_whatever_an_adapter_raises_in_a_law_is_that_rule_and_no_traceback(corpus):
    corpus.makepyfile(
        other="""
        from synaptum.providers.openai_compatible import OpenAICompatible

        class OnlyStreams(OpenAICompatible):
            name = "only-streams"
            def from_wire(self, body):
                raise KeyError("choices")
        """
    )
    corpus.syspathinsert()

    result = corpus.runpytest("corpus", "--synaptum-provider", "other:OnlyStreams")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["rule `round-trip` (ask 1): KeyError: 'choices'", "flag `call-index-zero`: *"]
    )
    result.stdout.no_fnmatch_line("*Error*laws.py*")


def test_several_adapters_give_several_items(corpus):
    result = corpus.runpytest(
        "corpus",
        "--synaptum-provider",
        "openai-compatible",
        "--synaptum-provider",
        "synaptum.providers.openai_compatible:OpenAICompatible",
    )

    result.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("nobody", "No provider is installed for the prefix 'nobody'"),
        (
            "no_such_module:X",
            "'no_such_module' cannot be imported (No module named *); correct the name, install it,"
            " or put its folder on pytest's pythonpath.",
        ),
        ("needs_more:X", "(No module named 'no_such_thing'); install no_such_thing, or *"),
        ("broken:X", "'broken' cannot be imported (ZeroDivisionError: division by zero); correct"),
        ("misspelt:X", "'misspelt' cannot be imported (SyntaxError: *misspelt.py, line 1*); corr"),
        ("keyless:X", "'keyless' cannot be imported (KeyError: 'NO_SUCH_KEY'); correct the module"),
        ("leaving:X", "'leaving' cannot be imported (SystemExit: 3); correct the module."),
        ("wordy:X", "'wordy' cannot be imported (ValueError: one line); correct the module."),
        ("half.py:X", "'half.py' is no name of a module; write `module:object`, such as"),
        (":X", "'' is no name of a module; write `module:object`, such as mypackage.adapter:My"),
        ("half:Nope", "half has no Nope (it has: Half); correct the name."),
        ("half.Half", "Write a module and what is in it with a colon: half:Half."),
        ("half:Half", "it lacks stream_from_wire"),
        ("json:JSONDecoder", "it lacks to_wire, from_wire, stream_from_wire"),
        ("fractions:Fraction.from_float", "cannot be made (TypeError: "),
    ],
)
@pytest.mark.parametrize("by", ["option", "ini"])
def test_what_is_no_adapter_is_one_usage_error_before_anything_is_collected(
    corpus, monkeypatch, spec, words, by
):
    shutil.copytree(folder_of(corpus), folder_of(corpus).with_name("another"))
    corpus.makepyfile(
        broken="1 / 0",
        needs_more="import no_such_thing",
        misspelt="class (",
        keyless="import os\nos.environ['NO_SUCH_KEY']",
        leaving="raise SystemExit(3)",
        wordy="raise ValueError('one line\\nand another')",
        half="""
        import json
        class Half:
            name = "half"
            def to_wire(self, request): ...
            def from_wire(self, body): ...
        """,
    )
    for name in ("broken", "needs_more", "misspelt", "keyless", "leaving", "wordy", "half"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(corpus.path)
    if by == "ini":
        corpus.makeini(f"[pytest]\nsynaptum_provider = {spec}\n")
    option = "--synaptum-provider"
    args = [option, "openai-compatible", option, spec] if by == "option" else []

    result = corpus.runpytest("corpus", *args)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (told,) = [line for line in result.errlines if line.startswith("ERROR: ")]
    assert fnmatch(told, f"*{words}*")
    result.stdout.no_fnmatch_line("*collected*")
    result.stderr.no_fnmatch_line("*Traceback*")


def test_what_is_no_adapter_is_refused_in_a_run_without_a_corpus_too(pytester):
    file = pytester.makepyfile("def test_one(): ...")

    result = pytester.runpytest(file, "--synaptum-provider", "nope:X")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --synaptum-provider nope:X: 'nope' cannot be imported *"])


def test_an_entry_point_that_cannot_be_loaded_is_one_usage_error(pytester):
    pytester.makepyfile(broken_entry="{}['key']", test_one="def test_one(): ...")
    info = pytester.mkdir("broken-1.dist-info")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text("[synaptum.providers]\nmine = broken_entry:X\n", "utf-8")
    pytester.syspathinsert()

    result = pytester.runpytest("test_one.py", "--synaptum-provider", "mine")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: --synaptum-provider mine: what is installed under this name cannot be*"]
    )


def test_a_missing_golden_fails_with_the_command_and_an_update_writes_it(corpus):
    golden = folder_of(corpus) / "golden.yaml"
    before = golden.read_bytes()
    golden.unlink()

    missing = corpus.runpytest("corpus")
    assert not golden.exists()
    updated = corpus.runpytest("corpus", "--synaptum-update")

    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines([f"*pytest corpus/openai_chat/derived/{NAME} --synaptum-update"])
    updated.assert_outcomes(passed=1)
    assert golden.read_bytes() == before


def test_an_update_writes_nothing_while_a_law_is_broken(corpus):
    folder = folder_of(corpus)
    golden = (folder / "golden.yaml").read_bytes()
    edit(folder / "case.yaml", asks=[{"stream": True, "lint": ["empty-tools"]}])

    result = corpus.runpytest("corpus", "--synaptum-update")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["rule `wire-lint` (ask 1): *breaks empty-tools, and it does not"])
    assert (folder / "golden.yaml").read_bytes() == golden


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"synaptum": "case/2"}, "is of the format case/2*newer pytest-synaptum"),
        ({"flags": ["tool-cal"]}, "the flag 'tool-cal' is not in*near it are*tool-call"),
        ({"kind": "recorded"}, "stands under <dialect>/derived/"),
        ({"summary": "No full stop"}, "summary is one sentence"),
        ({"colour": "red"}, "the file has the keys*found 'colour'"),
        ({"asks": [{"request": {"model": "m"}}]}, "asks?0?.request is no request*messages"),
        ({"source": {"seen_at": [], "date": "2026-11-30"}}, "reference"),
        ({"source": {"seen_at": ["groq"], "date": "yesterday"}}, "source.date is a day"),
    ],
)
def test_a_case_that_the_format_does_not_allow_is_one_sentence(corpus, changes, words):
    edit(folder_of(corpus) / "case.yaml", **changes)

    result = corpus.runpytest("corpus")

    assert result.ret != 0
    result.stdout.fnmatch_lines([f"*case.yaml*{words}*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_missing_exchange_says_how_it_comes_to_be(corpus):
    (folder_of(corpus) / "exchange.yaml").unlink()

    result = corpus.runpytest("corpus")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*has no exchange.yaml; a derived case is written by hand*"])


def test_somebody_elses_case_file_is_left_alone(pytester):
    pytester.path.joinpath("case.yaml").write_text("name: a court case\n", encoding="utf-8")

    assert pytester.runpytest().ret == pytest.ExitCode.NO_TESTS_COLLECTED


REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": [{"kind": "text", "text": "Hi"}]}],
}


@pytest.fixture
def unrecorded(pytester):
    """A corpus of one case that waits for its exchange: the same answer whole and streamed."""
    root = pytester.mkdir("corpus")
    (root / "flags.yaml").write_text("synaptum: flags/1\nflags: {text: It is text.}\n", "utf-8")
    folder = root / "openai_chat" / "demo" / "hello"
    folder.mkdir(parents=True)
    case = {
        "synaptum": "case/1",
        "summary": "A greeting.",
        "kind": "recorded",
        "flags": ["text"],
        "source": {"server": "demo", "model": "m", "date": "2026-11-30"},
        "same_answer": True,
        "masks": ["exchanges.*.response.provider_metadata.created: <int>"],
        "asks": [{"request": REQUEST}, {"request": REQUEST, "stream": True}],
    }
    (folder / "case.yaml").write_text(strict_yaml.dump(case), encoding="utf-8")
    return pytester, folder


def test_recording_asks_the_live_server_and_replay_asks_nobody(unrecorded):
    pytester, folder = unrecorded
    answers = [Answer(body=chat_body("Grüße.")), Answer(chunks=chat_stream(["Grü", "ße."]))]
    with LoopbackServer(answers) as server:
        recorded = pytester.runpytest(
            "corpus",
            "--synaptum-record",
            "--synaptum-update",
            "--synaptum-base-url",
            server.base_url,
        )
        asked = [json.loads(one.body).get("stream", False) for one in server.requests]

    recorded.assert_outcomes(passed=1)
    assert asked == [False, True]
    assert (folder / "exchange.yaml").read_text("utf-8").startswith("synaptum: cassette/1\n")
    pytester.runpytest("corpus").assert_outcomes(passed=1)


def test_a_changed_question_makes_the_recorded_answer_no_evidence(unrecorded):
    pytester, folder = unrecorded
    with LoopbackServer(
        [Answer(body=chat_body("Hi.")), Answer(chunks=chat_stream(["Hi."]))]
    ) as server:
        pytester.runpytest(
            "corpus",
            "--synaptum-record",
            "--synaptum-update",
            "--synaptum-base-url",
            server.base_url,
        )
    edit(folder / "case.yaml", asks=[{"request": {**REQUEST, "temperature": 0.5}}] * 2)

    result = pytester.runpytest("corpus")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["rule `evidence` (ask 1): *temperature*--synaptum-rerecord"])


def test_an_answer_about_the_moment_is_not_kept(unrecorded):
    pytester, folder = unrecorded
    with LoopbackServer(lambda request: Answer(status=429, body=b"{}")) as server:
        result = pytester.runpytest(
            "corpus", "--synaptum-record", "--synaptum-base-url", server.base_url
        )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*status 429*try again. Nothing was written."])
    assert not (folder / "exchange.yaml").exists()


def test_a_server_that_is_not_there_is_one_sentence(unrecorded):
    pytester, folder = unrecorded

    result = pytester.runpytest(
        "corpus", "--synaptum-record", "--synaptum-base-url", "http://127.0.0.1:9/v1"
    )

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*No server answers at http://127.0.0.1:9*"])
    assert not (folder / "exchange.yaml").exists()


def test_a_case_can_be_skipped_by_what_it_shows(corpus):
    corpus.makeconftest("""
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if "call-index-zero" in item.case.flags:
                    item.add_marker(pytest.mark.skip(reason="not claimed"))
        """)

    result = corpus.runpytest("corpus", "-rs")

    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*not claimed"])


def test_a_corpus_that_lies_elsewhere_is_collected_beside_the_tests(corpus):
    elsewhere = corpus.path.parent / f"{corpus.path.name}-corpus"
    (corpus.path / "corpus").rename(elsewhere)
    file = corpus.makepyfile("def test_one(): ...")

    corpus.runpytest(file, f"--synaptum-corpus={elsewhere}").assert_outcomes(passed=2)


def test_the_corpus_of_the_ini_file_is_collected_where_no_paths_are_named(corpus):
    (corpus.path / "corpus").rename(corpus.path.parent / f"{corpus.path.name}-corpus")
    corpus.makeini(f"[pytest]\nsynaptum_corpus = ../{corpus.path.name}-corpus\n")
    file = corpus.makepyfile("def test_one(): ...")

    corpus.runpytest().assert_outcomes(passed=2)
    corpus.runpytest("-n", "1").assert_outcomes(passed=2)
    corpus.runpytest(file).assert_outcomes(passed=1)


def test_a_corpus_that_is_not_there_is_a_usage_error(corpus):
    result = corpus.runpytest("--synaptum-corpus=nowhere")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*there is no folder nowhere*"])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("case.yaml", "x: [", ", line 2: this is not YAML that we can read"),
        ("case.yaml", "summary: A case without its first line.\n", ": "),
        ("exchange.yaml", "x: [", ", line 2: this is not YAML that we can read"),
        ("golden.yaml", "x: [", ", line 2: this is not YAML that we can read"),
        ("golden.yaml", "x: 1\n", ": expected the two keys"),
    ],
)
def test_a_damaged_file_of_a_case_is_named_from_here_and_never_passed_over(
    corpus, name, text, says
):
    (folder_of(corpus) / name).write_text(text, encoding="utf-8")

    result = corpus.runpytest("corpus")

    assert result.ret in {pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}
    result.stdout.fnmatch_lines([f"corpus/openai_chat/derived/{NAME}/{name}{says}*"])
    assert f"{corpus.path}/corpus/openai_chat" not in result.stdout.str()
    result.stdout.no_fnmatch_line("*Traceback*")


def test_somebody_elses_case_file_is_passed_over(corpus):
    foreign = corpus.mkdir("cases") / "a" / "b" / "c"
    foreign.mkdir(parents=True)
    (foreign / "case.yaml").write_text("steps: [1]\n", encoding="utf-8")

    corpus.runpytest().assert_outcomes(passed=1)


def test_evidence_that_cannot_be_written_is_one_sentence(corpus):
    folder = corpus.path / "corpus" / "openai_chat" / "a-server" / "hello"
    (folder / "exchange.yaml").mkdir(parents=True)
    (folder / "case.yaml").write_text(
        strict_yaml.dump(
            {
                "synaptum": "case/1",
                "summary": "A word.",
                "kind": "recorded",
                "flags": ["text"],
                "source": {"server": "a-server", "model": "m", "date": "2026-11-30"},
                "asks": [{"body": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}}],
            }
        ),
        encoding="utf-8",
    )
    with LoopbackServer([Answer(body=chat_body("Hello."))]) as server:
        result = corpus.runpytest(
            "corpus", "-k", "hello", "--synaptum-record", f"--synaptum-base-url={server.base_url}"
        )

    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        ["The evidence corpus/openai_chat/a-server/hello/exchange.yaml cannot be written (*"]
    )


def test_what_a_mask_does_not_find_in_an_adapters_answer_is_a_difference_of_the_golden(pytester):
    case = "openai_chat/llama.cpp/tool-call"
    root = pytester.mkdir("corpus")
    shutil.copy(DERIVED.parents[1] / "flags.yaml", root / "flags.yaml")
    shutil.copytree(DERIVED.parents[1] / case, root / case)
    pytester.makepyfile(
        half="""
        from synaptum.providers.openai_compatible import OpenAICompatible

        class NoCalls(OpenAICompatible):
            name = "no-calls"
            def from_wire(self, body):
                for choice in body["choices"]:
                    choice["message"].pop("tool_calls", None)
                return super().from_wire(body)
            def stream_from_wire(self, chunks):
                def without_calls():
                    for chunk in chunks:
                        for choice in chunk.get("choices", ()):
                            choice["delta"].pop("tool_calls", None)
                        yield chunk
                return super().stream_from_wire(without_calls())
        """
    )
    pytester.syspathinsert()

    result = pytester.runpytest("corpus", "--synaptum-provider", "half:NoCalls")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "rule `golden`: it differs:",
            "  exchanges?0?.response.message.content*",
            '    expected  *"id": "<str>", "name": "get_weather"*',
            "    actual *",
            "what the server said to ask 1 (corpus/*",
            '*"tool_calls":*',
            "flag `tool-call`: *",
        ]
    )
    result.stdout.no_fnmatch_line("*matches nothing*")


def test_a_value_that_changed_its_type_under_a_mask_is_a_difference_of_the_golden(unrecorded):
    pytester, folder = unrecorded
    answers = [Answer(body=chat_body("Hi.")), Answer(chunks=chat_stream(["Hi."]))]
    with LoopbackServer(answers) as server:
        url = server.base_url
        args = ["--synaptum-record", "--synaptum-update", "--synaptum-base-url", url]
        pytester.runpytest("corpus", *args).assert_outcomes(passed=1)
    golden = folder / "golden.yaml"
    text = golden.read_text("utf-8")
    assert "created: <int>" in text
    masks = ["exchanges.*.response.provider_metadata.created: <str>"]
    edit(folder / "case.yaml", masks=masks)

    result = pytester.runpytest("corpus")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["rule `golden`: it differs:", "  *provider_metadata.created*"])


def test_a_mask_that_the_golden_knows_nothing_of_is_told_as_a_mistake_of_the_case(corpus):
    edit(folder_of(corpus) / "case.yaml", masks=["exchanges.*.response.nothing: <str>"])

    result = corpus.runpytest("corpus")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["The mask 'exchanges.*nothing: <str>' matches nothing; correct*"])


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        (
            "content-null-beside-call",
            "from_wire = lambda self, body: dict(body)",
            "(ask 1): from_wire gave a dict, not a Response.",
        ),
        (
            "content-null-beside-call",
            "from_wire = lambda self, body: None",
            "(ask 1): from_wire gave None, not a Response.",
        ),
        (
            NAME,
            "stream_from_wire = lambda self, chunks: iter(chunks)",
            "(ask 1): stream_from_wire gave a dict, not a StreamEvent.",
        ),
        (
            NAME,
            "stream_from_wire = lambda self, chunks: 7",
            "(ask 1): stream_from_wire gave an int, not an iterable of events.",
        ),
        (
            "request-call-turn",
            "to_wire = lambda self, request: [request]",
            "(ask 1): to_wire gave a list, not a dict.",
        ),
        (
            "error-429-retry-after",
            "error_from_wire = lambda self, *args: {}",
            "(ask 1): error_from_wire gave a dict, not an error of synaptum's.",
        ),
    ],
)
def test_what_an_adapter_gives_of_another_type_is_named_under_its_rule(corpus, name, changes, told):
    folder = folder_of(corpus).with_name(name)
    if not folder.exists():
        shutil.copytree(DERIVED / name, folder)
    corpus.makepyfile(
        giving=f"""
        from synaptum.providers.openai_compatible import OpenAICompatible

        class Giving:
            name = "giving"
            inner = OpenAICompatible()
            def to_wire(self, request):
                return self.inner.to_wire(request)
            def from_wire(self, body):
                return self.inner.from_wire(body)
            def stream_from_wire(self, chunks):
                return self.inner.stream_from_wire(chunks)
            {changes}
        """
    )
    corpus.syspathinsert()

    result = corpus.runpytest(folder, "--synaptum-provider", "giving:Giving")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"rule `errors` {told}", "what the server said to ask 1 (*"])
    result.stdout.no_fnmatch_line("*Traceback*")
    assert len(result.outlines) < 60
