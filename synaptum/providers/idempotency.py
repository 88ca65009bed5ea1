"""The key under which a server recognises a question that is asked again."""

from __future__ import annotations

import hashlib

from synaptum import canonical

__all__ = ["idempotency_key"]


def idempotency_key(run_id: str, step_id: str, body: bytes) -> str:
    """The same for every attempt of one step, another for every other question.

    Out: 64 hexadecimal digits; the run's id is not readable from it.
    """
    body_digest = hashlib.sha256(body).hexdigest()
    return canonical.digest([run_id, step_id, body_digest])
