"""`synaptum` is a facade: every name it promises is there, and it loads what is asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import synaptum


@pytest.mark.parametrize("name", sorted(synaptum.__all__))
def test_a_promised_name_is_the_one_of_its_module(name):
    value = getattr(synaptum, name)

    assert value is getattr(import_module(synaptum._HOMES[name]), name)


def test_the_list_of_names_and_the_list_of_homes_agree():
    assert sorted(synaptum.__all__) == sorted(synaptum._HOMES)
    assert set(synaptum.__all__) <= set(dir(synaptum))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nowhere"):
        _ = synaptum.nowhere


def test_importing_the_package_loads_none_of_its_parts():
    code = "import sys, synaptum; print([m for m in sys.modules if m.startswith('synaptum.')])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout.strip() == "[]"
