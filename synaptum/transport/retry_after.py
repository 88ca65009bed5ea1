"""How long the other side asked to wait.

Source: RFC 9110, 10.2.3 (seconds or an HTTP date); `retry-after-ms` is what OpenAI's own
clients read first.
"""

from __future__ import annotations

import datetime
import email.utils
import math
import re
from collections.abc import Iterable

__all__ = ["retry_after_s"]

_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", re.ASCII)


def retry_after_s(headers: Iterable[tuple[str, str]], now_s: float) -> float | None:
    """Seconds to wait, 0.0 or more; None where the headers say nothing readable.

    The wait is given as asked, however long: capping it is the caller's policy. Header names
    are compared without regard to case.

    Args:
        headers: name and value pairs.
        now_s: seconds since the epoch, to count an HTTP date from.
    """
    values = {name.lower(): value.strip() for name, value in headers}
    milliseconds = _number(values.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = values.get("retry-after", "")
    seconds = _number(text)
    return _until(text, now_s) if seconds is None else seconds


def _number(text: str) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _until(text: str, now_s: float) -> float | None:
    try:
        date = email.utils.parsedate_to_datetime(text)
        if date.tzinfo is None:  # "-0000" and the obsolete forms: HTTP dates are always UTC
            date = date.replace(tzinfo=datetime.UTC)
        return max(0.0, date.timestamp() - now_s)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
