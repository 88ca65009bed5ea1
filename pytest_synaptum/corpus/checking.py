"""A case under an adapter: read the evidence, compare with the golden, hold the laws."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.cassette.writing import write_atomically
from pytest_synaptum.corpus.case import Ask, Case
from pytest_synaptum.corpus.flags import Flags
from pytest_synaptum.corpus.giving import AdapterFault, CheckedProvider
from pytest_synaptum.corpus.laws import LAWS, Situation, same_answer
from pytest_synaptum.corpus.masking import mask_what_fits
from pytest_synaptum.corpus.reading import Reading, conclude, read_exchange
from pytest_synaptum.corpus.shape import shown
from pytest_synaptum.errors import FileFormatError, PluginError
from pytest_synaptum.exchange import Exchange
from pytest_synaptum.golden.compare import same
from pytest_synaptum.golden.masks import parse_mask
from synaptum import canonical
from synaptum.errors import EncodingError
from synaptum.models.dialect import Dialect

__all__ = ["CASE_GOLDEN_FORMAT", "Broken", "CaseFailure", "check_case", "load_exchanges"]

CASE_GOLDEN_FORMAT: Final = "case-golden/1"
#: Keys of a golden that only the reference adapter is held to.
_OWN: Final = ("provider_metadata", "request_id")
_SHOWN_LINES: Final = 14
_SHOWN_CHARS: Final = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A rule that an adapter broke; `ask` counts from 1, None where it is about all of them.

    `sides` are the golden and what came, where these differ.
    """

    rule: str
    sentence: str
    ask: int | None = None
    sides: tuple[Any, Any] | None = None


class CaseFailure(AssertionError):
    """A case failed; the text is the whole report, and `broken` its facts."""

    def __init__(self, text: str, broken: Sequence[Broken] = ()) -> None:
        super().__init__(text)
        self.broken = tuple(broken)


def load_exchanges(case: Case) -> tuple[Exchange, ...]:
    """The evidence of a case, one exchange an ask.

    Raises:
        CaseFailure: there is none yet; says how it comes to be.
        FileFormatError: the file is no cassette, or does not fit the asks.
    """
    path = case.exchange_path
    if not path.is_file():
        how = (
            f"record it: pytest {shlex.quote(case.shown_folder)} --synaptum-record"
            " --synaptum-base-url URL --synaptum-model NAME"
            if case.kind == "recorded"
            else "a derived case is written by hand, with its exchange (see FORMAT.md)"
        )
        msg = f"{case.id} has no {path.name}; {how}."
        raise CaseFailure(msg)
    exchanges = load_cassette(path, shown(path)).exchanges()
    if len(exchanges) != len(case.asks):
        msg = (
            f"{shown(path)} holds {len(exchanges)} exchanges and {case.shown_folder}/case.yaml asks"
            f" {len(case.asks)} times; they go one to one, so record or correct it."
        )
        raise FileFormatError(msg)
    return exchanges


def check_case(case: Case, flags: Flags, spec: str, dialect: Dialect, *, update: bool) -> bool:
    """Hold one adapter to one case; whether the golden was written.

    Args:
        case: the case.
        flags: what its flags mean, for the report.
        spec: the adapter's name as it was given.
        dialect: the adapter.
        update: write the golden instead of comparing; the laws hold all the same. Only
            the reference adapter updates.

    Raises:
        CaseFailure: with every rule that is broken, the bytes, and the flags' sentences.
        MaskError: a mask of the case fits neither the golden nor what the reference adapter says.
    """
    exchanges = load_exchanges(case)
    dialect = Dialect(CheckedProvider(dialect.provider))
    reference = dialect.name == "openai-compatible"
    broken: list[Broken] = []
    readings: list[Reading] = []
    entries: list[Any] = []
    for number, (ask, exchange) in enumerate(zip(case.asks, exchanges, strict=True), 1):
        try:
            wire = _wire(dialect, ask)
            reading = read_exchange(dialect, exchange)
            entry = conclude(reading, wire)
        except Exception as error:  # whatever the adapter raises is the finding
            broken.append(_raised("errors", error, number))
            continue
        if reference:
            broken += _evidence(case, ask, exchange, wire, number)
        situation = Situation(
            ask=ask, exchange=exchange, dialect=dialect, reading=reading, wire=wire
        )
        for name, law in LAWS.items():
            try:
                told = list(law(situation))
            except Exception as error:  # here too: most laws read the answer once more
                broken.append(_raised(name, error, number))
            else:
                broken += [Broken(rule=name, sentence=text, ask=number) for text in told]
        readings.append(reading)
        entries.append(entry)
    if case.same_answer:
        broken += [Broken(rule="same-answer", sentence=text) for text in same_answer(readings)]
    written = False
    if len(entries) == len(exchanges):
        masks = case.masks if reference else [one for one in case.masks if not _is_own(one)]
        masked, misfit = mask_what_fits({"exchanges": entries}, masks)
        if update and reference:
            if misfit is not None:
                raise misfit
            written = not broken and _write_golden(case, masked["exchanges"])
        else:
            differing = _compare(case, masked["exchanges"], reference)
            if misfit is not None and reference and not differing:
                raise misfit  # the golden does not have it either: the mask is wrong
            broken += differing
    if broken:
        raise CaseFailure(_report(case, flags, spec, exchanges, broken, reference), broken)
    return written


