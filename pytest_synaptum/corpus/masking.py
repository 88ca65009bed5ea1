"""Masks over what an adapter made of a case: what they do not fit stays as it came.

In a test, a mask without a match is a mistake of whoever wrote it. Here the masks fit the
golden, and the value is somebody's adapter's: where the two do not meet, the adapter differs.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from pytest_synaptum.golden.masks import MaskError, apply_masks, parse_mask
from pytest_synaptum.golden.paths import places

__all__ = ["mask_what_fits"]


def mask_what_fits(value: Any, masks: Iterable[str]) -> tuple[Any, MaskError | None]:
    """A copy of a plain JSON value, masked wherever a mask fits.

    Returns:
        the masked value, and what was wrong with the first mask that did not fit: it matched
        nothing, or stood over a value of another type. Such values are left as they came, for
        the comparison with the golden to show.

    Raises:
        MaskError: a mask cannot be read.
        PathSyntaxError: its path cannot be read.
    """
    masks = tuple(masks)
    parsed = [parse_mask(text) for text in masks]
    try:
        return apply_masks(value, masks), None
    except MaskError as error:
        told = error
    masked = copy.deepcopy(value)
    found = [(mask, *place) for mask in parsed for place in places(masked, mask.steps)]
    # One flat value with one mask for each place, so that ids are counted through all of them.
    flat: dict[str, Any] = {}
    fitting: list[str] = []
    for number, (mask, container, key) in enumerate(found):
        name = f"place{number}"
        one = f"{name}: <{'|'.join(mask.types)}>"
        try:
            apply_masks({name: container[key]}, [one])
        except MaskError:
            continue
        flat[name] = container[key]
        fitting.append(one)
    flat = apply_masks(flat, fitting)
    for number, (_, container, key) in enumerate(found):
        if f"place{number}" in flat:
            container[key] = flat[f"place{number}"]
    return masked, told
