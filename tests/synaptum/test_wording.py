"""Both wordings say everything, with the same blanks to fill in."""

from __future__ import annotations

import dataclasses
import inspect
import string
from collections.abc import Mapping

import pytest

from synaptum import ENGLISH, SPANISH, Agent


def flat(value, path=""):
    """Every sentence of a wording by its path, however it is grouped."""
    if isinstance(value, str):
        return {path: value}
    if isinstance(value, Mapping):
        parts = value.items()
    elif dataclasses.is_dataclass(value):
        parts = [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    else:
        parts = enumerate(value)
    found = {}
    for key, inner in parts:
        found.update(flat(inner, f"{path}.{key}"))
    return found


#: "once" has no blank for its 1; "1 vez" has.
SAYS_ITS_NUMBER_IN_WORDS = {".economy.one_time"}

ENGLISH_TEXTS, SPANISH_TEXTS = flat(ENGLISH), flat(SPANISH)


def blanks(template):
    return sorted({name for _, name, _, _ in string.Formatter().parse(template) if name})


def test_both_hold_the_same_sentences():
    assert ENGLISH_TEXTS.keys() == SPANISH_TEXTS.keys()


@pytest.mark.parametrize("path", ENGLISH_TEXTS)
def test_a_sentence_has_the_same_blanks_and_is_translated(path):
    english, spanish = ENGLISH_TEXTS[path], SPANISH_TEXTS[path]

    assert path in SAYS_ITS_NUMBER_IN_WORDS or blanks(english) == blanks(spanish)
    assert bool(english.strip()) == bool(spanish.strip())
    words = [w for w in english.split() if w.isalpha()]
    assert english != spanish or len(words) < 3


def test_a_wording_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ENGLISH.name = "other"


def test_a_wording_shows_by_its_name():
    assert repr(SPANISH) == "<Wording 'spanish'>"
    assert len(str(inspect.signature(Agent))) < 1_000
