"""What a fresh process does: `python -m pytest_synaptum.resume.elsewhere JOB`.

It reads a job that `perturb` wrote, runs the task from the start and from boundaries, and
writes down the first thing that differs, as JSON. Nothing of the user's is imported before the
locale and the clock are set.
"""

from __future__ import annotations

import asyncio
import json
import locale
import sys
from pathlib import Path
from typing import Any

__all__ = ["main"]


def main(job_file: str) -> int:
    """Do the job; the exit status."""
    job = json.loads(Path(job_file).read_bytes())
    try:
        locale.setlocale(locale.LC_ALL, "")
    except locale.Error as error:
        sys.stderr.write(f"This machine has no such locale: {error}\n")
        return 1
    if job["later_s"]:
        from pytest_synaptum.resume.later import shift_clock

        shift_clock(job["later_s"])
    finding = asyncio.run(_do(job))
    # Into a file: what the user's code prints is its own.
    Path(job["finding"]).write_text(json.dumps({"finding": finding}), encoding="ascii")
    return 0


async def _do(job: dict[str, Any]) -> dict[str, Any] | None:
    from pytest_synaptum.resume.given import agent_factory, allow, gateway_factory
    from pytest_synaptum.resume.luggage import load_baseline, load_task
    from pytest_synaptum.resume.passage import Setup
    from pytest_synaptum.resume.references import import_reference
    from synaptum.journal.memory import MemoryCheckpointer

    make_agent = agent_factory(import_reference(job["agent"]))
    gateway = None if job["gateway"] is None else import_reference(job["gateway"])
    decide = allow if job["decide"] is None else import_reference(job["decide"])
    setup = Setup(
        agent=make_agent,
        task=load_task(job["task"]),
        gateway=gateway_factory(gateway, _Nobody(), make_agent),
        open_store=lambda folder: MemoryCheckpointer(),
        is_streamed=job["is_streamed"],
        decide=decide,
    )
    baseline = await load_baseline(job["baseline"], Path(job["folder"]))
    finding = None
    for number in job["boundaries"]:
        finding = await _resumed(setup, baseline, number)
        if finding is not None:
            break
    if finding is not None and finding["path"]:
        return finding
    # A resumed run may only be refused: from the start, what differs shows.
    return await _resumed(setup, baseline, 0) or finding


async def _resumed(setup: Any, baseline: Any, writes: int) -> dict[str, Any] | None:
    """Go on with the run that has so many writes on record; what differs, as JSON."""
    from pytest_synaptum.resume import judge
    from pytest_synaptum.resume.passage import passage
    from pytest_synaptum.resume.stops import Gate
    from pytest_synaptum.resume.stores import GatedStore
    from pytest_synaptum.resume.tape import ReplayingGateway
    from pytest_synaptum.resume.world import World

    world, gate = World(baseline.world.run_id), Gate()
    store = setup.open_store(Path())
    for event in baseline.world.written[:writes]:
        await store.append(event.run_id, event)
        world.wrote(event)
    key = baseline.writes[writes]
    where = "from the start" if writes == 0 else f"resumed before {writes} {key[1]} {key[2]}"
    gateway = ReplayingGateway(setup.gateway(), world, gate, baseline.tape)
    gated = GatedStore(store, gate, world.wrote)
    end = await passage(setup, world, gated, gateway, gate, day=1, settle=baseline.settled)
    finding = (
        judge.same_events(where, baseline, world)
        or judge.stray(where, baseline, world)
        or judge.ended_alike(where, baseline, end, world)
    )
    if finding is None:
        return None
    names = ("check", "message", "where", "run", "step", "path", "recorded", "came", "cause")
    return {**{name: getattr(finding, name) for name in names}, "lines": list(finding.lines)}


class _Nobody:
    """Stands where the model stood; what a gateway may be made of, and never asked."""

    async def __call__(self, *_: object) -> Any:
        msg = "The model is not asked here."
        raise AssertionError(msg)

    complete = stream = __call__

    def gateway(self, tools: Any = (), policy: Any = None) -> Any:
        """As every model of this package has it."""
        from synaptum.gateway.local import LocalGateway

        return LocalGateway(model=self, stream=self.stream, tools=tools, policy=policy)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
