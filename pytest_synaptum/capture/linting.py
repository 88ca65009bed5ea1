"""Holds every body that goes through a transport to the wire lint, before it is sent."""

from __future__ import annotations

from pytest_synaptum.corpus.wire_lint import lint, report
from pytest_synaptum.errors import PluginError
from synaptum import canonical
from synaptum.errors import EncodingError
from synaptum.transport.base import HttpReply, HttpRequest, Transport

__all__ = ["LintingTransport", "WireLintError"]


class WireLintError(PluginError, AssertionError):
    """A request body is none that OpenAI-compatible servers take; says what to change."""


class LintingTransport:
    """Passes on what the wire lint has nothing to say about."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def send(self, request: HttpRequest) -> HttpReply:
        """Send by the inner transport.

        Raises:
            WireLintError: the body breaks a rule; nothing was sent.
        """
        try:
            body = canonical.loads(request.body)
        except EncodingError:
            body = None  # what is no JSON is not ours to judge
        findings = lint(body)
        if findings:
            raise WireLintError(report(findings))
        return await self._inner.send(request)
