"""A setting in the ini file that was meant to be one of ours is not passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = "def test_x(): pass\n"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    pytester.makepyfile(test_x=TESTS)
    return pytester.path


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-p", "no:hypothesispytest", "-p", "no:asyncio", *args)


FILES = {
    "pytest.ini": "[pytest]\n{} = x\n",
    "tox.ini": "[pytest]\n{} = x\n",
    "setup.cfg": "[tool:pytest]\n{} = x\n",
    "pyproject.toml": '[tool.pytest.ini_options]\n{} = "x"\n',
}


@pytest.mark.parametrize("file", FILES)
def test_a_misspelt_setting_is_a_usage_error_that_names_the_near_ones(
    pytester: pytest.Pytester, project: Path, file: str
) -> None:
    (project / file).write_text(FILES[file].format("synaptum_ignroe"), encoding="utf-8")

    result = run(pytester)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: There is no ini setting synaptum_ignroe; did you mean synaptum_ignore? Known"
            " are synaptum_allow_network, *, synaptum_update."
        ]
    )


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest 9 brought this file")
@pytest.mark.parametrize(
    ("file", "table"), [("pytest.toml", "pytest"), ("pyproject.toml", "tool.pytest")]
)
def test_the_tables_of_pytest_9_are_read_too(
    pytester: pytest.Pytester, project: Path, file: str, table: str
) -> None:
    (project / file).write_text(f'[{table}]\nsinaptum_model = "x"\n', encoding="utf-8")

    result = run(pytester)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no ini setting sinaptum_model; did you mean synaptum_model? *"])


def test_a_misspelt_setting_of_the_command_line_is_one_too(
    pytester: pytest.Pytester, project: Path
) -> None:
    result = run(pytester, "-o", "synaptum_nothing_like_it=1")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: There is no ini setting synaptum_nothing_like_it. Known are *"]
    )


def test_settings_of_others_are_theirs(pytester: pytest.Pytester, project: Path) -> None:
    pytester.makeconftest("def pytest_addoption(parser): parser.addini('synaptum_own', 'ours')\n")
    (project / "pytest.ini").write_text(
        "[pytest]\nsynaptum_own = 1\nsome_other = 2\nsynaptum_model = small\n", encoding="utf-8"
    )

    run(pytester).assert_outcomes(passed=1)


@pytest.mark.parametrize("name", ["strict", "record", "update", "allow_network"])
def test_a_word_that_is_neither_yes_nor_no_is_told_with_its_setting(
    pytester: pytest.Pytester, project: Path, name: str
) -> None:
    (project / "pytest.ini").write_text(f"[pytest]\nsynaptum_{name} = perhaps\n", encoding="utf-8")

    result = run(pytester)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            f"ERROR: The ini setting synaptum_{name} cannot be read: invalid truth value 'perhaps';"
            " write true or false."
        ]
    )
