"""A resumed run sends a real server the bytes, and the key, that the unstopped run sends."""

from __future__ import annotations

import json

import pytest
from support.agents import MODEL, final_of, run, stream
from support.loopback import Answer, LoopbackServer, sse

from synaptum import (
    Agent,
    HttpModel,
    Image,
    LocalGateway,
    MemoryCheckpointer,
    Phase,
    Session,
    UnsupportedRequestError,
    tool,
)


@tool(idempotent=True)
async def leer(ruta: str) -> dict[str, str]:
    """Lee un fichero."""
    return {"ruta": ruta, "texto": "ñandú 😀"}


CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "leer", "arguments": '{ "ruta" : "a.txt" }'},
        }
    ],
}


def answer_to(request):
    """A call first, the answer once its result is there."""
    told = any(message["role"] == "tool" for message in request.json()["messages"])
    message = {"role": "assistant", "content": "Dice ñandú."} if told else CALL
    choice = {"index": 0, "message": message, "finish_reason": "stop" if told else "tool_calls"}
    body = {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice]}
    return Answer(body=json.dumps(body).encode())


AGENT = Agent("a", model=MODEL, instructions="Sé breve.", tools=[leer])


def session_on(server, store):
    model = HttpModel(server.base_url)
    return Session("r1", LocalGateway(model=model, stream=model.stream, tools=[leer]), store)


def sent(server):
    return [(r.body, r.header("idempotency-key")) for r in server.requests]


@pytest.mark.asyncio
@pytest.mark.parametrize("boundary", [0, 1, 2, 3])
async def test_later_requests_are_the_same_to_the_byte(boundary):
    with LoopbackServer(answer_to) as server:
        await run(AGENT, "¿Qué dice?", session_on(server, MemoryCheckpointer()))
        straight = sent(server)
    assert len(straight) == 2
    assert b'"arguments":"{ \\"ruta\\" : \\"a.txt\\" }"' in straight[1][0]

    with LoopbackServer(answer_to) as server:
        store = MemoryCheckpointer()
        events = AGENT.run("¿Qué dice?", session=session_on(server, store))
        seen = 0
        async for _ in events:
            if seen == boundary:
                break
            seen += 1
        await events.aclose()
        steps = await run(AGENT, "¿Qué dice?", session_on(server, store))

        assert final_of(steps).output == "Dice ñandú."
        assert sent(server) == straight


@pytest.mark.asyncio
async def test_an_answer_that_was_lost_is_asked_for_under_the_same_key():
    lost = [True]

    def flaky(request):
        if lost:
            lost.clear()
            return Answer(chunks=[b"{"], drop_after=1)
        return answer_to(request)

    with LoopbackServer(flaky) as server:
        session = session_on(server, MemoryCheckpointer())

        async def at_once(seconds):
            assert seconds > 0

        session.sleep = at_once
        steps = await run(AGENT, "¿Qué dice?", session)
        first, second, third = sent(server)

    assert first == second
    assert first[1] is not None
    assert third[1] != first[1]
    completed = [s for s in steps if s.kind == "model" and s.phase is Phase.COMPLETED]
    assert completed[0].meta["attempts"][0]["error"]["type"] == "NetworkError"


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [run, stream])
async def test_a_picture_as_a_result_is_refused_by_name_and_never_sent(how):
    @tool(name="leer")
    def look(ruta: str) -> Image:
        """Takes a picture."""
        return Image("image/png", data=b"\x89PNG")

    whole = json.loads(answer_to(_Asked()).body)["choices"][0]["message"]
    call = {**whole["tool_calls"][0], "index": 0}
    events = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    streamed = Answer(chunks=[sse(event) for event in events])
    with LoopbackServer([answer_to(_Asked()) if how is run else streamed]) as server:
        model = HttpModel(server.base_url)
        gateway = LocalGateway(model=model, stream=model.stream, tools=[look])
        agent = Agent("a", model=MODEL, tools=[look])
        with pytest.raises(UnsupportedRequestError, match=r"image part of the result.*in text"):
            await how(agent, "Look", Session("r1", gateway))

    assert len(server.requests) == 1


class _Asked:
    """A first question, for `answer_to`."""

    def json(self):
        return {"messages": []}
