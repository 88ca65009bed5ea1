"""A process whose clock is somewhere else, for what it imports after this.

Replaced are the clocks of `time` and the classes of `datetime` that read one. What was imported
before keeps the real ones; monotonic clocks are left alone, since waiting depends on them.
"""

from __future__ import annotations

import datetime
import time
from typing import Any

__all__ = ["shift_clock"]


def shift_clock(seconds: float) -> None:
    """Let the clock of this process be `seconds` ahead. It cannot be put back."""
    real_time = time.time  # noqa: TID251  # what is replaced here
    _shift_time(seconds)

    class _Kind(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, cls.__mro__[1])

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, cls.__mro__[1])

    class Date(datetime.date, metaclass=_Kind):
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(real_time() + seconds)

    class Datetime(datetime.datetime, metaclass=_Kind):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(real_time() + seconds, tz)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(real_time() + seconds, datetime.UTC).replace(tzinfo=None)

    for kind, name in ((Date, "date"), (Datetime, "datetime")):
        kind.__name__ = kind.__qualname__ = name
        kind.__module__ = "datetime"
        setattr(datetime, name, kind)


def _shift_time(seconds: float) -> None:
    real, real_ns = time.time, time.time_ns  # noqa: TID251  # what is replaced here
    local, universal, text, ctime = time.localtime, time.gmtime, time.strftime, time.ctime
    plain: Any = time
    plain.time = lambda: real() + seconds
    plain.time_ns = lambda: real_ns() + int(seconds * 1e9)
    plain.localtime = lambda at=None: local(real() + seconds if at is None else at)
    plain.gmtime = lambda at=None: universal(real() + seconds if at is None else at)
    plain.ctime = lambda at=None: ctime(real() + seconds if at is None else at)
    plain.strftime = lambda form, at=None: text(form, time.localtime() if at is None else at)
