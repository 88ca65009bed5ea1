"""The live server that a command was told to ask."""

from __future__ import annotations

import argparse
import os

from pytest_synaptum.errors import WrongUsageError
from pytest_synaptum.live import NoServerError, host_and_port

__all__ = ["base_url_of"]


def base_url_of(arguments: argparse.Namespace, *, missing: str) -> str:
    """`--base-url`, else `SYNAPTUM_BASE_URL`.

    Args:
        arguments: with `base_url`.
        missing: what to say where neither is there.

    Raises:
        WrongUsageError: neither is there, or it is no address of a server.
    """
    base_url = arguments.base_url or os.environ.get("SYNAPTUM_BASE_URL")
    if not base_url:
        raise WrongUsageError(missing)
    try:
        host_and_port(base_url, "--base-url" if arguments.base_url else "SYNAPTUM_BASE_URL")
    except NoServerError as error:
        raise WrongUsageError(str(error)) from None
    return str(base_url)
