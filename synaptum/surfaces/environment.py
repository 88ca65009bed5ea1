"""The environment of a child: what it is given of ours, and how its values stay out of texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Final

from synaptum.errors import ConfigurationError

__all__ = ["Values", "allowed_environment", "check_names"]

#: Variables whose values are no secrets.
_PLAIN: Final = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "USER"})
#: A shorter value would be replaced in every second word.
_SECRET_CHARS: Final = 6
#: Characters of a value that tell something of it, where a text was cut inside of it.
_TELLING_CHARS: Final = 4


def allowed_environment(names: Iterable[str]) -> dict[str, str]:
    """Of this process's environment, what is allowed by name."""
    return {name: os.environ[name] for name in names if name in os.environ}


def check_names(what: str, names: Iterable[str]) -> None:
    """Refuse one text where a list of names is meant. Raises `ConfigurationError`."""
    if isinstance(names, str):
        msg = f"{what}={names!r}: a list of names is needed, such as [{names!r}]."
        raise ConfigurationError(msg)


class Values:
    """The values of an environment that may be secrets; each is replaced by its name."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._names = {
            value: name
            for name, value in environment.items()
            if name not in _PLAIN and len(value) >= _SECRET_CHARS
        }
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def out_of(self, text: str) -> str:
        """The text with every value replaced."""
        return self._pattern.sub(lambda match: f"[{self._names[match[0]]}]", text)

    def out_of_halves(self, head: str, tail: str) -> tuple[str, str]:
        """Two texts between which something is missing, perhaps from the middle of a value."""
        head, tail = self.out_of(head), self.out_of(tail)
        for value, name in self._names.items():
            for length in range(len(value) - 1, _TELLING_CHARS - 1, -1):
                if head.endswith(value[:length]):
                    head = f"{head[:-length]}[{name}]"
                if tail.startswith(value[-length:]):
                    tail = f"[{name}]{tail[length:]}"
        return head, tail
