"""Values that no repr, error or log may show."""

from __future__ import annotations

from typing import Final

__all__ = ["Secret", "Secrets"]

_SHOWN: Final = "<set>"

#: Shorter values (`none`, `EMPTY`, `x`) are no secrets and would be found inside words.
_SHORTEST: Final = 8


class Secret:
    """A text that shows itself as `<set>`; `reveal()` gives it to the one who sends it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def __repr__(self) -> str:
        return _SHOWN

    def __reduce__(self) -> str | tuple[object, ...]:
        msg = "a secret is not pickled"
        raise TypeError(msg)


class Secrets:
    """Takes secrets out of texts: a server's error may quote the key it was given."""

    __slots__ = ("_secrets",)

    def __init__(self, *secrets: Secret | None) -> None:
        self._secrets = [s for s in secrets if s is not None and len(s.reveal()) >= _SHORTEST]

    def remove_from(self, text: str) -> str:
        """`text` with `<set>` in place of every secret."""
        for secret in self._secrets:
            text = text.replace(secret.reveal(), _SHOWN)
        return text

    def remove_from_bytes(self, body: bytes) -> bytes:
        """The same for the bytes of a body, before anything is made of them."""
        for secret in self._secrets:
            body = body.replace(secret.reveal().encode("latin-1", "replace"), _SHOWN.encode())
        return body

    def remove_from_error(self, error: BaseException) -> None:
        """The same for the words of an error and of those it came from, in place."""
        seen: set[int] = set()
        link: BaseException | None = error
        while link is not None and id(link) not in seen:
            seen.add(id(link))
            link.args = tuple(
                self.remove_from(part) if isinstance(part, str) else part for part in link.args
            )
            link = link.__cause__ or link.__context__
