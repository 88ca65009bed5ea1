"""Whatever bytes an exchange had, a cassette gives them back."""

from __future__ import annotations

import itertools
import json

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette import lines
from pytest_synaptum.cassette.bodies import join_body, split_body
from pytest_synaptum.cassette.format import parse_cassette
from pytest_synaptum.cassette.writing import dump_cassette
from pytest_synaptum.exchange import Exchange, RecordedRequest, RecordedResponse

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(["no", "12:30:45", "<a&b>", "a/b", "\u2028", "\ud800", "\ufeff", "\x85"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
styles = st.sampled_from(
    [
        {"separators": (",", ":")},
        {"separators": (", ", ": "), "ensure_ascii": False},
        {"indent": 2},
        {"separators": (" ,", " : ")},
    ]
)


@st.composite
def json_bodies(draw: st.DrawFn) -> bytes:
    text = json.dumps(draw(json_values), **draw(styles))
    return (text + draw(st.sampled_from(["", "\n"]))).encode("utf-8", "surrogatepass")


@st.composite
def sse_bodies(draw: st.DrawFn) -> bytes:
    end = draw(st.sampled_from([b"\n\n", b"\r\n\r\n"]))
    prefix = draw(st.sampled_from([b"data: ", b"data:", b": note", b"event: x\ndata: "]))
    events = draw(st.lists(json_bodies() | st.sampled_from([b"[DONE]", b" x", b""]), max_size=4))
    return b"".join(prefix + event + end for event in events) + draw(
        st.sampled_from([b"", b"data: {"])
    )


bodies = (
    st.binary(max_size=40) | st.text(max_size=40).map(str.encode) | json_bodies() | sse_bodies()
)
headers = st.lists(
    st.tuples(st.sampled_from(["content-type", "retry-after", "x-a"]), st.text(max_size=12)),
    max_size=3,
).map(tuple)


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    request = RecordedRequest(
        method=draw(st.sampled_from(["POST", "GET", "no"])),
        path=draw(st.text(max_size=20) | st.just("/v1/chat?a=b&c=%20")),
        headers=draw(headers),
        body=draw(bodies),
    )
    if draw(st.integers(0, 9)) == 0:
        return Exchange(request=request, response=None)
    body = draw(bodies)
    cuts = sorted(draw(st.lists(st.integers(0, len(body)), max_size=4)))
    edges = [0, *cuts, len(body)]
    chunks = tuple(body[a:b] for a, b in itertools.pairwise(edges))
    if draw(st.booleans()):
        chunks = (body,) if body else ()
    timed = draw(st.booleans())
    stream = draw(st.booleans())
    kept = draw(headers)
    return Exchange(
        request=request,
        response=RecordedResponse(
            status=draw(st.sampled_from([200, 404, 529])),
            headers=(("content-type", "text/event-stream"), *kept) if stream else kept,
            chunks=chunks,
            headers_after_s=draw(st.none() | st.just(0.25)) if timed else None,
            delays_s=tuple(0.001 * n for n in range(len(chunks))) if timed else (),
            ending=draw(st.sampled_from([None, "closed", "lost"])),
        ),
    )


@given(bodies)
@example(b'{"a":1,"a":2}')
@example(b'{"a":1E5}')
@example(b'{"a":"\\u003c"}')
@example(b'{"a":"\\ud83d"}')
@example(b"\xef\xbb\xbf{}")
@example(b"[" * 5000)
def test_splitting_and_joining_a_body_gives_its_bytes_back(body: bytes) -> None:
    for stream in (True, False):
        assert join_body(split_body(body, stream=stream)) == body


@given(st.lists(exchanges(), max_size=4))
def test_any_exchanges_survive_a_cassette_read_by_line(recorded: list[Exchange]) -> None:
    text = dump_cassette(recorded, {"at": "2026-11-30T12:00:00Z", "model": "no"})

    header, entries = lines.read_lines(text)

    assert header == {"at": "2026-11-30T12:00:00Z", "model": "no"}
    assert [entry.exchange() for entry in entries] == recorded


@given(st.lists(exchanges(), max_size=4))
def test_any_exchanges_survive_a_cassette_read_by_the_strict_loader(
    recorded: list[Exchange],
) -> None:
    text = dump_cassette(recorded, {"server": "a, b", "model": "true"})
    rewritten = strict_yaml.dump(strict_yaml.load(text, source="x"))

    cassette = parse_cassette(rewritten.encode(), "x")

    assert cassette.recorded == {"server": "a, b", "model": "true"}
    assert list(cassette.exchanges()) == recorded
