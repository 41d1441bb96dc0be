"""Aggregates of OVER as users write them, `SUM(v * 2)`, parsed by us and typed by Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    StructField,
    StructType,
)

from datasources.errors import QueryError
from datasources.source.watermarks.row_watermark import HEARTBEAT_COLUMN
from datasources.spark.operators.buckets.partition_keys import is_collated
from datasources.spark.operators.over.frames.frame_spec import OverAggregate
from datasources.spark.scan.schema import arrow_output_schema

FUNCTIONS: Final = ("SUM", "COUNT", "AVG", "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE", "ROW_NUMBER")
_SAME: Final = {"FIRST": "FIRST_VALUE", "LAST": "LAST_VALUE", "MEAN": "AVG"}
_CALL: Final = re.compile(r"\s*(\w+)\s*\((.*)\)\s*(?:(IGNORE|RESPECT)\s+NULLS\s*)?", re.IGNORECASE | re.DOTALL)
_NOT_ORDERED: Final = frozenset({"array", "map", "struct", "variant", "calendar_interval", "void"})
_NUMBERS: Final = (IntegralType, DecimalType, FloatType, DoubleType)


class ParsedAggregates(NamedTuple):
    """Aggregates, the helper columns that they need, and the fields of their results."""

    aggregates: tuple[OverAggregate, ...]
    helpers: dict[str, Column]
    fields: list[StructField]


class _Call(NamedTuple):
    name: str
    text: str
    function: str
    argument: str | None
    ignores_nulls: bool


def parse_aggregates(df: DataFrame, aggregates: Mapping[str, str]) -> ParsedAggregates:
    """Return the aggregates of a stream.

    ``aggregates`` maps the name of a result to a call of a function of `FUNCTIONS`.

    Raises:
        QueryError: a call cannot be parsed, its function is not supported, or Spark rejects it.
    """
    if not aggregates:
        raise QueryError('over() needs at least one aggregate: {"total": "SUM(v)"}.')
    calls = [_read(name, text) for name, text in aggregates.items()]
    results = [_result_field(df, call) for call in calls]
    helpers: dict[str, Column] = {}
    found = []
    for call, field in zip(calls, results, strict=True):
        column, argument_type = _argument(df, call, helpers)
        found.append(
            OverAggregate(
                function=call.function,
                argument=column,
                name=call.name,
                argument_type=pa.null() if argument_type is None else _arrow(argument_type),
                result_type=_arrow(field.dataType),
                ignores_nulls=call.ignores_nulls,
            )
        )
    return ParsedAggregates(tuple(found), helpers, results)


def _read(name: str, text: str) -> _Call:
    match = _CALL.fullmatch(text)
    if match is None:
        raise QueryError(f"the aggregate '{name}' is '{text}', but it must be one call: SUM(v), COUNT(*).")
    written, inside, nulls = match.groups()
    function = _SAME.get(written.upper(), written.upper())
    if function not in FUNCTIONS:
        raise QueryError(f"{written.upper()} of '{name}' is no aggregate of OVER on a stream: {', '.join(FUNCTIONS)}.")
    argument: str | None = inside.strip()
    if re.match(r"distinct\b", inside.strip(), re.IGNORECASE):
        raise QueryError(f"'{text}' of '{name}': DISTINCT over a window of a stream is not supported.")
    if nulls is not None and function not in {"FIRST_VALUE", "LAST_VALUE"}:
        raise QueryError(f"'{text}' of '{name}': only FIRST_VALUE and LAST_VALUE take {nulls.upper()} NULLS.")
    if function == "ROW_NUMBER" or (function == "COUNT" and argument == "*"):
        argument = None
    elif not argument:
        raise QueryError(f"'{text}' of '{name}' has no argument.")
    return _Call(name, text, function, argument, (nulls or "").upper() == "IGNORE")


def _result_field(df: DataFrame, call: _Call) -> StructField:
    if call.function == "ROW_NUMBER":
        if re.fullmatch(r"\s*\w+\s*\(\s*\)\s*", call.text) is None:
            raise QueryError(f"'{call.text}' of '{call.name}': ROW_NUMBER has no arguments.")
        return StructField(call.name, StructType.fromDDL("n INT")["n"].dataType, nullable=True)
    return StructField(call.name, _type(df, call, call.text), nullable=True)


def _type(df: DataFrame, call: _Call, text: str) -> DataType:
    try:
        return df.select(F.expr(text).alias("x")).schema["x"].dataType
    except (AnalysisException, ParseException) as error:
        reason = str(error).splitlines()[0]
        raise QueryError(f"Spark refuses '{call.text}' of '{call.name}': {reason}") from error


def _argument(df: DataFrame, call: _Call, helpers: dict[str, Column]) -> tuple[str | None, DataType | None]:
    if call.argument is None:
        return None, None
    data_type = _type(df, call, call.argument)
    _require_usable(call, data_type)
    plain = {name.lower(): name for name in df.columns}.get(call.argument.strip("`").lower())
    if call.function == "COUNT":
        # COUNT needs to know only whether there is a value.
        data_type, value = BooleanType(), F.when(F.expr(call.argument).isNotNull(), F.lit(True))
    elif plain is not None:
        return plain, data_type
    else:
        value = F.expr(call.argument)
    name = f"__tidemark_argument_{len(helpers)}"
    # User expressions are not evaluated on heartbeats.
    helpers[name] = F.when(~F.col(HEARTBEAT_COLUMN), value)
    return name, data_type


def _require_usable(call: _Call, data_type: DataType) -> None:
    shown = data_type.simpleString().upper()
    if call.function in {"SUM", "AVG"} and not isinstance(data_type, _NUMBERS):
        raise QueryError(f"'{call.text}' of '{call.name}' is of {shown}: cast the argument to a number.")
    name = data_type.typeName()
    if call.function in {"MIN", "MAX"} and (
        name in _NOT_ORDERED or is_collated(data_type) or name.startswith("interval")
    ):
        raise QueryError(f"'{call.text}' of '{call.name}' is of {shown}, of which a stream has no least or greatest.")


def _arrow(data_type: DataType) -> pa.DataType:
    return arrow_output_schema(StructType([StructField("x", data_type)])).field("x").type
