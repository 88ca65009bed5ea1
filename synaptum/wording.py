"""Every sentence that a model or a person reads at run time.

`Wording` is a frozen set of templates (`str.format` fields in braces) with two complete
instances: `ENGLISH`, the default, and `SPANISH`, the seeds' own texts. An `Agent` takes
`wording=`; it is part of the run's configuration. Wire names (`buscar_herramientas` ...)
stay as they are under either.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ENGLISH", "SPANISH", "Wording"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The sentences, by what they are for.

    Attributes:
        name: how a configuration names this wording.
        truncated: notice inside a capped tool result; fields `removed`, `total` (texts
            already grouped by thousands).
    """

    name: str
    truncated: str


ENGLISH = Wording(
    name="english",
    truncated=(
        "[… truncated: {removed} of {total} characters. Ask for a specific range if you need"
        " what is missing …]"
    ),
)

SPANISH = Wording(
    name="spanish",
    truncated=(
        "[… recortado: {removed} de {total} caracteres. Pide un rango concreto si necesitas lo"
        " que falta …]"
    ),
)
