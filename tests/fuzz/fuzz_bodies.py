"""Mutated and truncated answers for the default adapter: no crash, no hang, no silent success.

    python tests/fuzz/fuzz_bodies.py [COUNT] [SEED]      100,000 and 0 by default

Every answer of the corpus is a seed. A *truncated* one is cut somewhere; a *mutated* one has
bytes, JSON values or whole events changed, dropped, doubled, swapped or taken from another
answer. What may come of it is a response or one of the framework's own errors. Judged besides:

- a body that is no JSON object, or that was cut, is never a response;
- a stream without a finish word, a closing usage or `[DONE]` is never a response;
- the events of a stream fit together (the corpus' law `events`), whatever it says;
- nothing takes longer than `SLOW_S`.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pytest_synaptum.cassette.format import load_cassette
from pytest_synaptum.corpus.case import Ask
from pytest_synaptum.corpus.laws import LAWS, Situation
from pytest_synaptum.corpus.providers import REFERENCE, load_adapter
from pytest_synaptum.corpus.reading import is_stream_body, read_exchange
from pytest_synaptum.exchange import Exchange
from synaptum.errors import SynaptumError

CORPUS: Final = Path(__file__).parents[2] / "corpus"
#: Processor seconds for one answer; the largest seed has some 30 kB.
SLOW_S: Final = 2.0

DEEP: Final = b"[" * 3000

#: What stands in the place of a JSON value.
ODD: Final = (
    None, True, False, 0, -1, 1.5, 10**25, "", "x", "\ud800", [], {}, [None], [[]], {"": None},
    [{}], "null", "[DONE]", "<think>", {"type": "text", "text": "t"}, {"content": []},
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with one answer, and what reproduces it."""

    why: str
    number: int
    body: bytes


def seeds() -> list[Exchange]:
    """Every answer of the corpus."""
    return [
        exchange
        for path in sorted(CORPUS.rglob("exchange.yaml"))
        for exchange in load_cassette(path).exchanges()
        if exchange.response is not None and exchange.response.body
    ]


def fuzz(count: int, seed: int) -> tuple[Counter[str], list[Fault]]:
    """Read `count` broken answers; how they ended, and the faults."""
    dice = random.Random(seed)
    given = seeds()
    dialect = load_adapter(REFERENCE)
    ends: Counter[str] = Counter()
    faults: list[Fault] = []
    for number in range(count):
        exchange = dice.choice(given)
        assert exchange.response is not None
        body = exchange.response.body
        is_cut = dice.random() < 0.3
        broken = body[: dice.randrange(len(body))] if is_cut else _mutated(body, given, dice)
        pieces = tuple(_pieces(broken, dice))
        response = replace(exchange.response, chunks=pieces, delays_s=())
        case = replace(exchange, response=response)
        begin = time.process_time()
        try:
            reading = read_exchange(dialect, case)
        except SynaptumError as error:
            faults.append(Fault(f"an error got out of the reading: {error!r}", number, broken))
            continue
        except Exception as error:  # the very thing that is looked for
            faults.append(Fault(f"crash: {type(error).__name__}: {error}", number, broken))
            continue
        took = time.process_time() - begin
        if took > SLOW_S:
            faults.append(Fault(f"it took {took:.1f} s", number, broken))
        if reading.response is not None:
            ends["response"] += 1
        else:
            ends[type(reading.error).__name__ if reading.error else "closed"] += 1
        ends["cut" if is_cut else "mutated"] += 1
        whole = body if is_cut and broken != body.rstrip() else None
        for why in _silent_success(broken, whole, response, reading.response is not None):
            faults.append(Fault(why, number, broken))
        situation = Situation(ask=Ask(), exchange=case, dialect=dialect, reading=reading, wire=None)
        for why in LAWS["events"](situation):
            faults.append(Fault(f"events: {why}", number, broken))
    return ends, faults


