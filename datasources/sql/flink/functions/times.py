"""Functions of dates, times and timestamps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from datasources.sql.flink.functions.signature import Function, function, overloads
from datasources.sql.flink.logical_types import BIGINT, DATE, LTZ, STRING, TIMESTAMP
from datasources.sql.flink.parse.syntax import Call
from datasources.sql.flink.typed_value import Value

_PARTS: Final = ("YEAR", "QUARTER", "MONTH", "HOUR", "MINUTE", "SECOND")


def _part(name: str) -> Function:
    return function(name, "datetime", BIGINT, f"CAST({name.lower()}({{0}}) AS BIGINT)")


def _date_format(arguments: Sequence[Value], call: Call) -> str:  # noqa: ARG001 - texts are made alike
    return f"date_format({arguments[0].text}, {arguments[1].text})"


TIMES: Final[tuple[Function, ...]] = (
    *(_part(name) for name in _PARTS),
    overloads("DATE_FORMAT", ("timestamp text", STRING, _date_format)),
    function("CURRENT_DATE", "", DATE, "current_date()", is_deterministic=False),
    function("CURRENT_TIMESTAMP", "", LTZ, "current_timestamp()", is_deterministic=False),
    function("NOW", "", LTZ, "current_timestamp()", is_deterministic=False),
    function("LOCALTIMESTAMP", "", TIMESTAMP, "localtimestamp()", is_deterministic=False),
    function("PROCTIME", "", LTZ, "PROCTIME()", is_deterministic=False),
)
