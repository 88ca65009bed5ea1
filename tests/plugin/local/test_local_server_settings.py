"""What the embedded server says before there is one."""

import sys
from pathlib import Path

import pytest

from pytest_synaptum.local_server import LocalServer, LocalServerError, resolve_template


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "some-model.gguf"
    path.write_bytes(b"GGUF")
    return path


def test_without_the_extra_the_command_that_installs_it_is_named(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    with pytest.raises(LocalServerError, match=r"pip install 'pytest-synaptum\[local\]'"):
        LocalServer(model).start()


def test_without_a_model_the_command_that_fetches_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNAPTUM_CACHE", str(tmp_path))

    with pytest.raises(LocalServerError, match="fetch the small one with `synaptum-corpus model`"):
        LocalServer()


def test_a_model_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match=r"no model file .*absent\.gguf"):
        LocalServer(tmp_path / "absent.gguf")


def test_a_server_that_does_not_run_has_no_address(model: Path) -> None:
    with pytest.raises(LocalServerError, match="is not running"):
        _ = LocalServer(model).base_url


def test_a_model_of_the_user_is_called_by_its_file_name(model: Path) -> None:
    assert LocalServer(model).alias == "some-model"


def test_templates_of_ours_are_found_by_name() -> None:
    assert "<tool_response>" in resolve_template("tools")
    assert "<think>" in resolve_template("thinking")
    assert resolve_template(None) == ""


def test_a_template_file_of_the_user_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.jinja"
    path.write_text("{{ messages }}", encoding="utf-8")

    assert resolve_template(path) == "{{ messages }}"


def test_an_unknown_template_names_the_ones_there_are() -> None:
    with pytest.raises(LocalServerError, match="'toolz' is neither one of tools, thinking nor"):
        resolve_template("toolz")
