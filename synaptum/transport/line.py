"""The handle with which one thread ends the connection on which another one waits.

`close()` on a socket or a response does not wake a thread blocked in it, and on a response
it even waits for that thread. What works at any moment, before, in and after connecting and
over TLS, is `shutdown` on the TCP socket. A `Line` holds a duplicate of its descriptor: the
duplicate is closed only here, under a lock, so a cut never reaches a descriptor that the
system has given to somebody else meanwhile, and TLS wrapping (which takes the socket apart)
does not matter.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading

__all__ = ["Line", "LineCutError"]

#: SO_LINGER on, zero seconds: close() sends a reset, so the server's very next write fails
#: and it stops generating.
_RESET = struct.pack("ii", 1, 0)


class LineCutError(Exception):
    """The line was cut by its owner; never leaves this package."""


class Line:
    """One connection, as both threads see it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_cut = False

    @property
    def is_cut(self) -> bool:
        """Whether `cut` was called."""
        return self._is_cut

    def connect(
        self,
        address: tuple[str, int],
        timeout: float | None = None,
        source_address: tuple[str, int] | None = None,
    ) -> socket.socket:
        """Connect like `socket.create_connection`, so that `cut` reaches it from the start.

        The look-up of the name is the one wait that nothing interrupts; a line cut during it
        is noticed right after.

        Raises:
            OSError: no address answered; the last one's error.
            LineCutError: the line was cut.
        """
        failure: OSError | None = None
        host, port = address
        for family, kind, protocol, _, where in socket.getaddrinfo(
            host, port, 0, socket.SOCK_STREAM
        ):
            connection = socket.socket(family, kind, protocol)
            try:
                connection.settimeout(timeout)
                if source_address:
                    connection.bind(source_address)
                self._hold(connection)
                connection.connect(where)
            except OSError as error:
                connection.close()
                self.check()
                failure = error
            except BaseException:
                connection.close()
                raise
            else:
                return connection
        if failure is None:
            failure = OSError(f"no address for {host}")
        raise failure

    def check(self) -> None:
        """Raise LineCutError if the line was cut."""
        if self._is_cut:
            raise LineCutError

    def cut(self) -> None:
        """End the connection from any thread, any number of times; waits for nothing."""
        with self._lock:
            self._is_cut = True
            if self._socket is None:
                return
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        """Let go of the connection; the reader calls it at its end."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None

    def _hold(self, connection: socket.socket) -> None:
        with self._lock:
            self.check()
            if self._socket is not None:
                self._socket.close()
            self._socket = connection.dup()
