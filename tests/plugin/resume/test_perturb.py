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
