"""All functions of Flink's by name, and those that are not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from datasources.sql.flink.functions.conditions import CONDITIONS
from datasources.sql.flink.functions.numbers import NUMBERS
from datasources.sql.flink.functions.signature import Function, NotThere
from datasources.sql.flink.functions.strings import STRINGS
from datasources.sql.flink.functions.times import TIMES

FUNCTIONS: Final[Mapping[str, Function]] = {
    each.name: each for family in (CONDITIONS, NUMBERS, STRINGS, TIMES) for each in family
}
"""By name."""

_REFUSED: Final[tuple[NotThere, ...]] = ()
NOT_THERE: Final[Mapping[str, NotThere]] = {each.name: each for each in _REFUSED}
"""Functions that Flink has and that are refused here, by name."""
