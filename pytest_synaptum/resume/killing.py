"""Passages of an agent of ours that end by SIGKILL, each in a process of its own."""

from __future__ import annotations

import pickle
import shutil
from dataclasses import dataclass
from pathlib import Path

from pytest_synaptum.resume import judge
from pytest_synaptum.resume.baseline import Baseline
from pytest_synaptum.resume.children import NotKilledError, written_in
from pytest_synaptum.resume.fork_server import ForkServer
from pytest_synaptum.resume.passage import Setup, passage
from pytest_synaptum.resume.report import Finding
from pytest_synaptum.resume.stops import Gate
from pytest_synaptum.resume.stores import GatedStore
from pytest_synaptum.resume.tape import ReplayingGateway
from pytest_synaptum.resume.world import World
from synaptum.journal.blocking import on_this_thread

__all__ = ["Killer", "differs_in"]


@dataclass(frozen=True, slots=True)
class _Life:
    """A passage that a child is to make: `gate` kills it."""

    world: World
    folder: Path
    gate: Gate
    day: int
    log: Path


class Killer:
    """Makes passages that are killed.

    Args:
        setup: what is checked.
        baseline: the straight run, which answers.
        folder: of the check; removed where the test's process is gone before it could.
        patience_s: seconds that a passage may take.
    """

    def __init__(self, setup: Setup, baseline: Baseline, folder: Path, patience_s: float) -> None:
        self._setup = setup
        self._baseline = baseline
        self._folder = folder
        self._patience_s = patience_s
        self._server: ForkServer[_Life] | None = None

    def killed(self, world: World, folder: Path, gate: Gate, log: Path, day: int = 0) -> int:
        """Go on with the run of `world` in a child until `gate` kills it.

        In: no store is open. Out: the child's exit code, see `ForkServer.run`; what it did is
        in `log`, and in `world`.
        """
        if self._server is None:
            self._server = ForkServer(
                self._live,
                patience_s=self._patience_s,
                orphaned=lambda: shutil.rmtree(self._folder, ignore_errors=True),
            )
        status = self._server.run(_Life(world, folder, gate, day, log), log)
        world.adopt(written_in(log))
        return status

    def close(self) -> None:
        """Kill no more."""
        if self._server is not None:
            self._server.close()

    async def _live(self, life: _Life, log: int) -> None:
        world, gate, setup, baseline = life.world, life.gate, self._setup, self._baseline
        world.log = log
        with on_this_thread():
            store = setup.open_store(life.folder)
        gated = GatedStore(store, gate, world.wrote)
        gateway = ReplayingGateway(setup.gateway(), world, gate, baseline.tape)
        end = await passage(
            setup, world, gated, gateway, gate, day=life.day, settle=baseline.settled
        )
        where = "in a process of its own"
        finding = judge.same_events(where, baseline, world) or judge.stray(where, baseline, world)
        _finding_file(life.log).write_bytes(pickle.dumps(finding))
        raise NotKilledError(str(end))


def differs_in(log: Path) -> Finding | None:
    """What a child that was not killed did otherwise than the straight run, if anything."""
    file = _finding_file(log)
    found: Finding | None = pickle.loads(file.read_bytes()) if file.exists() else None
    return found


def _finding_file(log: Path) -> Path:
    return log.with_suffix(".finding")