def _silent_success(
    broken: bytes, whole: bytes | None, response: Any, is_answered: bool
) -> Iterator[str]:
    if not is_answered:
        return
    if not is_stream_body(response):
        if whole is not None and not _is_object(broken):
            yield "a body that was cut is a response"
        elif not _is_object(broken):
            yield "a body that is no JSON object is a response"
        return
    if not any(end in broken for end in (b"[DONE]", b"finish", b"usage", b"timings")):
        yield "a stream without an end is a response"


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body.decode("utf-8", "replace")), dict)
    except (ValueError, RecursionError):
        return False


def _pieces(body: bytes, dice: random.Random) -> Iterator[bytes]:
    """The body in up to eight pieces, cut anywhere."""
    edges = sorted(dice.randrange(len(body) + 1) for _ in range(dice.randrange(8)))
    for start, end in zip([0, *edges], [*edges, len(body)], strict=True):
        if start < end:
            yield body[start:end]


def _mutated(body: bytes, given: list[Exchange], dice: random.Random) -> bytes:
    for _ in range(dice.randint(1, 3)):
        change = dice.choice((_flip, _drop, _double, _insert, _values, _values, _values, _events))
        body = change(body, given, dice) or b" "
    return body


def _flip(body: bytes, given: list[Exchange], dice: random.Random) -> bytes:
    at = dice.randrange(len(body))
    return body[:at] + bytes([dice.randrange(256)]) + body[at + 1 :]


def _drop(body: bytes, given: list[Exchange], dice: random.Random) -> bytes:
    at = dice.randrange(len(body))
    return body[:at] + body[at + dice.randint(1, 40) :]


def _double(body: bytes, given: list[Exchange], dice: random.Random) -> bytes:
    at = dice.randrange(len(body))
    piece = body[at : at + dice.randint(1, 200)]
    return body[:at] + piece + body[at:]


def _insert(body: bytes, given: list[Exchange], dice: random.Random) -> bytes:
    at = dice.randrange(len(body))
    words = (
        b"\x00",
        b"\xff\xfe",
        b"\n\n",
        b"\r",
        b"data: ",
        b"[" * 3000,
        b'"',
        b"}",
        b"data:[DONE]",
    )
    return body[:at] + dice.choice(words) + body[at:]


def _values(body: bytes, given: list[Exchange], dice: random.Random) -> bytes:
    """JSON values changed in a body, or in one event of a stream."""
    lines = body.split(b"\n")
    places = [n for n, line in enumerate(lines) if line.startswith(b"data: {")]
    if not places:
        return _changed_json(body, dice)
    at = dice.choice(places)
    lines[at] = b"data: " + _changed_json(lines[at][6:], dice)
    return b"\n".join(lines)


def _changed_json(text: bytes, dice: random.Random) -> bytes:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict | list):
        return json.dumps(dice.choice(ODD)).encode("utf-8")
    places: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        item = stack.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item))
        for key in keys:
            places.append((item, key))
            if isinstance(item[key], dict | list):
                stack.append(item[key])
    if places:
        container, key = dice.choice(places)
        if dice.random() < 0.25:
            del container[key]
        else:
            container[key] = dice.choice(ODD)
    return json.dumps(value, separators=(",", ":")).encode("utf-8")


def _events(body: bytes, given: list[Exchange], dice: random.Random) -> bytes:
    """Events dropped, doubled, swapped, or taken from another answer."""
    events = body.split(b"\n\n")
    at = dice.randrange(len(events))
    what = dice.randrange(4)
    if what == 0:
        del events[at]
    elif what == 1:
        events.insert(at, events[at])
    elif what == 2:
        other = dice.randrange(len(events))
        events[at], events[other] = events[other], events[at]
    else:
        other_body = dice.choice(given).response
        assert other_body is not None
        events.insert(at, dice.choice(other_body.body.split(b"\n\n")))
    return b"\n\n".join(events)


def main() -> int:
    """Run it, print the counts and the first faults; 1 where there is one."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    begin = time.process_time()
    ends, faults = fuzz(count, seed)
    print(f"{count:,} answers (seed {seed}), {time.process_time() - begin:.0f} s of processor")
    for name, number in ends.most_common():
        print(f"{number:>9,}  {name}")
    print(f"{len(faults):>9,}  faults")
    for fault in faults[:10]:
        print(f"\nnumber {fault.number}: {fault.why}\n  {fault.body[:400]!r}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
