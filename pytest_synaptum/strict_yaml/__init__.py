"""YAML that is JSON in block style: read safely, written so that everybody reads the same.

What is read: mappings, sequences and scalars of YAML 1.2, and nothing that could run code,
grow beyond the file, or mean two things. Contract of `load`:
- no tags, no aliases, no merge keys, one document, keys are strings and stand once;
- a plain scalar is null (`null`, `~`, nothing), a boolean (`true`, `false` in YAML's three
  spellings) or a number where **JSON** would call it one; all else is text, so that `no`,
  `2026-01-02`, `012`, `12:30:45`, `1_000` and `.inf` stay what was typed;
- integers are exact at any size that Python reads; a float that would overflow is refused;
- at most `MAX_BYTES`, nested at most `MAX_DEPTH` deep.

Contract of `dump`: the same value gives the same text, keys in the order the mapping has,
`load(dump(x)) == x`, and PyYAML's own `safe_load` reads the same value too. Text of several
lines is a `|` block where that is exact; what could be read as something else is quoted.

It knows nothing of cassettes, cases or goldens.
"""

from pytest_synaptum.strict_yaml.reading import MAX_BYTES, MAX_DEPTH, load, load_file
from pytest_synaptum.strict_yaml.writing import dump, flow, scalar

__all__ = ["MAX_BYTES", "MAX_DEPTH", "dump", "flow", "load", "load_file", "scalar"]
