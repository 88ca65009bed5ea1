"""What the terminal shows: recording as it goes, `-v`, the summary, colours."""

from __future__ import annotations

import re

import pytest
from support.chat import chat_body, chat_stream
from support.loopback import Answer, LoopbackServer
from support.recorded_suite import RecordedSuite

TWO = """
def test_two(recorded_provider):
    ask(recorded_provider, "One?")
    ask(recorded_provider, "Two?")
"""


def said(*texts: str) -> LoopbackServer:
    return LoopbackServer([Answer(body=chat_body(text)) for text in texts])


def lines(result: pytest.RunResult, word: str) -> list[str]:
    return [line for line in result.outlines if word in line]


@pytest.fixture
def recorded(suite: RecordedSuite) -> RecordedSuite:
    suite.write(TWO)
    with said("Yes.", "No.") as server:
        suite.record(server)
    return suite


class TestWhileRecording:
    def test_each_exchange_is_shown_as_it_comes(self, suite):
        suite.write(TWO)
        with said("Yes.", "No.") as server:
            result = suite.record(server)

        first, second = lines(result, "test_two: exchange")
        assert re.fullmatch(
            r"  test_two: exchange 1 recorded, POST /v1/chat/completions, 200, stop;"
            r" [0-9]+ bytes, [0-9]+\.[0-9] s",
            first,
        )
        assert second.startswith("  test_two: exchange 2 recorded, ")

    def test_it_is_shown_before_the_test_is_over(self, suite):
        suite.write(TWO + "    print('the body is over')\n")
        with said("Yes.", "No.") as server:
            result = suite.record(server, "-s")

        text = result.stdout.str()
        assert text.index("exchange 2 recorded") < text.index("the body is over")

    def test_what_the_test_prints_stays_captured(self, suite):
        suite.write(
            """
def test_prints(recorded_provider, capsys):
    print("before")
    ask(recorded_provider)
    print("after")
    assert capsys.readouterr().out == "before\\nafter\\n"
"""
        )
        with said("Yes.") as server:
            result = suite.record(server)

        result.assert_outcomes(passed=1)
        assert len(lines(result, "exchange 1 recorded")) == 1
        assert lines(result, "before") == []

    def test_a_stream_is_shown_when_it_has_ended(self, suite):
        suite.write("def test_one(recorded_provider): asyncio.run(events(recorded_provider))")
        with LoopbackServer([Answer(chunks=chat_stream())]) as server:
            result = suite.record(server)

        (line,) = lines(result, "exchange 1 recorded")
        assert "200, stream of 6 events, stop;" in line

    def test_a_secret_in_an_address_is_not_shown(self, suite):
        suite.write(
            """
def test_one(recorded_http):
    import urllib.request
    url = recorded_http.base_url + "/x?key=sk-1234567890abcdefXY"
    urllib.request.urlopen(url).read()
"""
        )
        with LoopbackServer([Answer(body="{}")]) as server:
            result = suite.record(server)

        (line,) = lines(result, "exchange 1 recorded")
        assert "GET /v1/x?key=REDACTED-KEY" in line

    def test_quiet_means_quiet(self, suite):
        suite.write(TWO)
        with said("Yes.", "No.") as server:
            result = suite.record(server, "-q")

        assert lines(result, "exchange 1 recorded") == []


class TestWhatWasWritten:
    def wrote(self, result: pytest.RunResult) -> str:
        (line,) = lines(result, "  wrote: ")
        return re.sub(r"[0-9,]+ bytes(?: \(were [0-9,]+\))?", "N bytes", line)

    def test_a_new_cassette_is_named_with_its_size(self, suite):
        suite.write(TWO)
        with said("Yes.", "No.") as server:
            result = suite.record(server)

        (line,) = lines(result, "  wrote: ")
        size = suite.cassette("test_two").stat().st_size
        expected = f"cassettes/test_chat/test_two.yaml: 2 exchanges, {size:,} bytes, new"
        assert line == f"  wrote: {expected}"

    def test_the_same_answers_are_said_to_be_the_same(self, recorded):
        with said("Yes.", "No.") as server:
            result = recorded.record(server, flag="--synaptum-rerecord")

        assert self.wrote(result).endswith("2 exchanges, N bytes; nothing else changed")

    def test_answers_that_differ_are_counted(self, recorded):
        with said("Yes.", "Perhaps.") as server:
            result = recorded.record(server, flag="--synaptum-rerecord")

        assert self.wrote(result).endswith("N bytes; 1 answer differs")

    def test_requests_and_exchanges_that_came_and_went_are_counted(self, recorded):
        recorded.write(TWO.replace("Two?", "Three?") + '    ask(recorded_provider, "Four?")\n')
        with said("Yes.", "No.", "So.") as server:
            result = recorded.record(server, flag="--synaptum-rerecord")
        assert self.wrote(result).endswith("N bytes; 1 request changed, 1 exchange more")

        recorded.write("def test_two(recorded_provider): ask(recorded_provider, 'One?')")
        with said("Yes.") as server:
            result = recorded.record(server, flag="--synaptum-rerecord")
        assert self.wrote(result).endswith("1 exchange, N bytes; 2 exchanges gone")

    def test_ids_and_times_are_no_change(self, recorded):
        bodies = [chat_body(text).replace(b"1700000000", b"1800000000") for text in ("Yes.", "No.")]
        with LoopbackServer([Answer(body=body.replace(b"-1", b"-2")) for body in bodies]) as server:
            result = recorded.record(server, flag="--synaptum-rerecord")

        assert self.wrote(result).endswith("nothing else changed")

    def test_many_lines_are_cut_and_v_shows_them_all(self, suite):
        suite.write(
            """
@pytest.mark.parametrize("n", range(23))
def test_many(recorded_provider, n): ask(recorded_provider, str(n))
"""
        )
        with said(*["Yes."] * 23) as server:
            short = suite.record(server)
        with said(*["Yes."] * 23) as server:
            long = suite.record(server, "-v", flag="--synaptum-rerecord")

        assert len(lines(short, "  wrote: cassettes/")) == 20
        assert "  wrote: and 3 more, which -v shows" in short.outlines
        assert len(lines(long, "  wrote: cassettes/")) == 23


