"""Letters that pass for others: a name that people read as one thing and a program as another.

A table of what is common and not all of Unicode's (UTS 39 has thousands): Cyrillic, Greek and
Armenian letters that look like Latin ones in most fonts, and every form that Unicode itself
holds to be another spelling of a letter (full-width, mathematical, circled ...).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["disguise_in_name", "mixed_word", "undisguised"]

#: Written as code points, since nobody can tell by looking.
_LATIN_OF: Final = str.maketrans(
    # Cyrillic a e o p c y x i j s h d q w l, and the capitals A B E K M H O P C T Y X I J S
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
    # Greek o v p u i k, and the capitals A B E Z H I K M N O P T Y X
    "\u03bf\u03bd\u03c1\u03c5\u03b9\u03ba"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
    # Armenian o n u h
    "\u0585\u0578\u057d\u0570",
    "aeopcyxijshdqwlABEKMHOPCTYXIJSovpuikABEZHIKMNOPTYXonuh",
)
#: Alphabets that have such letters; a word of one of them and of Latin has no honest reason.
_ALPHABETS: Final = frozenset({"CYRILLIC", "GREEK", "ARMENIAN"})
#: Of Spanish and Portuguese: `1ª` is written so.
_ORDINALS: Final = "\u00aa\u00ba"
_LATIN: Final = re.compile("[A-Za-z]")
_WORD: Final = re.compile(r"[^\W\d_]+")


def undisguised(text: str) -> str:
    """The text as it looks: what passes for a Latin letter is one."""
    return unicodedata.normalize("NFKC", text).translate(_LATIN_OF)


def disguise_in_name(name: str) -> str | None:
    """The first thing in a name that is not what it looks like, as `U+0430`; None: nothing is.

    A name in another alphabet is what it looks like: it has letters that no Latin one passes
    for.
    """
    name = "".join(char for char in name if char not in _ORDINALS)
    if name.isascii():
        return None
    for char in name:
        spelt = unicodedata.normalize("NFKC", char)
        if spelt != char and _LATIN.search(spelt):
            return f"U+{ord(char):04X}"
    if undisguised(name).isascii():
        return next(f"U+{ord(char):04X}" for char in name if not char.isascii())
    return mixed_word(name)


def mixed_word(text: str) -> str | None:
    """The first letter, as `U+0430`, of another alphabet in a word that has Latin letters too."""
    if text.isascii():
        return None
    for word in _WORD.findall(text):
        alphabets = [unicodedata.name(char, "?").partition(" ")[0] for char in word]
        if "LATIN" in alphabets:
            for char, alphabet in zip(word, alphabets, strict=True):
                if alphabet in _ALPHABETS:
                    return f"U+{ord(char):04X}"
    return None
