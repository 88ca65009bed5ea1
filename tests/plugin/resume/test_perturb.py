"""The run in fresh processes: what follows the surroundings is red, with their name."""

import sys
import textwrap

import pytest
from support.resumable import check

from synaptum.testing import calls, fails

MODULE = '''
import datetime
import locale
import pathlib

from synaptum import Agent, LocalGateway, tool

MODEL = "openai-compatible:qwen3-8b"
HERE = []

@tool(idempotent=True)
async def read(path: str) -> str:
    """Read."""
    return f"ñ {path}"

def make():
    return Agent("a", model=MODEL, tools=[read], instructions="Be exact. ñ")

def gateway(model):
    return LocalGateway(model=model, tools=[read])

def of_a_set():
    return Agent("a", model=MODEL, tools=[read], instructions=", ".join({"alpha", "beta", "gamma"}))

def of_an_hour():
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: f"It is {datetime.datetime.now():%H} o'clock.")

def of_a_day():
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: f"It is {datetime.datetime.now(datetime.UTC):%Y-%m-%d}.")

def of_an_encoding():
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: locale.getpreferredencoding(False).upper())

def of_a_folder():
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: pathlib.Path.cwd().name)

def of_a_cache():
    HERE.append(1)
    return Agent("a", model=MODEL, tools=[read],
                 instructions=lambda: "warm" if len(HERE) > 0 and BEFORE else "cold")

BEFORE = []
'''
SCRIPT = (calls("read", path="a"), fails(503), "Done.")


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "perturbed_shop.py").write_text(textwrap.dedent(MODULE), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield "perturbed_shop"
    sys.modules.pop("perturbed_shop", None)


def test_an_agent_that_follows_nothing_is_the_same_everywhere(module):
    report = check(
        f"{module}:make",
        *SCRIPT,
        gateway=f"{module}:gateway",
        stops=(),
        perturb=True,
    )

    assert report.ok, str(report)
    assert report.perturbed[:2] == ["PYTHONHASHSEED=1", "PYTHONHASHSEED=2"]
    assert {"TZ=AHEAD-14", "LC_ALL=C", "another working folder"} < set(report.perturbed)


@pytest.mark.parametrize(
    ("agent", "where", "cause"),
    [
        ("of_a_set", "PYTHONHASHSEED=", "the order of a set"),
        ("of_an_hour", "TZ=", "the time zone"),
        ("of_an_encoding", "LC_ALL=C", "the locale"),
        ("of_a_folder", "another working folder", "the working folder"),
        ("of_a_day", "a clock that is ahead", "the clock"),
    ],
)
def test_what_follows_the_surroundings_is_red(module, agent, where, cause):
    report = check(f"{module}:{agent}", *SCRIPT, stops=(), perturb=True)

    found = report.findings[0]
    assert found.where.startswith(where)
    assert (found.check, found.path) in {("request", "system"), ("end", "")}
    assert found.cause.startswith(cause)


def test_a_warm_cache_that_a_fresh_process_does_not_have(module):
    import perturbed_shop

    perturbed_shop.BEFORE.append("warm")

    report = check(f"{module}:of_a_cache", *SCRIPT, stops=(), perturb=True)

    found = report.findings[0]
    assert (found.recorded, found.came) == ('"warm"', '"cold"')
    assert found.cause.startswith("caches or state of the process")


def test_a_function_of_a_module_needs_no_name(module):
    import perturbed_shop

    report = check(perturbed_shop.of_a_set, *SCRIPT, stops=(), perturb=True)

    assert report.findings[0].cause.startswith("the order of a set")
