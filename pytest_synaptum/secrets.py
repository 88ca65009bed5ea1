"""What a secret looks like: known values, and the shapes of the usual keys; never entropy.

Signatures, encrypted reasoning and ids look random and are none: guessing by entropy would
ruin recordings. Everything is matched on bytes, in the spellings that JSON and URLs have.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, quote_plus

__all__ = [
    "KEY",
    "ORGANISATION",
    "Rule",
    "environment_secrets",
    "find_secrets",
    "is_telling",
    "known_rule",
    "named_tokens",
    "shapes",
    "spellings",
]

KEY: Final = b"REDACTED-KEY"
TOKEN: Final = b"REDACTED-TOKEN"
ORGANISATION: Final = b"REDACTED-ORG"

#: Shortest known value that is replaced in bodies. Local servers take keys such as "none" or
#: "local", and replacing a word of that length would ruin the text around it.
SHORTEST: Final = 8

_KEY_VARIABLE = re.compile(
    r"(?:^|_)(?:API_?KEY|API_TOKEN|ACCESS_TOKEN|AUTH_TOKEN|SECRET_KEY|ACCESS_KEY|CLIENT_SECRET)$"
    r"|^(?:HF|GITHUB|GH)_TOKEN$",
    re.IGNORECASE,
)
_ORGANISATION_VARIABLE = re.compile(
    r"^(?:OPENAI_ORG_ID|OPENAI_ORGANIZATION|OPENAI_PROJECT_ID)$", re.IGNORECASE
)


#: What a token looks like among other values of a field that is named like one.
_TOKEN_LIKE: Final = re.compile(r"(?=.*[0-9]|.{20})\S+")


@dataclass(frozen=True, slots=True)
class Rule:
    """A way to find secrets.

    Attributes:
        what: what messages call it.
        needles: lower-case pieces one of which must be in the text before the pattern is
            tried; bodies are long and most hold none. Empty: always tried.
        pattern: its group `secret` is what is replaced, or the whole match without one.
        replacement: what stands there afterwards.
    """

    what: str
    needles: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    replacement: bytes


# A key may follow the escape of a line break, whose last letter is no part of a word.
_START: Final = rb"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"


def _shape(what: str, needles: str, pattern: bytes, replacement: bytes) -> Rule:
    wanted = tuple(needle.encode() for needle in needles.split())
    return Rule(what, wanted, re.compile(pattern), replacement)


#: Fields that hold a token; a password is often a word, and stands for itself elsewhere.
_TOKEN_NAMES: Final = (
    rb"(?:x[_-])?api[_-]?key|access[_-]?token|refresh[_-]?token|auth[_-]?token|id[_-]?token"
    rb"|session[_-]?token|client[_-]?secret|secret[_-]?(?:access[_-]?)?key|authorization"
)


def _field(names: bytes) -> bytes:
    """A pattern for a field of JSON, or of JSON in JSON; a slash in it may be escaped."""
    return (
        rb'(?P<q>\\*")(?i:' + names + rb")(?P=q)\s*:\s*(?P=q)"
        rb'(?P<secret>(?!REDACTED-)(?:[^"\\]|\\+/)+)(?=(?P=q))'
    )


#: How the names end, with the quote or its escape: "max_tokens" is in every other body.
_TOKEN_NEEDLES: Final = 'key" key\\ token" token\\ secret" secret\\ authorization'
_TOKEN_FIELD: Final = _shape(
    "a field named like a token", _TOKEN_NEEDLES, _field(_TOKEN_NAMES), KEY
)
_SHAPES: Final = (
    # Sources: the providers' own documentation of how their keys begin.
    _shape("an API key", "sk-", _START + rb"sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}", KEY),
    _shape(
        "an API key",
        "gsk_ hf_ r8_ xai- pplx- nvapi- aiza akia asia ghp_ gho_ ghs_ ghu_ github_pat_ glpat- xox",
        _START
        + rb"(?:gsk_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}"
        rb"|pplx-[A-Za-z0-9]{20,}|nvapi-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}"
        rb"|A[KS]IA[A-Z0-9]{16}|gh[posu]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"
        rb"|glpat-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{10,})",
        KEY,
    ),
    _shape(
        "a signed token",
        "eyj",
        _START + rb"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        TOKEN,
    ),
    _shape(
        "an organisation id",
        "org- proj_",
        _START + rb"(?:org-|proj_)(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}",
        ORGANISATION,
    ),
    _shape(
        "a bearer token", "bearer", rb"(?i:bearer) +(?P<secret>[A-Za-z0-9._~+/-]{16,}=*)", TOKEN
    ),
    _shape(
        "a field named like a key",
        f"{_TOKEN_NEEDLES} password",
        _field(_TOKEN_NAMES + b"|password"),
        KEY,
    ),
    _shape(
        "a query parameter named like a key",
        "key= token= sig= signature= auth=",
        rb"[?&](?i:(?:[a-z_-]*[_-])?(?:key|token|sig|signature|auth))=(?P<secret>(?!REDACTED-)[^&#\s\"\\]+)",
        KEY,
    ),
    _shape(
        "a private key",
        "private",
        rb"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>(?!REDACTED-).+?)"
        rb"-----END [A-Z ]*PRIVATE KEY-----",
        KEY,
    ),
)


def shapes() -> tuple[Rule, ...]:
    """The rules that need no known value."""
    return _SHAPES


def environment_secrets(environ: Mapping[str, str], *variables: str) -> Iterator[tuple[str, bytes]]:
    """Values of the key variables, with what replaces them.

    Args:
        environ: the environment.
        variables: names that hold a key though they do not look like it.
    """
    for name, value in environ.items():
        if name in variables or _KEY_VARIABLE.search(name):
            yield value, KEY
        elif _ORGANISATION_VARIABLE.search(name):
            yield value, ORGANISATION


def known_rule(secrets: Iterable[str], replacement: bytes = KEY) -> Rule | None:
    """A rule that finds these texts as they are, in JSON, in JSON in JSON, in URLs and encoded."""
    spelled = {spelling for one in secrets for spelling in spellings(one)}
    if not spelled:
        return None
    ordered = sorted(spelled, key=lambda spelling: (-len(spelling), spelling))
    # Escapes and hexadecimal digits come in both cases; so does what is shouted.
    pattern = re.compile(b"|".join(re.escape(one) for one in ordered), re.IGNORECASE)
    lower = {spelling.lower() for spelling in ordered}
    needles = tuple(one for one in lower if not any(less in one for less in lower - {one}))
    return Rule("a known secret", needles, pattern, replacement)


def find_secrets(text: bytes, rules: Iterable[Rule]) -> list[tuple[int, int, Rule]]:
    """Where secrets stand in `text`: spans without overlap, in order; the earliest rule wins."""
    found: list[tuple[int, int, Rule]] = []
    lower = text.lower()
    for rule in rules:
        # A loop, since a generator for each rule is what most requests would pay for.
        for needle in rule.needles:
            if needle in lower:
                break
        else:
            if rule.needles:
                continue
        group = "secret" if "secret" in rule.pattern.groupindex else 0
        for match in rule.pattern.finditer(text):
            start, end = match.span(group)
            if start < end and not any(start < b and a < end for a, b, _ in found):
                found.append((start, end, rule))
    return sorted(found, key=lambda span: span[0])


def named_tokens(text: bytes) -> Iterator[str]:
    """What stands in the fields named like a token, where it can be told from words.

    "required" and "your-api-key" may stand there too, and replacing them wherever they are
    read would ruin the text around: a token has no white space, and a digit or some length.
    """
    for start, end, _ in find_secrets(text, (_TOKEN_FIELD,)):
        value = re.sub(rb"\\+/", b"/", text[start:end]).decode("utf-8", "replace")
        token = value.split(" ", 1)[-1].strip()  # without the word "Bearer"
        if is_telling(token) and _TOKEN_LIKE.fullmatch(token):
            yield token


def is_telling(secret: str) -> bool:
    """Whether a known value is long enough to be replaced wherever it stands."""
    return len(secret) >= SHORTEST and not secret.isspace()


def spellings(secret: str) -> Iterator[bytes]:
    """The ways in which a known text is written in bodies and URLs; none for a short one."""
    if not is_telling(secret):
        return
    spelled = {secret, quote(secret, safe=""), quote_plus(secret)}
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        twice = json.dumps(once, ensure_ascii=ascii_only)[1:-1]
        spelled |= {once, twice, once.replace("/", "\\/")}
        go = once.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
        spelled.add(go)
    for spelling in spelled:
        yield spelling.encode("utf-8", "surrogatepass")
    raw = secret.encode("utf-8", "surrogatepass")
    yield raw.hex().encode("ascii")
    yield from _in_base64(raw)


def _in_base64(raw: bytes) -> Iterator[bytes]:
    """What is seen of `raw` in base64, whatever stands around it (as in `Basic user:key`).

    Three bytes make four letters, so there are three ways to fall on them; the letters that
    share bits with the neighbours are left out.
    """
    for before in range(3):
        letters = base64.b64encode(bytes(before) + raw)
        first = (8 * before + 5) // 6
        after = 8 * (before + len(raw)) // 6
        core = letters[first:after]
        # Where the text ends with `raw`, its last letter and the padding tell of it too.
        for seen in (core, letters[first:].rstrip(b"="), letters[first:]):
            yield seen
            yield seen.translate(bytes.maketrans(b"+/", b"-_"))
