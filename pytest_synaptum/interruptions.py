"""What a run under xdist cannot tell by itself when it is interrupted: the workers are gone."""

from __future__ import annotations

import pytest

from pytest_synaptum.session import session_of

__all__ = ["InterruptionPlugin"]


class InterruptionPlugin:
    """Registered where the run is reported, if it may write: knows which tests are under way."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._running: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins, here or in a worker."""
        self._running.add(nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test is over with all of its teardown."""
        self._running.discard(nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Name the tests that a worker took with it; without xdist their fixtures have told."""
        if exitstatus != pytest.ExitCode.INTERRUPTED:
            return
        if self._config.pluginmanager.hasplugin("dsession"):
            reason = "the test was interrupted; what it recorded or checked is lost"
            kept_back = session_of(self._config).tally.kept_back
            kept_back += [f"{nodeid}: {reason}" for nodeid in sorted(self._running)]
