"""Where a function of the user's can be imported from, in a process that never saw the test."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_synaptum.resume.given import imported, is_reference

__all__ = ["import_reference", "reference_to"]


def reference_to(given: Any, what: str) -> dict[str, str]:
    """A reference to a function, or to a text such as `module:function`, as JSON.

    In: `what` is the name of the argument, for the error.

    Raises:
        TypeError: nobody else can import it: a lambda, a function inside another, an object.
    """
    if is_reference(given):
        return {"reference": given}
    name, module = getattr(given, "__qualname__", "<"), getattr(given, "__module__", None)
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    if "<" in name or file is None:
        msg = (
            f"perturb=True runs in fresh processes, and {what}={given!r} cannot be imported there:"
            " give a function that stands at the top of a module, or 'module:function'."
        )
        raise TypeError(msg)
    return {"module": str(module), "file": str(Path(file).resolve()), "name": name}


def import_reference(reference: dict[str, str]) -> Callable[..., Any]:
    """What `reference_to` named."""
    if "reference" in reference:
        return imported(reference["reference"])  # type: ignore[no-any-return]
    module, file = reference["module"], reference["file"]
    if module not in sys.modules or getattr(sys.modules[module], "__file__", "") != file:
        # By file: a test module has no name that another process could import.
        spec = importlib.util.spec_from_file_location(module, file)
        if spec is None or spec.loader is None:
            msg = f"{file} cannot be imported."
            raise ImportError(msg)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[module] = loaded
        sys.path.insert(0, str(Path(file).parent))
        spec.loader.exec_module(loaded)
    found: Any = sys.modules[module]
    for part in reference["name"].split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]
