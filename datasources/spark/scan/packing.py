"""From the option `scan.packing` to the packed rows that a reader delivers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasources.errors import ExpressionError
from datasources.formats.schema_text.ddl import parse_schema
from datasources.source.api.connector import SessionInfo
from datasources.source.api.packing import PackedColumn, PackedInput, RowPacking
from datasources.source.reading.key_hashes import is_hashable
from datasources.spark.options.packing_options import (
    PACKING,
    PackedColumnOption,
    PackedInputOption,
    PackingOption,
    parse_packing,
)
from datasources.spark.scan.aggregation import require_certain

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction


def build_packing(
    text: str, schema: pa.Schema, session: SessionInfo, functions: Mapping[str, ReaderFunction]
) -> RowPacking:
    """Return the packing that the option describes, over the columns of `schema`.

    Raises:
        OptionError: the text has another form.
        ExpressionError: an expression is not certain to be evaluated with Spark's own result, or a key has no hash.
    """
    return packing_of(parse_packing(text), schema, session, functions)


def packing_of(
    option: PackingOption, schema: pa.Schema, session: SessionInfo, functions: Mapping[str, ReaderFunction]
) -> RowPacking:
    """Return the packing of an option's value.

    Raises:
        ExpressionError: as of `build_packing`.
    """
    from datasources.expressions.compiler.compile import compile_expression, compile_filter

    zone: dict[str, Any] = {"time_zone": session.time_zone, "ansi": session.ansi, "functions": functions}

    def column(each: PackedColumnOption) -> PackedColumn:
        value = require_certain(compile_expression(each.value, schema, purpose=PACKING, **zone))
        (field,) = parse_schema(f"x {each.type}")
        if value.result_type != field.type:
            raise ExpressionError(f"`{each.value}` is {value.result_type} here and {field.type} in Spark")
        return PackedColumn(name=each.name, type=field.type, value=value)

    def packed(each: PackedInputOption) -> PackedInput:
        columns = tuple(map(column, each.columns))
        for at in each.keys:
            if not is_hashable(columns[at].type):
                raise ExpressionError(f"`{each.columns[at].value}`, a {columns[at].type}, has no hash in the reader")
        condition = None if each.condition is None else require_certain(compile_filter(each.condition, schema, **zone))
        return PackedInput(
            number=each.number,
            columns=columns,
            keys=each.keys,
            hash_name=each.hash_name,
            weight=column(each.weight),
            condition=condition,
        )

    return RowPacking(buckets=option.buckets, inputs=tuple(map(packed, option.inputs)))
