"""Every kind of surroundings: what follows the surroundings is red, with their name."""

import pytest
from support.resumable import check
from support.surroundings import SCRIPT, importable


@pytest.fixture
def module(tmp_path, monkeypatch):
    yield from importable(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("agent", "where", "cause"),
    [
        ("of_an_offset", "TZ=", "the time zone"),
        ("of_an_encoding", "LC_ALL=C", "the locale"),
        ("of_a_folder", "another working folder", "the working folder"),
        ("of_a_year", "a clock that is ahead", "the clock"),
    ],
)
def test_what_follows_the_surroundings_is_red(module, agent, where, cause):
    report = check(f"{module}:{agent}", *SCRIPT, stops=(), perturb=True)

    found = report.findings[0]
    assert found.where.startswith(where)
    assert (found.check, found.path) in {("request", "system"), ("end", "")}
    assert found.cause.startswith(cause)