class TestVerbose:
    LINE = r"  replayed POST /v1/chat/completions, 200, stop; [0-9]+ bytes, [0-9]+\.[0-9] s"

    def test_each_exchange_of_a_replay_is_a_line_behind_its_test(self, recorded):
        result = recorded.run("-v")

        place = next(n for n, line in enumerate(result.outlines) if "test_two PASSED" in line)
        shown = result.outlines[place + 1 : place + 4]
        assert [bool(re.fullmatch(self.LINE, line)) for line in shown] == [True, True, False]

    def test_without_v_there_is_none(self, recorded):
        assert lines(recorded.run(), "replayed POST") == []

    def test_under_xdist_the_line_says_whose_it_is(self, recorded):
        result = recorded.run("-v", "-n1")

        shown = lines(result, "replayed POST")
        assert len(shown) == 2
        assert all(line.startswith("  test_chat.py::test_two: replayed") for line in shown)

    def test_under_xdist_a_recording_shows_its_exchanges_afterwards(self, suite):
        suite.write(TWO)
        with said("Yes.", "No.") as server:
            result = suite.record(server, "-v", "-n1")

        shown = lines(result, "test_chat.py::test_two: recorded POST")
        assert len(shown) == 2
        assert len(lines(result, "  wrote: ")) == 1


class TestColours:
    GREEN, YELLOW = "\x1b[32m", "\x1b[33m"

    def summary(self, result: pytest.RunResult) -> str:
        (line,) = lines(result, "synaptum: ")
        return line

    def test_the_summary_is_green_where_all_is_well(self, recorded):
        line = self.summary(recorded.run("--color=yes"))

        assert line.startswith(self.GREEN + "synaptum: 2 exchanges replayed")

    def test_it_is_yellow_where_something_deserves_a_look(self, recorded):
        recorded.write("def test_two(recorded_provider): ask(recorded_provider, 'One?')")
        result = recorded.run("--color=yes")

        assert self.summary(result).startswith(self.YELLOW)
        (line,) = lines(result, "  unused: ")
        assert line.startswith(self.YELLOW)

    def test_pytest_s_own_switch_turns_colours_off(self, recorded):
        assert "\x1b" not in recorded.run("-v", "--color=no").stdout.str()

    def test_no_color_turns_them_off(self, recorded, monkeypatch):
        monkeypatch.delenv("FORCE_COLOR", raising=False)
        monkeypatch.delenv("PY_COLORS", raising=False)
        monkeypatch.setenv("NO_COLOR", "1")

        assert "\x1b" not in recorded.run("-v").stdout.str()


def test_the_help_has_a_group_of_ours_that_fits_the_line(pytester):
    text = pytester.runpytest("--help").stdout.str()

    assert "synaptum: record, replay and check LLM exchanges:" in text
    ours = text[text.index("\nsynaptum: ") :]
    group = ours[: ours.index("\n\n")]
    assert "--synaptum-report=FILE.html" in group
    assert max(map(len, group.splitlines())) <= 80


def test_each_fixture_is_explained_in_sentences(pytester):
    text = pytester.runpytest("--fixtures", "-v").stdout.str()

    ours = text[text.index("fixtures defined from pytest_synaptum.fixtures") :]
    for name in (
        "synaptum_golden",
        "synaptum_report",
        "recorded_provider",
        "recorded_http",
        "model_double",
        "resume_check",
    ):
        told = re.search(rf"^{name} -- .*\n((?:    .*\n|\n)+)", ours, re.M)
        assert told is not None, name
        first = told[1].strip().splitlines()[0]
        assert re.search(r"[.:]$", first), first
        assert "no docstring" not in told[1]
