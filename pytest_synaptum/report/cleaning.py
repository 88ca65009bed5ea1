"""No secret reaches the page: every text of a test's part is redacted, then looked through.

Exchanges come in redacted form already. Journals, goldens and failure texts do not, so all of
them pass here. pytest shortens long texts in the middle, and what it leaves of a secret goes
too. The second look reads texts that belong together (the fragments of a stream)
as one, and drops them where a secret is still to be found.
"""

from __future__ import annotations

import re
from typing import Any, Final

from pytest_synaptum.redact import Redactor
from pytest_synaptum.secrets import KEY

__all__ = ["clean"]

#: A word that was shortened in the middle, as pytest and we do it.
_SHORTENED: Final = re.compile(r"([^\s'\"]{1,400}?)(\.\.\.|…)([^\s'\"]{0,400})")
#: What may be left of a key: letters and digits without a break. In a text that is shortened
#: anyway, losing an id costs nothing.
_LEFT: Final = re.compile(r"(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[A-Za-z0-9_-]{8,}")
_DROPPED: Final = "(left out: it still held a secret)"


def clean(value: Any, redactor: Redactor) -> Any:
    """`value`, plain JSON, without the secrets that `redactor` knows."""
    redacted = _mapped(value, redactor)
    groups: dict[str, list[str]] = {}
    _gather(redacted, "", groups)
    held = {place for place, texts in groups.items() if redactor.holds_secret("".join(texts))}
    return _without(redacted, "", held) if held else redacted


def _mapped(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return _redacted(value, redactor)
    if isinstance(value, list):
        return [_mapped(item, redactor) for item in value]
    if isinstance(value, dict):
        return {_redacted(key, redactor): _mapped(item, redactor) for key, item in value.items()}
    return value


def _redacted(text: str, redactor: Redactor) -> str:
    # Half a character (a lone surrogate) is data here too.
    clean = redactor.body(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def whole(word: re.Match[str]) -> str:
        head, tail = word[1], word[3]
        left = _LEFT.search(head) or _LEFT.search(tail)
        return KEY.decode() if left or redactor.holds_part(head, tail) else word[0]

    return _SHORTENED.sub(whole, clean)


def _gather(value: Any, place: str, groups: dict[str, list[str]]) -> None:
    """The texts by place; the items of a list have one place, as fragments of one text do."""
    if isinstance(value, str):
        groups.setdefault(place, []).append(value)
    elif isinstance(value, list):
        for item in value:
            _gather(item, place + "/*", groups)
    elif isinstance(value, dict):
        for key, item in value.items():
            _gather(item, f"{place}/{key}", groups)


def _without(value: Any, place: str, held: set[str]) -> Any:
    if isinstance(value, str):
        return _DROPPED if place in held else value
    if isinstance(value, list):
        return [_without(item, place + "/*", held) for item in value]
    if isinstance(value, dict):
        return {key: _without(item, f"{place}/{key}", held) for key, item in value.items()}
    return value
