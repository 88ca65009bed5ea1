"""Any HTTP client of this process: which seams there are, and who they talk to.

A seam is a wrapper installed on a class of the client, once; what it does is decided call by
call by the capture on top of one process-wide stack. A context variable would be wrong: the
threads that clients start would not see it, and would go to the network.

Seams are installed for the libraries that are imported when a capture begins, and for the
others at the moment they are imported. Private names of a library are looked up when its
seam is installed, so an unknown version fails there, clearly, with the guard behind it.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Final

from pytest_synaptum.cassette.player import Player
from pytest_synaptum.cassette.recorder import Recorder, Slot, path_of
from pytest_synaptum.errors import PluginError
from pytest_synaptum.exchange import RecordedResponse

__all__ = ["Capture", "SeamError", "captured", "current", "is_busy", "passing_on"]


class SeamError(PluginError):
    """A library's version has not the names that its seam is put on."""


@dataclass(frozen=True, slots=True)
class Capture:
    """What is done with the requests that the seams see: one of the two is there."""

    recorder: Recorder | None
    player: Player | None
    pace: float = 0.0

    def begin(self, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes) -> Slot:
        """Take a place for a request that is about to be sent, while recording."""
        assert self.recorder is not None
        return self.recorder.begin(method, url, headers, body)

    def take(
        self, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes
    ) -> RecordedResponse | None:
        """The recorded answer, while replaying. Raises `CassetteMismatchError`."""
        __tracebackhide__ = True
        assert self.player is not None
        self.player.learn(headers)
        return self.player.take(method, path_of(url), body)

    def wait(self, seconds: float | None) -> None:
        """Wait as long as was recorded, where a replay is asked to."""
        if self.pace and seconds:
            threading.Event().wait(seconds * self.pace)


_stack: list[Capture] = []
_stack_lock = threading.Lock()
_busy = threading.local()

#: Library to the module with its seam. urllib3 stands on http.client, so it comes first.
_SEAMS: Final = {
    "httpx": "httpx",
    "httpx2": "httpx",
    "urllib3": "urllib3",
    "http.client": "http_client",
    "aiohttp": "aiohttp",
}
#: The very modules that have their seam: one that is imported anew needs it anew.
_installed: dict[str, ModuleType] = {}
_install_lock = threading.RLock()


def current() -> Capture | None:
    """The capture that a request made now belongs to, from any thread."""
    stack = _stack
    return stack[-1] if stack else None


def is_busy() -> bool:
    """Whether a seam above is passing a request on in this thread."""
    return bool(getattr(_busy, "depth", 0))


@contextlib.contextmanager
def passing_on() -> Iterator[None]:
    """A seam passes a request on in this thread: the seams below leave it alone."""
    _busy.depth = getattr(_busy, "depth", 0) + 1
    try:
        yield
    finally:
        _busy.depth -= 1


@contextlib.contextmanager
def captured(recorder: Recorder | None, player: Player | None, pace: float = 0.0) -> Iterator[None]:
    """Record or replay what every client of this process asks, until the block ends."""
    _install()
    capture = Capture(recorder, player, pace)
    with _stack_lock:
        _stack.append(capture)
    try:
        yield
    finally:
        with _stack_lock:
            _stack.remove(capture)


def _install() -> None:
    with _install_lock:
        if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0, _Finder())
        for library in _SEAMS:
            if library in sys.modules or library == "http.client":
                _install_one(library)


def _install_one(library: str) -> None:
    with _install_lock:
        module = importlib.import_module(library)
        if _installed.get(library) is module:
            return
        seam = importlib.import_module(f"pytest_synaptum.capture.{_SEAMS[library]}")
        install: Callable[[ModuleType], None] = seam.install
        try:
            install(module)
        except (AttributeError, ImportError) as error:
            msg = (
                f"{library} {getattr(module, '__version__', '')} cannot be captured: {error}; use"
                " a version that this plugin knows, or recorded_provider."
            )
            raise SeamError(msg) from None
        _installed[library] = module


class _Finder(MetaPathFinder):
    """Puts a seam on a library that is imported while captures are about."""

    def __init__(self) -> None:
        self._looking = threading.local()

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in _SEAMS or getattr(self._looking, "on", False):
            return None
        self._looking.on = True
        try:
            spec = find_spec(name)
        finally:
            self._looking.on = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, inner: Loader) -> None:
        self._inner = inner

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        self._inner.exec_module(module)
        _install_one(module.__name__)
