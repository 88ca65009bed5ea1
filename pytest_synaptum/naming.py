"""Where a test's files live: `cassettes/<module>/<test>.yaml` beside its module.

A name is legal on every system, the same on every system, at most some 140 characters,
inside its folder, and unique ignoring case: whatever cannot be spelt plainly (parameters,
capitals, other alphabets) is a readable slug and a short hash of the exact name.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

import pytest

__all__ = ["CASSETTES", "GOLDENS", "file_for", "inside", "safe_name", "shown"]

#: Folders beside a test's module.
CASSETTES: Final = "cassettes"
GOLDENS: Final = "goldens"

_MAX = 100
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)", re.IGNORECASE)


def safe_name(name: str, parameters: str | None = None) -> str:
    """A file name, without its suffix, for a test's name and its parameters' id."""
    slug = _slug(name)
    exact = name
    if parameters is not None:
        slug = f"{slug}-{_slug(parameters)}".rstrip("-")
        exact = f"{name}[{parameters}]"
    # Capitals get the hash as well: two names may differ in nothing else.
    if slug != exact or slug != slug.lower() or len(slug) > _MAX or _RESERVED.match(slug):
        digest = hashlib.sha256(exact.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        slug = f"{slug[:_MAX].rstrip('-.')}-{digest}".lstrip("-")
    return f"_{slug}" if _RESERVED.match(slug) else slug


def file_for(item: pytest.Item, folder: str) -> Path:
    """The file of `item` under `folder` (such as `cassettes`) beside the item's module."""
    parameters = getattr(getattr(item, "callspec", None), "id", None)
    name = getattr(item, "originalname", None) or item.name
    if parameters is not None and name.endswith(f"[{parameters}]"):
        name = name[: -len(parameters) - 2]
    chain = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return (
        item.path.parent
        / folder
        / safe_name(item.path.stem)
        / f"{safe_name('.'.join([*chain, name]), parameters)}.yaml"
    )


def shown(path: Path, config: pytest.Config) -> str:
    """A file as messages name it: from the root of the project, with `/`, where it is below."""
    root = config.rootpath
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def inside(folder: Path, name: str) -> Path | None:
    """`folder/name.yaml`, or None where `name` would leave the folder or be no legal name."""
    parts = name.removesuffix(".yaml").split("/")
    legal = all(
        re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", part)
        and not part.endswith(".")
        and not _RESERVED.match(part)
        for part in parts
    )
    if not legal or len(name) > 2 * _MAX:
        return None
    return folder.joinpath(*parts[:-1], f"{parts[-1]}.yaml")


def _slug(text: str) -> str:
    # Dots only between words, so that no part can be '..' or end in a dot.
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", text)
    return re.sub(r"\.{2,}|(?:^|(?<=-))\.|\.(?=-|$)", "-", plain).strip("-.")
