"""The run in fresh processes: what follows the surroundings is red, with their name.

The surroundings one by one are in `suites/resume`.
"""

import pytest
from support.resumable import check
from support.surroundings import SCRIPT, importable


@pytest.fixture
def module(tmp_path, monkeypatch):
    yield from importable(tmp_path, monkeypatch)


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


def test_what_follows_the_surroundings_is_red(module):
    report = check(f"{module}:of_a_set", *SCRIPT, stops=(), perturb=True)

    found = report.findings[0]
    assert found.where.startswith("PYTHONHASHSEED=")
    assert (found.check, found.path) == ("request", "system")
    assert found.cause.startswith("the order of a set")


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


TALKATIVE = '''
import sys

from synaptum import Agent, tool

print("imported")

@tool(idempotent=True)
async def read(path: str) -> str:
    """Read."""
    print("reading", path)
    print("reading", path, file=sys.stderr)
    return "text"

def make():
    return Agent("a", model="openai-compatible:m", tools=[read])

def gateway(model):
    return model.gateway([read])
'''


def test_what_the_agent_prints_is_its_own_and_a_gateway_may_be_the_models(tmp_path, monkeypatch):
    (tmp_path / "talkative.py").write_text(TALKATIVE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    report = check("talkative:make", *SCRIPT, gateway="talkative:gateway", stops=(), perturb=True)

    assert report.ok, str(report)
    assert len(report.perturbed) >= 9


OF_SOME_SEEDS = '''
import os

from synaptum import Agent, tool

@tool(idempotent=True)
async def read(path: str) -> str:
    """Read."""
    return "text"

def make():
    order = "b, a" if os.environ.get("PYTHONHASHSEED") in {"3", "4"} else "a, b"
    return Agent("a", model="openai-compatible:m", tools=[read], instructions=order)
'''


def test_a_process_that_is_only_refused_when_it_resumes_shows_what_differs(tmp_path, monkeypatch):
    """Each process resumes from another boundary first, and some from behind the first one."""
    (tmp_path / "of_some_seeds.py").write_text(OF_SOME_SEEDS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    report = check("of_some_seeds:make", *SCRIPT, stops=(), perturb=True)

    assert [(one.path, one.recorded, one.came) for one in report.findings] == [
        ("system", '"a, b"', '"b, a"')
    ] * 2
