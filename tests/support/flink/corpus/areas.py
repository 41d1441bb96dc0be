"""The areas of the corpus, and what is asked in each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.flink.corpus import (
    aggregates,
    arithmetic,
    casts,
    collection_forms,
    comparison,
    conditional,
    hashes,
    json_forms,
    literals,
    logic,
    regex,
    strings,
    temporal,
)

AGGREGATES: Final = "aggregates"
_SCALAR: Final[Mapping[str, tuple[str, ...]]] = {
    "arithmetic": arithmetic.EXPRESSIONS,
    "comparison": comparison.EXPRESSIONS,
    "logic": logic.EXPRESSIONS,
    "conditional": conditional.EXPRESSIONS,
    "strings": strings.EXPRESSIONS,
    "regex": regex.EXPRESSIONS,
    "temporal": temporal.EXPRESSIONS,
    "casts": casts.EXPRESSIONS,
    "literals": literals.EXPRESSIONS,
    "collections": collection_forms.EXPRESSIONS,
    "json": json_forms.EXPRESSIONS,
    "hashes": hashes.EXPRESSIONS,
}
AREAS: Final = (*_SCALAR, AGGREGATES)
"""Names of the areas; each has a file of answers."""


def scalar_expressions(area: str) -> tuple[str, ...]:
    """Return the expressions of an area over the columns of `t`, each once.

    Raises:
        KeyError: There is no such area of scalar expressions.
    """
    return tuple(dict.fromkeys(_SCALAR[area]))


def aggregate_calls() -> tuple[str, ...]:
    """Return the aggregate calls, each once."""
    return tuple(dict.fromkeys(aggregates.CALLS))


def queries() -> tuple[str, ...]:
    """Return whole queries: of groups on nullable keys, of set operations and of window functions."""
    return tuple(dict.fromkeys(aggregates.QUERIES))
