"""From the option `scan.packing` to the packed rows that a reader delivers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasources.arrow_types import NTZ, TIMESTAMP, Path, canonical
from datasources.errors import ExpressionError
from datasources.formats.schema_text.ddl import parse_schema
from datasources.grammar.literals import quoted
from datasources.source.api.connector import SessionInfo
from datasources.source.api.packing import PackedColumn, PackedInput, PackedTimes, RowPacking
from datasources.source.reading.key_hashes import is_hashable
from datasources.spark.options.packing_options import (
    PACKING,
    PackedColumnOption,
    PackedInputOption,
    PackedTimesOption,
    PackingOption,
    parse_packing,
)
from datasources.spark.scan.aggregation import require_certain

if TYPE_CHECKING:
    from datasources.expressions.evaluation.function_call import ReaderFunction


@dataclass(frozen=True, slots=True)
class _PlainColumn:
    """A column as it is: what expressions have no values of, such as structs."""

    text: str
    name: str
    result_type: pa.DataType

    @property
    def paths(self) -> tuple[Path, ...]:
        """The column that it reads, with all fields."""
        return ((self.name,),)

    def evaluator(self) -> _PlainColumn:
        """Return what evaluates it."""
        return self

    def evaluate(self, rows: pa.RecordBatch) -> Any:
        """Return the column."""
        return rows.column(self.name)


def _plain_column(text: str, schema: pa.Schema) -> _PlainColumn | None:
    """Return the column of a type without expressions that a text names, None if it does not name one."""
    name = next((each for each in schema.names if text in (each, quoted(each))), None)
    if name is None or canonical(schema.field(name).type) is not None:
        return None
    return _PlainColumn(text, name, schema.field(name).type)


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
        plain = _plain_column(each.value, schema)
        value = plain or require_certain(compile_expression(each.value, schema, purpose=PACKING, **zone))
        (field,) = parse_schema(f"x {each.type}")
        if value.result_type != field.type:
            raise ExpressionError(f"`{each.value}` is {value.result_type} here and {field.type} in Spark")
        return PackedColumn(name=each.name, type=field.type, value=value)

    def times(each: PackedTimesOption) -> PackedTimes:
        rowtime = require_certain(compile_expression(each.rowtime, schema, purpose=PACKING, **zone))
        if rowtime.result_type not in (TIMESTAMP, NTZ):
            raise ExpressionError(f"`{each.rowtime}` is {rowtime.result_type}, not a timestamp")
        return PackedTimes(rowtime=rowtime, rowtime_name=each.rowtime_name, watermark_name=each.watermark_name)

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
            weight=None if each.weight is None else column(each.weight),
            times=None if each.times is None else times(each.times),
            condition=condition,
        )

    return RowPacking(buckets=option.buckets, inputs=tuple(map(packed, option.inputs)))
