"""The stores of stopped runs: opened anew for each, on a place of their own.

A factory may take a folder, which is new and empty for each run, or nothing. One that takes
nothing may open the same database every time: the runs have different names in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from pytest_synaptum.resume.stops import Gate
from synaptum.errors import SynaptumError
from synaptum.journal.memory import MemoryCheckpointer
from synaptum.journal.store import Checkpointer, Claimable, Releasable, RunState, place_of
from synaptum.vocabulary import Step

__all__ = [
    "GatedStore",
    "OpenStore",
    "StoreFailedError",
    "close_store",
    "is_ours",
    "loaded",
    "refuse_no_store",
    "store_factory",
]

_OURS = frozenset(
    {"MemoryCheckpointer", "SqliteCheckpointer", "JsonlCheckpointer", "PostgresCheckpointer"}
)

#: Opens the store in a folder; twice on one folder is the same store, where it outlives a process.
OpenStore = Callable[[Path], Checkpointer]


class StoreFailedError(Exception):
    """A store raised what is none of synaptum's errors.

    Attributes:
        error: what it raised.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error


@contextlib.contextmanager
def _of_the_store() -> Iterator[None]:
    """A block in which the store is used: what it raises of its own is told from the agent's."""
    try:
        yield
    except SynaptumError:
        raise
    except Exception as error:
        raise StoreFailedError(error) from error


def store_factory(given: Any) -> OpenStore:
    """What opens stores, from what the user gave: a class or function of a folder, or of nothing.

    Raises:
        TypeError: what was given opens nothing, or (when it is called) no store.
    """
    if given is None:
        return lambda folder: MemoryCheckpointer()
    if not callable(given):
        msg = (
            f"checkpointer={given!r} is one store, and each run needs its own: give a function that"
            " opens one, such as lambda folder: SqliteCheckpointer(folder / 'journal.db')."
        )
        raise TypeError(msg)
    takes_folder = _takes_folder(given)

    def opened(folder: Path) -> Checkpointer:
        if takes_folder:
            folder.mkdir(exist_ok=True)  # only for a store that wants one: there are many runs
        with _of_the_store():
            store = given(folder) if takes_folder else given()
        refuse_no_store(store, f"checkpointer={given!r}")
        return cast("Checkpointer", store)

    return opened


def refuse_no_store(made: Any, maker: str) -> None:
    """Refuse what is no store. Raises `TypeError`, which names `maker`, who made it."""
    if hasattr(made, "append") and hasattr(made, "load"):
        return
    if inspect.iscoroutine(made):
        made.close()
    msg = (
        f"{maker} made a {type(made).__name__}, which is no store: give a plain function that"
        " returns one, with append and load."
    )
    raise TypeError(msg)


def _takes_folder(given: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(given).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        for p in parameters
    )


def is_ours(store: object) -> bool:
    """Whether the store is one of this project's, whose promises its own tests hold."""
    kind = type(store)
    return kind.__module__.startswith("synaptum.journal.") and kind.__name__ in _OURS


async def close_store(store: Any) -> None:
    """Close a store that can be closed."""
    for name in ("aclose", "close"):
        closing = getattr(store, name, None)
        if closing is not None:
            with _of_the_store():
                result = closing()
                if inspect.isawaitable(result):
                    await result
            return


async def loaded(store: Checkpointer, run_id: str) -> RunState:
    """A run as the store has it. Raises `SynaptumError`, or `StoreFailedError`."""
    with _of_the_store():
        return await store.load(run_id)


class GatedStore:
    """A store whose writes pass a gate; what it raises of its own is a `StoreFailedError`.

    Args:
        inner: the store.
        gate: may stop the run at one of the writes.
        acknowledged: told of each write that the store acknowledged.

    Attributes:
        found: what each run was found to have on record when it was first loaded.
    """

    def __init__(
        self, inner: Checkpointer, gate: Gate, acknowledged: Callable[[Step], None]
    ) -> None:
        self._inner = inner
        self._gate = gate
        self._acknowledged = acknowledged
        self.found: dict[str, Sequence[Step]] = {}

    async def append(self, run_id: str, event: Step) -> None:
        """Write by the store. Raises `StoppedError` at the boundary, or does not return."""
        self._gate.before()
        with _of_the_store():
            await self._inner.append(run_id, event)
        self._acknowledged(event)
        self._gate.after()
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            await asyncio.sleep(0)  # where the cancellation arrives

    async def load(self, run_id: str) -> RunState:
        """Read by the store."""
        state = await loaded(self._inner, run_id)
        self.found.setdefault(run_id, state.events)
        return state

    async def release(self, run_id: str) -> None:
        """Release by the store, where it holds runs."""
        if isinstance(self._inner, Releasable):
            with _of_the_store():
                await self._inner.release(run_id)

    async def claim(self, run_id: str) -> None:
        """Claim by the store, where runs can be claimed."""
        if isinstance(self._inner, Claimable):
            with _of_the_store():
                await self._inner.claim(run_id)

    @property
    def place(self) -> Hashable:
        """The store's own."""
        return place_of(self._inner)
