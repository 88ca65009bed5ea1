"""With which key a case is asked, and that none is written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.chat import chat_body
from support.loopback import Answer, LoopbackServer

from pytest_synaptum import strict_yaml
from pytest_synaptum.corpus.case import Case, load_case
from pytest_synaptum.corpus.flags import find_flags
from pytest_synaptum.corpus.recording import record_case
from pytest_synaptum.errors import PluginError

CORPUS = Path(__file__).parents[3] / "corpus"
KEY = "the-key-of-the-server-0123456789"


def case_that_needs(folder: Path, needs: dict[str, str]) -> Case:
    target = folder / "openai_chat" / "litellm" / "it"
    target.mkdir(parents=True)
    shutil.copy(CORPUS / "flags.yaml", folder / "flags.yaml")
    value = strict_yaml.load_file(CORPUS / "openai_chat/litellm/key-missing-fails/case.yaml")
    path = target / "case.yaml"
    path.write_text(strict_yaml.dump({**value, "needs": needs}), encoding="utf-8")
    return load_case(path, find_flags(path))


@pytest.mark.parametrize(
    ("needs", "sent"),
    [
        ({}, f"Bearer {KEY}"),
        ({"api_key": "none"}, None),
        ({"api_key": "unknown"}, "Bearer sk-00000000000000000000"),
    ],
)
def test_a_case_says_with_which_key_it_is_asked(
    tmp_path: Path, needs: dict[str, str], sent: str | None
) -> None:
    case = case_that_needs(tmp_path, needs)
    echo = [Answer(body=chat_body(f"You sent {KEY} and sk-00000000000000000000."))]

    with LoopbackServer(echo) as server:
        record_case(case, server.base_url, api_key=KEY)

    assert server.requests[0].header("authorization") == sent
    written = case.exchange_path.read_text(encoding="utf-8")
    assert KEY not in written
    assert "sk-0000" not in written


def test_a_token_that_an_answer_names_stands_nowhere_in_a_case(tmp_path: Path) -> None:
    case = case_that_needs(tmp_path, {})
    text = '{"access_token":"tok-live-abcdef123456"} is yours: use tok-live-abcdef123456.'

    with LoopbackServer([Answer(body=chat_body(text))]) as server:
        record_case(case, server.base_url, api_key=KEY)

    assert "tok-live" not in case.exchange_path.read_text(encoding="utf-8")


def test_a_passing_error_inside_a_good_status_is_no_evidence(tmp_path: Path) -> None:
    case = case_that_needs(tmp_path, {})

    with (
        LoopbackServer([Answer(body=b'{"error":{"code":429}}')]) as server,
        pytest.raises(
            PluginError, match=r"with status 200 and an error inside \(429\), which says"
        ),
    ):
        record_case(case, server.base_url, api_key=KEY)

    assert not case.exchange_path.exists()
