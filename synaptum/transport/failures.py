"""Foreign exceptions of the connection, mapped once to ours.

Every message names the origin (never the query, which may hold a key) and what to do.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import urllib.error
import urllib.parse

from synaptum.errors import NetworkError, RequestTimeoutError

__all__ = ["network_error", "origin_of", "place_of"]


def origin_of(url: str) -> str:
    """`http://host:port` of a URL, without credentials, path and query."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def place_of(url: str) -> str:
    """The URL without credentials, query and fragment: what a message may show."""
    return origin_of(url) + urllib.parse.urlsplit(url).path


def network_error(
    error: Exception, url: str, *, timeout_s: float | None, received: int | None
) -> NetworkError | None:
    """Our error for a foreign one, or None where it is no failure of the connection.

    Args:
        error: what urllib, http.client, ssl or the socket raised.
        url: what was asked; only its origin is told.
        timeout_s: the timeout that applied.
        received: bytes of the body that had come; None before status and headers.
    """
    cause: object = error
    while isinstance(cause, urllib.error.URLError):
        cause = cause.reason
    origin = origin_of(url)
    if isinstance(cause, TimeoutError):
        what = "did not answer" if received is None else "sent nothing more"
        told = "" if timeout_s is None else f" within {timeout_s:g} s"
        return RequestTimeoutError(
            f"{origin} {what}{told}: give the model a longer timeout=, or look at the server."
        )
    if isinstance(cause, ConnectionRefusedError):
        return NetworkError(f"No server answers at {origin}: start it, or check base_url.")
    if isinstance(cause, socket.gaierror):
        return NetworkError(
            f"The name in {origin} cannot be resolved ({cause.strerror}): check base_url and"
            " the network."
        )
    if isinstance(cause, ssl.SSLError):
        return _final(_tls_message(cause, origin))
    if isinstance(cause, http.client.IncompleteRead | ConnectionError) or (
        received is not None and isinstance(cause, OSError | http.client.HTTPException)
    ):
        if received is None:
            return NetworkError(f"{origin} closed the connection without an answer: try again.")
        return NetworkError(
            f"The connection to {origin} was lost after {received} bytes of the answer, before"
            " its end."
        )
    if isinstance(cause, http.client.HTTPException):
        return NetworkError(
            f"What {origin} answered is not HTTP ({type(cause).__name__}): check the scheme and"
            " the port in base_url."
        )
    if isinstance(cause, OSError):
        reason = cause.strerror or type(cause).__name__
        return NetworkError(f"The connection to {origin} failed ({reason}): check base_url.")
    if isinstance(error, urllib.error.URLError):
        return NetworkError(f"The connection to {origin} failed ({cause}): check base_url.")
    return None


def _final(message: str) -> NetworkError:
    """An error that the same call will meet again."""
    error = NetworkError(message)
    error.retryable = False
    return error


def _tls_message(cause: ssl.SSLError, origin: str) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return (
            f"The certificate of {origin} was not accepted ({cause.verify_message}): give the"
            " transport a context that trusts it, UrllibTransport(tls=...)."
        )
    return (
        f"{origin} does not speak TLS as we do ({cause.reason or 'unknown reason'}): check"
        " whether base_url should begin with http:// instead."
    )
