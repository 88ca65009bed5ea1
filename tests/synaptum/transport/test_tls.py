"""The same over TLS, where the socket is taken apart and wrapped while we hold it."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import threading
import time
from pathlib import Path

import pytest
from support.leaks import our_threads, wait_until
from support.loopback import Answer, LoopbackServer
from support.timing import AT_ONCE_S, fastest_of_three

from synaptum.errors import NetworkError
from synaptum.transport.base import HttpRequest
from synaptum.transport.urllib import UrllibTransport

pytestmark = pytest.mark.asyncio


_SELF_SIGNED = (
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    " -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl command to make a certificate with")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        [openssl, *_SELF_SIGNED.split(), "-keyout", str(file), "-out", f"{file}c"],
        check=True,
        capture_output=True,
        timeout=30,
    )
    file.write_bytes(file.read_bytes() + Path(f"{file}c").read_bytes())
    return file


@pytest.fixture
def server_side(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def trusting(certificate: Path) -> UrllibTransport:
    return UrllibTransport(tls=ssl.create_default_context(cafile=certificate))


def post(url: str) -> HttpRequest:
    return HttpRequest(method="POST", url=url, body=b"{}", timeout_s=20)


async def test_a_trusted_server_is_asked_and_answers(
    server_side: ssl.SSLContext, trusting: UrllibTransport
) -> None:
    pieces = [bytes([65 + n % 26]) * 900 for n in range(300)]
    with LoopbackServer([Answer(chunks=pieces)], tls=server_side) as server:
        reply = await trusting.send(post(server.base_url))
        body = b"".join([piece async for piece in reply.chunks()])

    assert body == b"".join(pieces)


async def test_an_unknown_certificate_is_refused_for_good(server_side: ssl.SSLContext) -> None:
    with (
        LoopbackServer([Answer(body="x")], tls=server_side) as server,
        pytest.raises(
            NetworkError, match=r"The certificate of https://127\.0\.0\.1:\d+ was not"
        ) as caught,
    ):
        await UrllibTransport().send(post(server.base_url))

    assert server.count == 0
    assert not caught.value.retryable


@pytest.mark.parametrize("before", [-1, 1], ids=["before the headers", "in the body"])
async def test_closing_is_noticed_by_the_server_at_once(
    before: int, server_side: ssl.SSLContext, trusting: UrllibTransport
) -> None:
    async def cancel() -> float:
        answer = Answer(chunks=["a", "b"], gates={before: threading.Event()})
        with LoopbackServer([answer], tls=server_side) as server:

            async def consume() -> None:
                reply = await trusting.send(post(server.base_url))
                async for _ in reply.chunks():
                    pass

            task = asyncio.create_task(consume())
            await asyncio.to_thread(
                server.wait_for, lambda: server.count == 1 and server.sent == max(before, 0)
            )
            begun = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

            freed = time.monotonic()
            assert await asyncio.to_thread(server.client_gone.wait, 5)
        return max(freed, server.gone_at[0]) - begun

    assert await fastest_of_three(cancel) < AT_ONCE_S
    assert wait_until(lambda: not our_threads())


async def test_a_body_that_breaks_off_is_an_error(
    server_side: ssl.SSLContext, trusting: UrllibTransport
) -> None:
    with LoopbackServer([Answer(chunks=["a", "b"], drop_after=1)], tls=server_side) as server:
        reply = await trusting.send(post(server.base_url))
        with pytest.raises(NetworkError, match="was lost after 1 bytes"):
            async for _ in reply.chunks():
                pass
