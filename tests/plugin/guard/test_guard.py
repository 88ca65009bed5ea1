"""No socket but loopback while not recording; a swallowed refusal still fails the test."""

from __future__ import annotations

import pytest
from support.loopback import Answer, LoopbackServer, chat_body
from support.recorded_suite import RecordedSuite

CONNECT = """
import socket, threading
def connect(address=("192.0.2.1", 80)):
    with socket.socket() as one:
        one.settimeout(0.05)
        one.connect(address)
"""


def test_a_connection_to_elsewhere_fails_and_says_the_ways_out(suite: RecordedSuite) -> None:
    suite.write(CONNECT + "def test_out(): connect()\n")

    result = suite.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*NetworkRefusedError: pytest-synaptum: test_chat.py::test_out opened a connection to"
            " 192.0.2.1:80, but only loopback can be reached while not recording; record it*"
            "mark the test @pytest.mark.synaptum(allow_network=True)."
        ]
    )


def test_a_look_up_of_a_name_is_refused_too(suite: RecordedSuite) -> None:
    suite.write("import socket\ndef test_out(): socket.getaddrinfo('api.example.com', 443)\n")

    suite.run().stdout.fnmatch_lines(["*opened a connection to api.example.com, but only*"])


@pytest.mark.parametrize(
    ("call", "where"),
    [
        ("gethostbyaddr('192.0.2.1')", "192.0.2.1"),
        ("gethostbyaddr(b'api.example.com')", "api.example.com"),
        ("getnameinfo(('192.0.2.1', 80), 0)", "192.0.2.1"),
        ("gethostbyname_ex('api.example.com')", "api.example.com"),
        ("getfqdn('192.0.2.1')", "192.0.2.1"),
    ],
)
def test_every_way_to_look_up_a_name_or_an_address_is_refused(
    suite: RecordedSuite, call: str, where: str
) -> None:
    suite.write(f"import socket\ndef test_out(): socket.{call}\n")

    suite.run().stdout.fnmatch_lines([f"*opened a connection to {where}, but only*"])


def test_this_machine_may_be_looked_up_backwards(suite: RecordedSuite) -> None:
    suite.write(
        """
        import socket
        from http.server import HTTPServer, BaseHTTPRequestHandler

        def test_in():
            socket.gethostbyaddr("127.0.0.1")
            socket.getnameinfo(("127.0.0.1", 80), 0)
            for host in ("", "127.0.0.1"):
                HTTPServer((host, 0), BaseHTTPRequestHandler).server_close()
        """
    )

    suite.run().assert_outcomes(passed=1)


def test_a_refusal_that_a_client_swallowed_fails_the_test(suite: RecordedSuite) -> None:
    suite.write(
        CONNECT
        + """
def test_quiet():
    try:
        connect()
    except Exception:
        pass

def test_thread():
    thread = threading.Thread(target=test_quiet)
    thread.start()
    thread.join()
"""
    )

    result = suite.run()

    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines(["*test_chat.py::test_thread opened a connection to 192.0.2.1:80*"])


def test_loopback_is_open(suite: RecordedSuite) -> None:
    with LoopbackServer() as server:
        suite.write(
            CONNECT
            + f"""
def test_in():
    connect(("127.0.0.1", {server.port}))
    socket.create_connection(("localhost", {server.port})).close()
    one, other = socket.socketpair()
    one.close(), other.close()
"""
        )
        suite.run().assert_outcomes(passed=1)


#: What the interpreter tells the guard about a connection, without making one.
AUDIT = """
import socket, sys
def test_out():
    with socket.socket() as one:
        sys.audit("socket.connect", one, ("192.0.2.1", 80))
"""


def test_a_test_that_is_marked_may_go_out(suite: RecordedSuite) -> None:
    suite.write("pytestmark = pytest.mark.synaptum(allow_network=True)\n" + AUDIT)

    suite.run().assert_outcomes(passed=1)


def test_a_project_may_let_all_its_tests_out(suite: RecordedSuite) -> None:
    suite.write(AUDIT)

    suite.run("-o", "synaptum_allow_network=true").assert_outcomes(passed=1)
    suite.run().assert_outcomes(failed=1)


def test_the_recorded_server_is_not_reached_past_the_replay(suite: RecordedSuite) -> None:
    with LoopbackServer(lambda _: Answer(body=chat_body("Hello."))) as server:
        suite.write(
            CONNECT
            + f"""
import os

def test_chat(recorded_provider):
    ask(recorded_provider)
    if "PAST" in os.environ:
        connect(("127.0.0.1", {server.port}))
"""
        )
        suite.record(server).assert_outcomes(passed=1)
        suite.pytester._monkeypatch.setenv("PAST", "1")
        result = suite.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*but that server is being replayed from a cassette*"])