def _raised(rule: str, error: Exception, ask: int) -> Broken:
    told = str(error) if isinstance(error, AdapterFault) else f"{type(error).__name__}: {error}"
    return Broken(rule=rule, sentence=told, ask=ask)


def _wire(dialect: Dialect, ask: Ask) -> Any:
    """The body the adapter asks with; None where the case gives no request."""
    if ask.request is None:
        return None
    return canonical.loads(dialect.body(ask.request, stream=ask.stream))


def _evidence(case: Case, ask: Ask, exchange: Exchange, wire: Any, number: int) -> Iterator[Broken]:
    """An answer is evidence for the question that was asked, and for no other."""
    body = exchange.request.body
    wanted = wire if wire is not None else ask.body
    if wanted is None or (case.kind == "derived" and not body):
        return
    try:
        asked = canonical.loads(body)
    except EncodingError:
        asked = None
    if not same(asked, wanted):
        from pytest_synaptum.golden.describe import describe

        where = "; ".join(line.strip() for line in describe(asked, wanted)[:3])
        yield Broken(
            rule="evidence",
            sentence=(
                "the adapter now asks with another body than the one that was answered"
                f" ({where}); record it again: --synaptum-rerecord"
            ),
            ask=number,
        )


def _read_golden(case: Case) -> list[Any] | None:
    """The golden's entries; None where there is no golden yet."""
    path = case.golden_path
    try:
        value = strict_yaml.load_file(path, shown(path))
    except FileNotFoundError:
        return None
    exchanges = value.get("exchanges") if isinstance(value, dict) else None
    if exchanges is None or value.get("synaptum") != CASE_GOLDEN_FORMAT or len(value) != 2:
        msg = (
            f"{shown(path)}: expected the two keys `synaptum: {CASE_GOLDEN_FORMAT}` and"
            " `exchanges`; restore it from version control, or update it."
        )
        raise FileFormatError(msg)
    return list(exchanges)


def _compare(case: Case, actual: list[Any], reference: bool) -> list[Broken]:
    expected = _read_golden(case)
    if expected is None:
        command = f"pytest {shlex.quote(case.shown_folder)} --synaptum-update"
        sentence = f"there is no golden.yaml yet; look at what the server said, then: {command}"
        return [Broken(rule="golden", sentence=sentence)]
    if not reference:
        expected, actual = _of_others(expected), _of_others(actual)
    if same(expected, actual):
        return []
    from pytest_synaptum.golden.describe import describe

    lines = describe({"exchanges": expected}, {"exchanges": actual})
    text = "\n".join(["it differs:", *lines])
    return [Broken(rule="golden", sentence=text, sides=(expected, actual))]


def _of_others(entries: Iterable[Any]) -> list[Any]:
    """Entries without what is the reference adapter's own: its metadata and its bodies."""
    return [_without_metadata({**entry, "wire": None}) for entry in entries]


def _is_own(mask: str) -> bool:
    """Whether a mask is over what only the reference adapter is held to."""
    return not set(_OWN).isdisjoint(parse_mask(mask).steps)


def _without_metadata(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_metadata(inner) for key, inner in value.items() if key not in _OWN}
    return [_without_metadata(inner) for inner in value] if isinstance(value, list) else value


def _write_golden(case: Case, entries: list[Any]) -> bool:
    text = strict_yaml.dump({"synaptum": CASE_GOLDEN_FORMAT, "exchanges": entries})
    path = case.golden_path
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    try:
        write_atomically(path, text)
    except OSError as error:
        msg = (
            f"The golden {shown(path)} cannot be written ({error.strerror}); the old one is as it"
            " was. Make its folder writable and run again."
        )
        raise PluginError(msg) from None
    return True


def _report(
    case: Case,
    flags: Flags,
    spec: str,
    exchanges: tuple[Exchange, ...],
    broken: list[Broken],
    reference: bool,
) -> str:
    lines = [f"{case.id} under {spec}: {case.summary}"]
    for one in broken:
        where = f" (ask {one.ask})" if one.ask is not None else ""
        lines.append(f"rule `{one.rule}`{where}: {one.sentence}")
    if reference and [one.rule for one in broken] == ["golden"] and case.golden_path.exists():
        command = f"pytest {shlex.quote(case.shown_folder)} --synaptum-update"
        lines.append(f"If what came is right, accept it: {command}")
    numbers = sorted({one.ask or 1 for one in broken})
    for number in numbers:
        lines += [f"what the server said to ask {number} ({case.shown_folder}/exchange.yaml):"]
        lines += [f"  {line}" for line in _bytes_shown(exchanges[number - 1])]
    lines += [f"flag `{flag}`: {flags.sentences[flag]}" for flag in case.flags]
    return "\n".join(lines)


def _bytes_shown(exchange: Exchange) -> Iterator[str]:
    recorded = exchange.response
    if recorded is None:
        yield "(nothing: the connection failed)"
        return
    yield f"status {recorded.status}" + (f", {recorded.ending}" if recorded.ending else "")
    body = recorded.body.decode("utf-8", "backslashreplace").splitlines()
    shown = [line for line in body if line.strip()]
    for line in shown[:_SHOWN_LINES]:
        yield line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}… ({len(line):,})"
    if len(shown) > _SHOWN_LINES:
        yield f"and {len(shown) - _SHOWN_LINES} lines more"
