"""The cap on tool results: head and tail kept, the loss told, the same everywhere."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptum.errors import ConfigurationError
from synaptum.tools import cap_tool_output
from synaptum.vocabulary import Image, Text, ToolResult
from synaptum.wording import ENGLISH, SPANISH, use_wording

LOG = "".join(f"{number:05d}\n" for number in range(1000))


def test_a_result_within_the_limit_is_the_same_object():
    result = ToolResult.of("c1", "x" * 200)

    assert cap_tool_output(result, max_chars=200) is result
    assert cap_tool_output(ToolResult.of("c1", LOG), max_chars=None).text == LOG


def test_both_ends_are_kept_and_the_notice_says_what_is_gone():
    capped = cap_tool_output(ToolResult.of("c1", LOG), max_chars=300).text

    head, notice, tail = capped.split("\n[…")[0], capped[capped.index("[…") :], capped[-12:]
    assert head == LOG[: len(head)]
    assert tail == LOG[-12:]
    assert notice.startswith(
        "[… truncated: 5,798 of 6,000 characters. Ask for a specific range if you need what is"
        " missing …]\n"
    )
    assert len(capped) == 300


def test_the_spanish_notice_groups_its_digits_as_spanish_does():
    text = "x" * 92_000

    capped = cap_tool_output(ToolResult.of("c1", text), max_chars=396, wording=SPANISH).text

    assert (
        "[… recortado: 91.700 de 92.000 caracteres. Pide un rango concreto si necesitas lo que"
        " falta …]" in capped
    )


def test_the_wording_in_use_writes_the_notice():
    with use_wording(SPANISH):
        assert "recortado" in cap_tool_output(ToolResult.of("c1", LOG), max_chars=300).text


def test_an_error_keeps_three_quarters_at_its_end():
    capped = cap_tool_output(ToolResult.of("c1", LOG, is_error=True), max_chars=1100)

    head, _, tail = capped.text.partition("\n[…")
    tail = tail.partition("…]\n")[2]
    assert capped.is_error
    assert 2.9 < len(tail) / len(head) < 3.1


def test_parts_that_are_no_text_stay_and_the_texts_share_the_limit():
    picture = Image("image/png", data=b"x")
    content = (Text("a" * 500), picture, Text("b" * 500), Text("c" * 500))
    result = ToolResult("c1", content, structured={"kept": True})

    capped = cap_tool_output(result, max_chars=300)

    assert picture in capped.content
    assert capped.structured == {"kept": True}
    assert capped.text.startswith("aaa")
    assert capped.text.endswith("ccc")
    assert "b" * 20 not in capped.text
    assert len(capped.text) == 300


@pytest.mark.parametrize("limit", [199, 0, -1, True, 300.5, float("nan"), "300"])
def test_a_limit_without_room_beside_the_notice_is_a_configuration_error(limit):
    with pytest.raises(ConfigurationError, match="use 200 or more"):
        cap_tool_output(ToolResult.of("c1", "x"), max_chars=limit)


texts = st.text(st.characters(), min_size=0, max_size=60).flatmap(
    lambda seed: st.integers(0, 40).map(lambda times: seed * times)
)


@given(
    parts=st.lists(texts, min_size=1, max_size=4),
    limit=st.integers(200, 800),
    is_error=st.booleans(),
    wording=st.sampled_from([ENGLISH, SPANISH]),
)
def test_no_text_and_no_limit_breaks_the_cap(parts, limit, is_error, wording):
    result = ToolResult("c1", tuple(map(Text, parts)), is_error)
    whole = result.text

    capped = cap_tool_output(result, max_chars=limit, wording=wording)

    assert len(capped.text) <= limit
    assert cap_tool_output(capped, max_chars=limit, wording=wording) == capped
    if len(whole) <= limit:
        assert capped is result
    else:
        opening = wording.truncated.partition("{")[0]
        head = capped.text.partition("\n" + opening)[0]
        assert whole.startswith(head)
        assert len(capped.text) >= limit - 6  # nothing is given away but the digits' room


@given(before=st.integers(0, 3), is_error=st.booleans(), limit=st.integers(200, 220))
def test_halves_of_a_surrogate_pair_are_never_parted(before, is_error, limit):
    pair = "\ud83d\ude00"  # one emoji, kept as two code points
    text = "x" * before + pair * 400

    capped = cap_tool_output(ToolResult.of("c1", text, is_error), max_chars=limit).text

    assert capped.count("\ud83d") == capped.count("\ude00")
    assert capped.replace(pair, "").isascii() is False  # only the notice's own ellipses remain
    assert "\ud83d" not in capped.replace(pair, "")
    assert len(capped) <= limit


def test_another_process_cuts_the_same_text():
    code = (
        "from synaptum.tools import cap_tool_output\n"
        "from synaptum.vocabulary import ToolResult\n"
        "text = ''.join(f'{n:05d}\\n' for n in range(1000))\n"
        "print(ascii(cap_tool_output(ToolResult.of('c1', text), max_chars=300).text))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "7", "PATH": "", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        capture_output=True,
        check=True,
        text=True,
    ).stdout.strip()

    assert other == ascii(cap_tool_output(ToolResult.of("c1", LOG), max_chars=300).text)
