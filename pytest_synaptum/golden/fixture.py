"""`synaptum_golden`: a test's values against its golden file.

    def test_answer(synaptum_golden, recorded_provider):
        response = ...
        synaptum_golden.response(response, masks=["provider_metadata.id: <str>"])

A value that differs fails the test with the paths, what was expected, what came, and the
command that accepts it. A golden that is missing fails as well: only `--synaptum-update`
writes, and only for the tests that ran. Values are compared and written with their secrets
replaced, as in a cassette, so that a recording and its replay have the same goldens.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from pytest_synaptum.errors import PluginError
from pytest_synaptum.golden.compare import Expected, same
from pytest_synaptum.golden.masks import apply_masks
from pytest_synaptum.golden.store import GoldenFile
from pytest_synaptum.naming import GOLDENS, file_for, shown
from pytest_synaptum.options import given_server
from pytest_synaptum.pending import Pending, Write, pending_of, why_not_passed
from pytest_synaptum.redacting import redactor_of_test
from pytest_synaptum.report.parts import GoldenPart, parts_of
from pytest_synaptum.session import session_of
from synaptum.errors import EncodingError
from synaptum.journal.store import RunState
from synaptum.providers.base import Provider
from synaptum.vocabulary import Request, Response, StreamEvent
from synaptum.vocabulary.codec import to_json

__all__ = ["Golden", "golden_of"]


class Golden:
    """Compares values with one test's golden file."""

    def __init__(self, file: GoldenFile, item: pytest.Item) -> None:
        self._file = file
        self._item = item
        self._test = item.nodeid
        self._session = session_of(item.config)
        self._update = self._session.options.update
        self._parts = parts_of(item)
        self._fresh: dict[str, Any] = {}
        self._checked: set[str] = set()
        self._counts: dict[str, int] = {}

    def check(self, value: Any, name: str | None = None, masks: Iterable[str] = ()) -> None:
        """Compare any value that has a JSON form (dataclasses and enums of ours included).

        Args:
            value: what came.
            name: the entry's name; without one, entries are `value`, `value-2` ...
            masks: places that change from run to run, such as `choices.*.id: <str>`; they
                must be there and of that type.

        Raises:
            pytest.fail.Exception: the value differs, or there is no golden yet.
            MaskError: a mask matches nothing, or stands over a value of another type.
        """
        __tracebackhide__ = True
        self._check("value", name, value, masks)

    def wire(
        self,
        request: Request | Mapping[str, Any],
        name: str | None = None,
        masks: Iterable[str] = (),
        *,
        provider: Provider | None = None,
    ) -> None:
        """Compare the JSON body that `request` becomes, in the order it travels, and lint it.

        A mapping is taken as a body already made. Without `provider`, the reference adapter
        writes it.
        """
        __tracebackhide__ = True
        from pytest_synaptum.corpus.wire_lint import lint, report

        if isinstance(request, Request):
            if provider is None:
                from synaptum.providers.openai_compatible import OpenAICompatible

                provider = OpenAICompatible()
            body: Mapping[str, Any] = provider.to_wire(request)
        else:
            body = request
        findings = lint(body)
        if findings:
            pytest.fail(report(findings), pytrace=False)
        self._check("wire", name, body, masks)

    def response(
        self, response: Response, name: str | None = None, masks: Iterable[str] = ()
    ) -> None:
        """Compare a neutral response, every field of it."""
        __tracebackhide__ = True
        self._check("response", name, response, masks)

    def events(
        self,
        events: Iterable[StreamEvent],
        name: str | None = None,
        masks: Iterable[str] = (),
    ) -> None:
        """Compare the events of a stream, one by one."""
        __tracebackhide__ = True
        self._check("events", name, list(events), masks)

    def journal(self, state: RunState, name: str | None = None, masks: Iterable[str] = ()) -> None:
        """Compare the journal of a run; the times (`at`) are masked."""
        __tracebackhide__ = True
        if self._parts is not None:
            self._parts.add_run(state)
        times = ["events.*.at: <str>"] if state.events else []
        self._check("journal", name, state, [*times, *masks])

    def catalogue(
        self, tools: Sequence[Any], name: str | None = None, masks: Iterable[str] = ()
    ) -> None:
        """Compare the definitions of tools, in their order; takes tools and definitions."""
        __tracebackhide__ = True
        definitions = [getattr(tool, "definition", tool) for tool in tools]
        self._check("catalogue", name, definitions, masks)

    def _check(self, kind: str, name: str | None, value: Any, masks: Iterable[str]) -> None:
        __tracebackhide__ = True
        name = self._named(kind) if name is None else name
        if isinstance(masks, str):
            masks = (masks,)
        try:
            plain = redactor_of_test(self._item).value(to_json(value))
        except EncodingError as error:
            msg = f"The golden {name!r} cannot hold this value. {error} Pass plain JSON values."
            raise pytest.fail.Exception(msg, pytrace=False) from None
        actual = apply_masks(plain, masks)
        self._session.tally.goldens_checked += 1
        if self._update:
            if name in self._fresh and not same(self._fresh[name], actual):
                pytest.fail(
                    f"The golden {name!r} is checked twice with different values; give each a"
                    " name of its own.",
                    pytrace=False,
                )
            self._fresh[name] = actual
            self._checked.add(name)
            self._hand_in(name, "written")
            return
        self._checked.add(name)
        expected = self._file.get(name)
        if expected is None:
            self._hand_in(name, "missing", actual=actual, command=self._command)
            pytest.fail(self._missing(name, plain), pytrace=False)
        if not expected.equals(actual):
            sides = {"expected": expected.value, "actual": actual}
            self._hand_in(name, "differs", **sides, command=self._command)
            pytest.fail(self._mismatch(name, expected, actual), pytrace=False)
        self._hand_in(name, "same")

    def _hand_in(self, name: str, status: str, **facts: Any) -> None:
        if self._parts is not None:
            part = GoldenPart(file=self._file.where, name=name, status=status, **facts)
            self._parts.goldens.append(part)

    def _named(self, kind: str) -> str:
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        return kind if count == 1 else f"{kind}-{count}"

    @property
    def _command(self) -> str:
        # A recording is kept only if its test passes: without one, there is nothing to replay.
        recording = [
            f"--synaptum-{name}"
            for name in ("record", "rerecord")
            if getattr(self._session.options, name)
        ]
        asked = given_server(self._item.config) if recording else []
        return shlex.join(["pytest", *recording, *asked, "--synaptum-update", self._test])

    def _missing(self, name: str, value: Any) -> str:
        from pytest_synaptum.golden.describe import show_value

        what = f"has no entry {name!r}" if self._file.exists else "does not exist"
        return (
            f"The golden {self._file.where} {what}. What came:\n    {show_value(value)}\n"
            f"If it is right, then: {self._command}"
        )

    def _mismatch(self, name: str, expected: Expected, actual: Any) -> str:
        from pytest_synaptum.golden.describe import describe

        lines = [f"The golden {name!r} in {self._file.where} differs:"]
        lines += describe(expected.value, actual)
        lines.append(f"If what came is right, accept it: {self._command}")
        return "\n".join(lines)

    def finish(self, pending: Pending) -> None:
        """The test is over: hand in what it updated, and judge entries that it left unchecked."""
        reason = why_not_passed(self._item)
        if reason is not None:
            if self._fresh:
                pending.keep_back(self._file.where, reason)
            return
        text = self._file.text_with(self._fresh) if self._fresh else None
        if text is None:
            self._judge_unchecked()
            return

        def done() -> None:
            self._session.tally.goldens_written += len(self._fresh)
            self._judge_unchecked()

        file = self._file
        pending.hold(Write(noun="golden", path=file.path, where=file.where, text=text, done=done))

    def _judge_unchecked(self) -> None:
        unused = [name for name in self._file.names if name not in self._checked]
        for name in unused:
            line = f"{self._file.where}: {name!r} was not checked by {self._test}"
            self._session.tally.unused_goldens.append(line)
        if unused and self._session.options.strict:
            msg = (
                f"{self._file.where} holds goldens that the test did not check:"
                f" {', '.join(map(repr, unused))}; check them, or remove them from the file."
            )
            pytest.fail(msg, pytrace=False)


@contextmanager
def golden_of(item: pytest.Item) -> Iterator[Golden]:
    """The golden of a test for as long as it runs."""
    path = file_for(item, GOLDENS)
    try:
        file = GoldenFile(path, shown(path, item.config))
    except PluginError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    golden = Golden(file, item)
    yield golden
    golden.finish(pending_of(item))
