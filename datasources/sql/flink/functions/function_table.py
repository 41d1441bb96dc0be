"""All functions of Flink's by name, and those that are not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from datasources.sql.flink.functions.arrays import ARRAYS
from datasources.sql.flink.functions.conditions import CONDITIONS
from datasources.sql.flink.functions.encodings import ENCODINGS
from datasources.sql.flink.functions.json_functions import JSON, REFUSED_JSON
from datasources.sql.flink.functions.maps import MAPS
from datasources.sql.flink.functions.numbers import NUMBERS
from datasources.sql.flink.functions.regex import REGEX
from datasources.sql.flink.functions.signature import Function, NotThere
from datasources.sql.flink.functions.strings import STRINGS
from datasources.sql.flink.functions.times import TIMES

_FAMILIES: Final = (CONDITIONS, NUMBERS, STRINGS, TIMES, ENCODINGS, REGEX, ARRAYS, MAPS, JSON)
FUNCTIONS: Final[Mapping[str, Function]] = {each.name: each for family in _FAMILIES for each in family}
"""By name."""

_REFUSED: Final[tuple[NotThere, ...]] = (*REFUSED_JSON,)
NOT_THERE: Final[Mapping[str, NotThere]] = {each.name: each for each in _REFUSED}
"""Functions that Flink has and that are refused here, by name."""
