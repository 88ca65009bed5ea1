"""A cassette that several tests share: who they are, and what one of them may not do to the rest.

The first test that runs writes it, and the others of the run replay from it. So no two workers
of xdist record the same one, and one test recorded again alone does not take away what others ask.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_synaptum.cassette.format import parse_cassette
from pytest_synaptum.cassette.match import Matcher
from pytest_synaptum.errors import PluginError
from pytest_synaptum.marker import named_cassette
from pytest_synaptum.naming import shown
from pytest_synaptum.session import session_of

if TYPE_CHECKING:
    from pytest_synaptum.recording import Recording

__all__ = ["TESTS", "claim", "forget", "loss", "release", "sharers", "tests_in", "together"]

#: Field of a cassette's header: the tests that shared it when it was recorded.
TESTS: Final = "tests"
_BETWEEN: Final = ", "
#: From this many tests on, their modules are named in their place.
_MANY: Final = 5

_DONE: Final = "done"
_CLAIM = pytest.StashKey[tuple[Path, Path]]()
_SHARERS = pytest.StashKey[dict[Path, list[str]]]()


def sharers(item: pytest.Item, path: Path) -> list[str]:
    """The tests of this run whose markers name the cassette at `path`, in their order."""
    known = item.session.stash.get(_SHARERS, None)
    if known is None:
        known = item.session.stash[_SHARERS] = {}
        for one in item.session.items:
            named = named_cassette(one)
            if named is not None:
                known.setdefault(named, []).append(one.nodeid)
    return known.get(path, [])


def tests_in(recorded: Mapping[str, str]) -> list[str]:
    """The tests that a cassette's header names."""
    return [name for name in recorded.get(TESTS, "").split(_BETWEEN) if name]


def together(tests: Sequence[str]) -> list[str]:
    """Arguments that select these tests: themselves, or their modules where they are many."""
    if len(tests) < _MANY:
        return list(tests)
    return list(dict.fromkeys(name.partition("::")[0] for name in tests))


def loss(recording: Recording, text: str) -> str | None:
    """Why `text` may not replace a shared cassette: other tests would miss what they ask for.

    None where nothing is lost, or all who share it are in this run, and so tell it themselves.
    """
    if recording.marker.cassette is None:
        return None
    try:
        old = parse_cassette(recording.path.read_bytes(), recording.where)
    except (OSError, PluginError):
        return None
    matcher = Matcher(recording.marker.match, recording.masks)
    new = parse_cassette(text.encode("utf-8"), recording.where)
    counts = [Counter(map(matcher.entry_key, one.entries)) for one in (old, new)]
    lost = (counts[0] - counts[1]).total()
    running = sharers(recording.item, recording.path)
    noted = tests_in(old.recorded)
    others = [name for name in noted if name not in running]
    if not lost or (noted and not others):
        return None
    if not noted and len(running) > 1:
        return None
    who = f"{_BETWEEN.join(together(others))}" if others else "other tests may share it"
    shared = f"it is shared with {who}" if others else who
    what = "an exchange" if lost == 1 else f"{lost} exchanges"
    return (
        f"it would lose {what} that {recording.item.nodeid} does not ask for, and {shared}: record"
        f" them together, {recording.command('--synaptum-rerecord', others)}, or delete the"
        " cassette first where no other test needs it"
    )


def claim(item: pytest.Item, path: Path) -> bool:
    """Take a cassette for this test to record; False where it was recorded in this run already.

    Without xdist there is nobody to take it from.

    Raises:
        pytest.fail.Exception: a test in another worker is recording it now.
    """
    worker: dict[str, Any] = getattr(item.config, "workerinput", {})
    if not worker:
        return True
    place = _folder(worker["testrunuid"])
    place.mkdir(mode=0o700, exist_ok=True)
    file = place / hashlib.sha256(str(path).encode()).hexdigest()
    try:
        with file.open("x", encoding="ascii") as new:
            new.write(worker["workerid"])
    except FileExistsError:
        owner = _read(file)
        if owner == _DONE:
            return False
        if owner != worker["workerid"]:
            tests = sharers(item, path)
            names = f" ({_BETWEEN.join(together(tests))})" if tests else ""
            msg = (
                f"{item.nodeid} shares the cassette {shown(path, item.config)}, which another"
                f" worker of xdist is recording at this moment; record the tests that share it"
                f"{names} in one process: add -n 0."
            )
            raise pytest.fail.Exception(msg, pytrace=False) from None
    item.stash[_CLAIM] = (file, path)
    return True


def release(item: pytest.Item) -> None:
    """The test is over: others find its cassette recorded, or may record it themselves."""
    file, path = item.stash.get(_CLAIM, (None, None))
    if file is None:
        return
    del item.stash[_CLAIM]
    if path in session_of(item.config).written:
        file.write_text(_DONE, encoding="ascii")
    else:
        file.unlink(missing_ok=True)


def forget(run: str) -> None:
    """The run is over: remove what its workers told each other."""
    shutil.rmtree(_folder(run), ignore_errors=True)


def _folder(run: str) -> Path:
    return Path(tempfile.gettempdir()) / f"synaptum-{run}"


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except FileNotFoundError:
        return ""  # given back just now
