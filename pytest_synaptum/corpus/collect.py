"""`pytest corpus`: every `case.yaml` becomes one test for each adapter named."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_synaptum.corpus.case import Case, is_case_file, load_case
from pytest_synaptum.corpus.checking import Broken, CaseFailure, check_case, load_exchanges
from pytest_synaptum.corpus.flags import Flags, find_flags
from pytest_synaptum.corpus.providers import REFERENCE, is_reference, load_adapter
from pytest_synaptum.errors import PluginError
from pytest_synaptum.report.parts import GoldenPart, Parts, parts_of
from pytest_synaptum.session import session_of

__all__ = ["CaseFile", "CaseItem", "collect_case"]


def collect_case(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The collector of a case; None where the file is somebody else's `case.yaml`."""
    if not is_case_file(path):
        return None
    file: CaseFile = CaseFile.from_parent(parent, path=path)
    return file


class CaseFile(pytest.File):
    """One case."""

    def collect(self) -> Iterator[CaseItem]:
        """One item for each adapter."""
        flags = find_flags(self.path)
        case = load_case(self.path, flags)
        for spec in session_of(self.config).options.providers or (REFERENCE,):
            yield CaseItem.from_parent(self, name=spec, case=case, flags=flags)

    def repr_failure(  # type: ignore[override]
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> Any:
        """A file that cannot be read is one sentence, without a traceback."""
        if isinstance(excinfo.value, PluginError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class CaseItem(pytest.Item):
    """One case under one adapter; its name is the adapter's."""

    def __init__(self, *, case: Case, flags: Flags, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case
        self.flags = flags
        # `-k` selects by what a case shows and where it comes from.
        self.extra_keyword_matches.update((case.id, case.kind, *case.flags))

    def runtest(self) -> None:
        """Record where that is asked for, then check."""
        session = session_of(self.config)
        options = session.options
        absent = not self.case.exchange_path.is_file()
        if self.case.kind == "recorded" and (options.rerecord or (options.record and absent)):
            from pytest_synaptum.cassette.changes import read_before, wrote
            from pytest_synaptum.cassette.format import load_cassette
            from pytest_synaptum.corpus.recording import record_case
            from pytest_synaptum.corpus.servers import servers_for

            with servers_for(self.case, session) as url_for:
                key = options.api_key if options.base_url is not None else None
                before = read_before(self.case.exchange_path)
                record_case(self.case, url_for(0), api_key=key, before_ask=url_for)
            session.tally.recorded += len(self.case.asks)
            path = self.case.exchange_path
            where = f"{self.case.shown_folder}/{path.name}"
            new = load_cassette(path).exchanges()
            session.tally.wrote.append(wrote(where, new, path.stat().st_size, before))
        update = options.update and is_reference(self.name)
        session.tally.goldens_checked += 1
        dialect = load_adapter(self.name, self.case.profile)
        broken: Sequence[Broken] = ()
        written = False
        try:
            written = check_case(self.case, self.flags, self.name, dialect, update=update)
        except CaseFailure as failure:
            broken = failure.broken
            raise
        finally:
            parts = parts_of(self)
            if parts is not None:
                self._hand_in(parts, broken, written)
        if written:
            session.tally.goldens_written += 1

    def _hand_in(self, parts: Parts, broken: Sequence[Broken], written: bool) -> None:
        """Give the page of the run the evidence of the case, and how it met its golden."""
        with contextlib.suppress(CaseFailure, PluginError):  # which the test itself has raised
            parts.exchanges += [("evidence,", one) for one in load_exchanges(self.case)]
        file = f"{self.case.shown_folder}/{self.case.golden_path.name}"
        sides = next((one.sides for one in broken if one.sides is not None), None)
        if sides is not None:
            command = f"pytest --synaptum-update {shlex.quote(self.case.shown_folder)}"
            part = GoldenPart(
                file=file,
                name="exchanges",
                status="differs",
                expected=sides[0],
                actual=sides[1],
                command=command,
            )
            parts.goldens.append(part)
        elif not broken and self.case.golden_path.is_file():
            status = "written" if written else "same"
            parts.goldens.append(GoldenPart(file=file, name="exchanges", status=status))

    def repr_failure(  # type: ignore[override]
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> Any:
        """Our own failures say all there is to say; others keep their traceback."""
        if isinstance(excinfo.value, CaseFailure | PluginError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """Where the case is, and how it is called."""
        # A line there must be: pytest names it where an item is skipped by a mark.
        return self.path, 0, f"{self.case.id} [{self.name}]"
