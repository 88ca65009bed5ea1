"""`index.yaml`: every case of a corpus in one file, for runners that do not walk folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from pytest_synaptum import strict_yaml
from pytest_synaptum.cassette.writing import write_atomically
from pytest_synaptum.corpus.case import Case

__all__ = ["INDEX_FILE", "index_problems", "write_index"]

INDEX_FILE: Final = "index.yaml"
_COMMAND: Final = "write it again with `synaptum-corpus index`"


def _entries(cases: Iterable[Case]) -> dict[str, Any]:
    return {
        case.id: {"kind": case.kind, "flags": list(case.flags), "asks": len(case.asks)}
        for case in sorted(cases, key=lambda case: case.id)
    }


def write_index(corpus: Path, cases: Iterable[Case]) -> bool:
    """Write the index of `cases`; whether the file changed."""
    path = corpus / INDEX_FILE
    lines = ["synaptum: index/1\ncases:\n"]
    lines += [f"  {name}: {strict_yaml.flow(entry)}\n" for name, entry in _entries(cases).items()]
    text = "".join(lines)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    write_atomically(path, text)
    return True


def index_problems(corpus: Path, cases: Iterable[Case]) -> Iterator[str]:
    """Where the index is not true; nothing where the corpus has none."""
    path = corpus / INDEX_FILE
    if not path.is_file():
        return
    value = strict_yaml.load_file(path)
    if not isinstance(value, dict) or value.get("synaptum") != "index/1":
        yield f"{path}: its first line is not `synaptum: index/1`; {_COMMAND}"
        return
    listed, there = value.get("cases") or {}, _entries(cases)
    for name in sorted(listed.keys() | there.keys()):
        if name not in there:
            yield f"{path}: there is no case {name}; {_COMMAND}"
        elif name not in listed:
            yield f"{path}: the case {name} is missing; {_COMMAND}"
        elif listed[name] != there[name]:
            yield f"{path}: {name} has changed; {_COMMAND}"
